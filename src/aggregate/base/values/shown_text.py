"""What the block of a file shows: the key to where each of its lines comes from."""

from collections.abc import Sequence
from typing import NamedTuple

from aggregate.base.values.view import Span


class ShownText(NamedTuple):
    """The text that a block's content was made of, and how.

    It refers to texts that are in memory anyway; nothing is computed until somebody asks.

    Attributes:
        source: The file's text, secrets replaced; ``""`` where it was not read.
        spans: Where the lines of the content come from; ``None`` where the content is the text itself.
        redacted: Runs of lines ``(first, last)`` in which secrets were replaced.
        is_message: Whether the content says why the file is not shown.
    """

    source: str
    spans: Sequence[Span] | None = None
    redacted: Sequence[tuple[int, int]] = ()
    is_message: bool = False
