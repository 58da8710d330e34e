"""Detect unclosed Markdown blocks, which would swallow the text after them."""

import re
from typing import Final

from aggregate.base.text.lines import RARE_BREAKS

_MARKERS: Final = re.compile(r"((?>(?:[ \t]*+(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))*)[ \t]*+)")

_OPENING: Final = re.compile(
    r"(?P<fence>`{3,}(?!.*`)|~{3,})|<(?:(?P<code>script|pre|style|textarea)(?=[\s>]|\Z)|(?P<comment>!--)|(?P<ask>\?)"
    r"|(?P<data>!\[CDATA\[)|(?P<declaration>![a-z])|(?P<tag>/?[a-z][a-z0-9-]*+(?=[ \t/>]|\Z)))",
    re.IGNORECASE,
)

_BLANK: Final = re.compile(r"(?!)")

_ENDS: Final = {
    "code": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    "comment": re.compile("-->"),
    "ask": re.compile(r"\?>"),
    "data": re.compile(r"\]\]>"),
    "declaration": re.compile(">"),
    "tag": _BLANK,
}


def leaves_open(text: str) -> bool:
    """Return whether a text leaves a block open in any common Markdown reader."""
    common = text.replace("\r\n", "\n").replace("\r", "\n")
    return any(map(_leaves_open, {common, RARE_BREAKS.sub("\n", common)}))


def _leaves_open(text: str) -> bool:
    end, marks, indent = None, "", 0  # of the open block
    for line in text.split("\n"):
        content = line.lstrip(" \t")
        if not content:
            end = None if end is _BLANK else end
            continue
        if end is None:
            content = _MARKERS.sub("", line, 1)
        column = len(line[: len(line) - len(content)].expandtabs(4))
        opening = _OPENING.match(content) if end in (None, _BLANK) else None
        if end and (opening or (end is not _BLANK and column < indent)):
            return True  # it may be inside that HTML, or end a list and its block
        if opening:
            marks, indent = opening["fence"] or "", column
            end = (
                re.compile(rf"\A[{marks[0]}]{{{len(marks)},}}[ \t]*\Z")
                if marks
                else _ENDS[opening.lastgroup or ""]
            )
        if end and not (opening and marks) and end.search(content):
            if marks and column > (indent or 3):
                return True
            end = None
    return end not in (None, _BLANK)
