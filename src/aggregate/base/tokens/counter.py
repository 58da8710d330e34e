"""Token counts of a stream of texts, made in threads while the caller goes on."""

import os
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self

from aggregate.base.tokens.batch import count_batch, cut

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_BATCH_CHARACTERS = 200_000
"""Of the texts that one call counts: about 10 ms. Threads cost more than they save on a stream that has less."""
_WAITING_CHARACTERS = 8_000_000
"""Of the texts that wait to be counted, which bounds the memory that they hold."""
_THREADS = 4


class TokenCounter:
    """Counts texts in the order in which they are submitted.

    A stream of less than one batch is counted by the caller's own thread. The vocabulary is loaded when the first batch
    is counted, so that a counter to which nothing is submitted costs nothing.
    """

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._texts: list[str] = []
        self._positions: list[int] = []
        self._characters = 0
        self._waiting: deque[tuple[Future[list[int]], list[int], int]] = deque()
        self._waiting_characters = 0
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the threads; what is not counted by now is dropped."""
        if self._threads:
            self._threads.shutdown(cancel_futures=True)

    def submit(self, text: str) -> int:
        """Take a text to count, and return its position among the results, from 0.

        Waits while the texts that are not counted yet have more than 8,000,000 characters.

        Raises:
            TokenizerError: The bundled vocabulary is missing or damaged.
        """
        position = len(self._counts)
        self._counts.append(0)
        for part in cut(text, _BATCH_CHARACTERS):
            self._texts.append(part)
            self._positions.append(position)
            self._characters += len(part)
            if self._characters >= _BATCH_CHARACTERS:
                self._start_batch()
        return position

    def results(self) -> list[int]:
        """Return the number of o200k tokens of each text that was submitted, in order.

        Raises:
            TokenizerError: The bundled vocabulary is missing or damaged.
        """
        if self._threads:
            self._start_batch()
            while self._waiting:
                self._finish_batch()
        elif self._texts:
            self._add(self._positions, count_batch(self._texts))
            self._texts, self._positions, self._characters = [], [], 0
        return list(self._counts)

    def _start_batch(self) -> None:
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # 5 ms, and few runs need threads

            self._threads = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1), "count-tokens")
        future = self._threads.submit(count_batch, self._texts)
        self._waiting.append((future, self._positions, self._characters))
        self._waiting_characters += self._characters
        self._texts, self._positions, self._characters = [], [], 0
        while self._waiting_characters > _WAITING_CHARACTERS or self._is_oldest_done():
            self._finish_batch()

    def _is_oldest_done(self) -> bool:
        return bool(self._waiting) and self._waiting[0][0].done()

    def _finish_batch(self) -> None:
        """Wait for the oldest batch."""
        future, positions, characters = self._waiting.popleft()
        self._waiting_characters -= characters
        self._add(positions, future.result())

    def _add(self, positions: list[int], counts: list[int]) -> None:
        for position, tokens in zip(positions, counts, strict=True):
            self._counts[position] += tokens
