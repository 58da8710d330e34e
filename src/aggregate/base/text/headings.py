"""Escape lines resembling headings of a prompt."""

import re
import unicodedata
from typing import Final

from aggregate.base.text.lines import RARE_BREAKS

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
_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})(.*)")


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
    fence = ""
    parts = re.split(f"(\\n|{RARE_BREAKS.pattern})", text)
    for index in range(0, len(parts), 2):
        line = parts[index]
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif line.strip().startswith(fence) and not match[2].strip():
                fence = ""
        elif not fence and _SECTION.match(as_seen(line)):
            parts[index] = _escape(line)
    return "".join(parts)


def _escape(line: str) -> str:
    mark = re.search("[#\uff03\ufe5f]", line)
    start = mark.start() if mark else 0
    return f"{line[:start]}\\{line[start:]}"
