"""Lines that look like headings of a prompt in a text of others, made plain visibly."""

import re
import unicodedata
from typing import Final

from aggregate.base.text.lines import RARE_BREAKS

_INVISIBLE: Final = (
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
# The sections of a prompt, and what stands in them; other headings of a text say nothing of ours.
_OURS: Final = re.compile(
    r"[ \t>]*#{1,6}[ \t]*(?:attached|beads mode|changes|compiled report|discussion|files?|instructions|not shown"
    r"|screenshots?|specification|sub-?agent results?|task|tools|tree)\b",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})(.*)")


def as_seen(text: str) -> str:
    """Return a text as a reader sees it: one kind of line break, no invisible characters, no wide or styled letters."""
    if text.isascii():
        return RARE_BREAKS.sub("\n", text)
    return unicodedata.normalize("NFKC", re.sub(_INVISIBLE, "", RARE_BREAKS.sub("\n", text)))


def plain_headings(text: str) -> str:
    r"""Return a text in which lines outside of fences that look like our headings begin with ``\``.

    A backslash makes a heading plain text in Markdown; where the first mark is not ``#`` itself it stands before it.
    """
    if "#" not in as_seen(text):
        return text
    fence = ""
    parts = re.split(f"(\\n|{RARE_BREAKS.pattern})", text)
    for place in range(0, len(parts), 2):
        line = parts[place]
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif line.strip().startswith(fence) and not match[2].strip():
                fence = ""
        elif not fence and _OURS.match(as_seen(line)):
            parts[place] = _escaped(line)
    return "".join(parts)


def _escaped(line: str) -> str:
    mark = re.search("[#\uff03\ufe5f]", line)
    start = mark.start() if mark else 0
    return f"{line[:start]}\\{line[start:]}"
