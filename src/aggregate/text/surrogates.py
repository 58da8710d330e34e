"""Text that UTF-8 can hold, from text that may have halves of characters in it."""

from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass, field


def _decoder() -> IncrementalDecoder:
    return getincrementaldecoder("utf-16-le")("replace")


@dataclass(slots=True)
class SurrogateJoiner:
    r"""Puts the halves of characters together, also of those that were cut between two pieces of a text.

    JSON may hold half a character (``"\ud83d"``), and streams are cut anywhere. A half whose other half does not come
    is shown as U+FFFD: no file could hold it.
    """

    decoder: IncrementalDecoder = field(default_factory=_decoder)

    def add(self, piece: str, *, last: bool = False) -> str:
        """Return what can be said of the text with this piece; ``last`` lets nothing wait for another half."""
        return self.decoder.decode(piece.encode("utf-16-le", "surrogatepass"), last)
