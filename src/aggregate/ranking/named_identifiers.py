"""The identifiers that a text names: quoted, written like code, capitalised within a sentence, or plain words."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from aggregate.ranking.terms import NO_TERMS

CERTAIN: Final = 1.0
"""It is quoted, called, capitalised, or looks like code."""
POSSIBLE: Final = 0.3
"""A plain word, which a definition may happen to be called; measured with the weights of ``ranking.weights``."""
MOST_CERTAIN: Final = 200
"""Names that are told of those that are sure: a task that names more is a list or a log."""
MOST_POSSIBLE: Final = 200
"""The same of plain words."""
_LONGEST_NAME: Final = 120
_SHORTEST_WORD: Final = 3
"""Letters of a plain word that can be a name; shorter ones are mostly none."""

_PART: Final = r"[^\W\d][\w$]*+"
_NAME: Final = re.compile(
    rf"(?<![\w$@/\\-])(?P<name>[@$]?{_PART}(?:(?:\.|::|->|\#)~?{_PART})*+[!?]?(?=[^\w$/\\]|$))(?P<call>\(\)?)?"
)
"""A word or several that dots, colons, arrows or number signs join; no part of a path."""
_OPENING: Final = "`'\"‘“«「"
_CLOSING: Final = "`'\"’”»」"
_ENDS_SENTENCE: Final = ".!?:;"
_LINE_START: Final = re.compile(r"[\s\d.)*>#+=-]*+$")
"""What stands before the first word of a line: bullets, numbers, headings."""
_MESSAGES: Final = re.compile(
    r"(?:undefined|undeclared|unknown|unresolved|unused|missing)(?: [a-z]{1,20}){0,2}: (?P<undefined>[^\s,;]{1,120})"
    r"|(?P<subject>[\w$.]{1,120}+) is not (?:defined|a function|a constructor|iterable|callable|exported)"
    r"|symbol:\s{1,20}(?:class|method|variable|interface|enum)\s{1,20}(?P<symbol>[\w$]{1,120})"
    r"|\bin function (?P<function>[\w:~]{1,120})",
    re.IGNORECASE,
)
"""What compilers and interpreters call by name without quoting it."""


class _Mention(NamedTuple):
    name: str
    is_certain: bool


def named_identifiers(text: str) -> dict[str, float]:
    """Return the identifiers that ``text`` names, as written, with how surely each is one: ``1.0`` or ``0.3``.

    The sure ones come first, each kind in the order of the text. Of ``Session.send`` its last part counts too.
    """
    certain: dict[str, float] = {}
    possible: dict[str, float] = {}
    for line in text.split("\n"):
        for mention in _mentions(line):
            if mention.is_certain and len(certain) < MOST_CERTAIN:
                certain.setdefault(mention.name, CERTAIN)
            elif not mention.is_certain and len(possible) < MOST_POSSIBLE:
                possible.setdefault(mention.name, POSSIBLE)
    return {**certain, **{name: value for name, value in possible.items() if name not in certain}}


def _mentions(line: str) -> Iterator[_Mention]:
    for message in (
        _MESSAGES.finditer(line) if ":" in line or " is not " in line or "unction " in line else ()
    ):
        name = next(group for group in message.groups() if group)
        if match := _NAME.match(name):
            yield from _with_last_part(match["name"], is_certain=True)
    for match in _NAME.finditer(line):
        name = match["name"].lstrip("@$")
        if len(name) > _LONGEST_NAME:
            continue
        is_certain = _is_certain(match, name, line)
        if is_certain or (len(name) >= _SHORTEST_WORD and name.lower() not in NO_TERMS):
            yield from _with_last_part(name, is_certain=is_certain)


def _with_last_part(name: str, *, is_certain: bool) -> Iterator[_Mention]:
    yield _Mention(name, is_certain)
    last = re.split(r"\.|::|->|#", name)[-1].lstrip("~")
    if last != name and len(last) >= _SHORTEST_WORD:
        yield _Mention(last, _looks_like_code(last) or last[:1].isupper())


def _is_certain(match: re.Match[str], name: str, line: str) -> bool:
    start, end = match.span("name")
    before, behind = line[start - 1 : start], line[end : end + 1]
    if match["call"]:
        return not line.startswith("(s)", end)
    if before and before in _OPENING and behind and _CLOSING[_OPENING.index(before)] == behind:
        return True
    if _looks_like_code(name):
        return True
    if not name[:1].isupper() or name.lower() in NO_TERMS:
        return False
    return not _begins_sentence(line, start)


def _looks_like_code(name: str) -> bool:
    """Tell whether a name is joined of parts, as prose joins none: ``snake_case``, ``camelCase``, ``a.b``."""
    parts = re.split(r"\.|::|->|#", name)
    if len(parts) > 1:
        return max(map(len, parts)) > 1  # not "e.g" and "i.e"
    inner = name.strip("_$")
    is_camel = any(
        inner[place].isupper() and inner[place - 1].islower() for place in range(1, len(inner))
    )
    return "_" in inner or is_camel or (name.startswith("__") and name.endswith("__"))


def _begins_sentence(line: str, start: int) -> bool:
    before = line[max(0, start - 20) : start].rstrip("\"'(`[*_ \t")
    return (
        not before
        or before[-1] in _ENDS_SENTENCE
        or (start < 20 and bool(_LINE_START.match(before)))
    )
