"""Characters that nobody sees and a model reads all the same: an editor shows other code than what is there."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

# Scripts and emoji in which joiners are ordinary: Arabic and Persian, the scripts of India, families of people.
_JOINED: Final = (
    "\u0590-\u1fff\u2190-\u2bff\u3030\u303d\ua800-\uabff\ufb00-\ufdff\ufe0f"
    "\U00010a00-\U00011fff\U0001f000-\U0001faff"
)
# Scripts without spaces between words, Thai, Lao, Burmese and Khmer: a zero width space stands there.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aad"
_ORDINARY: Final = (
    f"\\A\ufeff|(?<=[{_JOINED}])[\u200c\u200d]|(?<=[{_UNSPACED}])\u200b"
    "|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f"  # the flags of England and the like
)
_INVISIBLE: Final = (
    "[\u202a-\u202e\u2066-\u2069]"  # turn the direction of what follows
    "|[\U000e0000-\U000e007f]"  # tags: ASCII that no font shows
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"  # a single one chooses a glyph, a row of them is hidden data
    "|[\u200b-\u200d\u2060-\u2064\ufeff\u180e]"  # have no width
)
# Their first characters: most of a text is passed over by one look at each instead of eight.
_FIRST: Final = "[\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3f4\U000e0000-\U000e01ef]"
_ASCII: Final = bytes(range(128))
# What these characters begin with in UTF-8. Without ASCII a text is searched in a tenth of the time.
_ANY: Final = re.compile(
    rb"\xe2\x80[\x8b-\x8d\xaa-\xae]|\xe2\x81[\xa0-\xa9]|\xe1\xa0\x8e|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0"
)
_MOST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Invisible:
    count: int  # of characters
    lines: tuple[int, ...]  # that have them, 1-based, each once
    kinds: tuple[str, ...]  # the characters, each once, by their number

    @property
    def sentence(self) -> str:
        lines = ", ".join(f"{line:,}" for line in self.lines[:_MOST_LINES])
        rest = len(self.lines) - _MOST_LINES
        more = f" and {rest:,} more" if rest > 0 else ""
        names = ", ".join(
            f"U+{ord(kind):04X} {unicodedata.name(kind, '').lower()}".rstrip()
            for kind in self.kinds[:_MOST_LINES]
        )
        where = "line" if len(self.lines) == 1 else "lines"
        return f"characters that nobody sees and a model reads: {self.count:,} in {where} {lines}{more} ({names})"


def may_hide(data: bytes) -> bool:
    """Tell quickly whether a text in UTF-8 can have anything that ``find_invisible`` looks for."""
    return not data.isascii() and _ANY.search(data.translate(None, _ASCII)) is not None


def find_invisible(text: str) -> Invisible | None:
    if text.isascii():
        return None
    count, lines, kinds = 0, dict[int, None](), set[str]()
    line, position = 1, 0
    # Compiled on first use: few texts have such characters, and it takes milliseconds.
    expression = f"(?={_FIRST})(?:(?P<ordinary>{_ORDINARY})|{_INVISIBLE})"
    for match in re.finditer(expression, text):
        if match.lastgroup == "ordinary":
            continue
        line += text.count("\n", position, match.start())
        position = match.start()
        count += match.end() - position
        lines[line] = None
        kinds.update(match[0])
    return Invisible(count, tuple(lines), tuple(sorted(kinds))) if count else None
