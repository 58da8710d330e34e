"""Text that UTF-8 can hold, from text that may have halves of characters in it."""

import re
from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass, field
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def escape_surrogates(text: str) -> str:
    r"""Return ``text`` with halves of surrogate pairs as ``\udXXX``: no file and no terminal holds them.

    In JSON that is the character's own escape.
    """
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


@dataclass(slots=True)
class SurrogateJoiner:
    r"""Puts the halves of characters together, also of those that were cut between two pieces of a text.

    JSON may hold half a character (``"\ud83d"``), and streams are cut anywhere. A half whose other half does not come
    is shown as U+FFFD: no file could hold it.
    """

    decoder: IncrementalDecoder = field(
        default_factory=lambda: getincrementaldecoder("utf-16-le")("replace")
    )

    def add(self, piece: str, *, last: bool = False) -> str:
        """Return what can be said of the text with this piece; ``last`` lets nothing wait for another half."""
        return self.decoder.decode(piece.encode("utf-16-le", "surrogatepass"), last)
