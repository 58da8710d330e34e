"""Exact token counts of single texts, looked up where they were counted before."""

from hashlib import sha256

from aggregate.base.tokens import count_batch
from aggregate.project.index import Index
from aggregate.prompt.segment_counter import COUNT, token_kind

_MOST_CHARACTERS = 20_000_000
"""Of texts that are kept in memory with their counts: a page that stays open all day asks for more and more of them."""


class SavedCounts:
    """Counts texts one by one; the vocabulary is loaded for the first that the index does not know.

    Args:
        index: Keeps counts from run to run.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: dict[str, int] = {}
        self._characters = 0

    def __call__(self, text: str) -> int:
        """Return the number of o200k tokens of ``text``.

        Raises:
            TokenizerError: The bundled vocabulary is missing or damaged.
        """
        tokens = self._counts.get(text)
        if tokens is None:
            if self._characters > _MOST_CHARACTERS:
                self._counts.clear()
                self._characters = 0
            tokens = self._counts[text] = self._look_up(text)
            self._characters += len(text)
        return tokens

    def _look_up(self, text: str) -> int:
        if not text:
            return 0
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        row = self._index.get_many(token_kind(), [key])[0]
        if row is not None:
            return int(COUNT.unpack(row)[0])
        tokens = count_batch([text])[0]
        self._index.put_many(token_kind(), [(key, COUNT.pack(tokens))])
        return tokens
