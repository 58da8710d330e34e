"""Put texts into fences and below headings that they cannot close or forge.

CommonMark 0.31, section 4.5: a line with only a run of the fence's character, at least as long as the opening one,
closes the fence. So content cannot close a fence one backtick longer than any run at a line's start, whatever its
indentation.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_RUN_AT_LINE_START = re.compile(r"^[ \t>]*(`{3,})", re.MULTILINE)
# Line breaks for str.splitlines() and some renderers, which must not find a fence there either.
RARE_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def fence(content: str, language: str = "", *, before: str = "") -> str:
    """Put content into a Markdown fence it cannot close.

    The content stays unchanged, except for a missing final newline. ``language`` becomes the info string. ``before`` is
    put before the block, which saves a copy of large contents.
    """
    ticks = "```"
    if "`" in content and ticks in content:  # a search for one character is ten times as fast
        runs = _RUN_AT_LINE_START.findall(RARE_BREAKS.sub("\n", content))
        ticks = max((run + "`" for run in runs), default=ticks, key=len)
    newline = "" if not content or content.endswith("\n") else "\n"
    return f"{before}{ticks}{language}\n{content}{newline}{ticks}"


_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")


def with_fences(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is in a fenced block."""
    mark = ""
    for line in lines:
        fence = _FENCE.match(line)
        is_code = bool(mark or fence)
        yield line, is_code
        if fence and not mark:
            mark = fence["mark"]
        elif fence and mark and line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            mark = ""


_INVISIBLE: Final = (
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
# Headings of a prompt's sections; a text's other headings are harmless.
_SECTION: Final = re.compile(
    r"[ \t>]*#{1,6}[ \t]*(?:attached|beads mode|changes|compiled report|discussion|files?|instructions|not shown"
    r"|screenshots?|specification|sub-?agent results?|task|tools|tree)\b",
    re.IGNORECASE,
)


def as_seen(text: str) -> str:
    """Normalize line breaks, invisible characters and styled letters, as a reader sees them."""
    if text.isascii():
        return RARE_BREAKS.sub("\n", text)
    return unicodedata.normalize("NFKC", re.sub(_INVISIBLE, "", RARE_BREAKS.sub("\n", text)))


def plain_headings(text: str) -> str:
    r"""Put ``\`` before lines resembling headings of a prompt's sections.

    Fenced blocks are left unchanged. In Markdown a backslash turns a heading into plain text.
    """
    if "#" not in as_seen(text):
        return text
    parts = re.split(f"(\\n|{RARE_BREAKS.pattern})", text)
    for index, (line, is_code) in enumerate(with_fences(parts[::2])):
        if not is_code and _SECTION.match(as_seen(line)):
            mark = re.search("[#\uff03\ufe5f]", line)
            start = mark.start() if mark else 0
            parts[2 * index] = f"{line[:start]}\\{line[start:]}"
    return "".join(parts)


# Marks of quotes and lists before a block.
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
    """Return whether any common Markdown reader sees an unclosed block.

    Such a block would swallow the text after it.
    """
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
