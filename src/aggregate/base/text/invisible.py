"""Find invisible characters, hidden by editors but read by models; make them visible by escapes."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

# Scripts and emoji with ordinary joiners: Arabic and Persian, the scripts of India, families of people.
_JOINED: Final = (
    "\u0590-\u1fff\u2190-\u2bff\u3030\u303d\ua800-\uabff\ufb00-\ufdff\ufe0f"
    "\U00010a00-\U00011fff\U0001f000-\U0001faff"
)
# Scripts with zero width spaces between words: Thai, Lao, Burmese and Khmer.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aad"
_ORDINARY: Final = (
    f"\\A\ufeff|(?<=[{_JOINED}])[\u200c\u200d]|(?<=[{_UNSPACED}])\u200b"
    "|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f"  # the flags of England and the like
)
_INVISIBLE: Final = (
    "[\u202a-\u202e\u2066-\u2069]"  # change the text's direction
    "|[\U000e0000-\U000e007f]"  # tags: invisible ASCII
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"  # a single one selects a glyph, several are hidden data
    "|[\u200b-\u200d\u2060-\u2064\ufeff\u180e]"  # zero width
)
# Their first characters: one check per character instead of eight.
_FIRST: Final = "[\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3f4\U000e0000-\U000e01ef]"
_ASCII: Final = bytes(range(128))
# First bytes of these characters in UTF-8. Removing ASCII first makes a search ten times as fast.
_ANY: Final = re.compile(
    rb"\xe2\x80[\x8b-\x8d\xaa-\xae]|\xe2\x81[\xa0-\xa9]|\xe1\xa0\x8e|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0"
)
_MOST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Invisible:
    count: int  # of characters
    lines: tuple[int, ...]  # 1-based, distinct
    kinds: tuple[str, ...]  # distinct characters, sorted

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
        return f"invisible characters that a model reads: {self.count:,} in {where} {lines}{more} ({names})"


def may_hide(data: bytes) -> bool:
    """Return quickly whether UTF-8 data may contain characters that ``find_invisible`` reports."""
    return not data.isascii() and _ANY.search(data.translate(None, _ASCII)) is not None


def find_invisible(text: str) -> Invisible | None:
    if text.isascii():
        return None
    count, lines, kinds = 0, dict[int, None](), set[str]()
    line, position = 1, 0
    # Compiled on first use: it takes milliseconds, and few texts need it.
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


# Characters that control a terminal or hide text: C0 and C1 controls, direction marks, zero width characters, line and
# paragraph separators, the tags of plane 14, and unpaired surrogates, which no output can hold.
_UNSAFE = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
_IN_LINE = f"[{_UNSAFE}]"  # compiled on first use, as below: few texts need it
# In a body, line breaks, tabs and the joiners of emoji and several scripts stay.
_IN_BODY = f"(?![\t\n\u200c\u200d]|\r\n)[{_UNSAFE}]"


def printable(text: str, *, body: bool = False) -> str:
    r"""Escape control and invisible characters as ``\xNN``, ``\uNNNN``, ``\UNNNNNNNN``.

    Each character is escaped alone, so parts of a stream can be converted too. The line breaks and tabs of a ``body``
    stay; other texts, such as file names and errors, become one line.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_IN_BODY if body else _IN_LINE, escape_character, text)


def escape_character(match: re.Match[str]) -> str:
    r"""Return a matched character as the shortest of ``\xNN``, ``\uNNNN`` and ``\UNNNNNNNN``."""
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


heading_text = printable  # of one visible line, for a heading
