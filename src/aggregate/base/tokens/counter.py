"""Count tokens exactly: short texts at once, many texts in threads."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from threading import Semaphore
from typing import TYPE_CHECKING, Self

from aggregate.base.tokens import toktok
from aggregate.base.tokens.vocabulary import (
    END_OF_TEXT,
    END_OF_TEXT_RANK,
    are_few,
    count_few,
    is_loaded,
    tokenizer,
)

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


_RANK_BYTES = 4
# Characters of a cut part of a text refused by toktok-rs: smaller parts leave less to slower counters.
_REFUSED_CHARACTERS = 1_000
# Unique at any offset of a buffer: ranks are below 2**18, so their high bytes are 0 and at most 3, where this one has
# 0x3f and 0x0d.
_END_BYTES = END_OF_TEXT_RANK.to_bytes(_RANK_BYTES, sys.byteorder)
# A safe cut: the splitting rule never continues from a letter to one of these characters and has no look-behind, so
# both sides have the same tokens alone. An apostrophe could continue a word.
_BORDER = re.compile(r"[A-Za-z](?=[\x00-&(-@\[-`{-\x7f])")


def count_batch(texts: Sequence[str]) -> list[int]:
    """Return the o200k tokens of each text, by the fastest exact counter."""
    if not toktok.is_loaded() and (counts := _count_if_few(texts)) is not None:
        return counts
    return _count_by_toktok(texts) if toktok.is_available() else _count_by_tiktoken(texts)


def _count_if_few(texts: Sequence[str]) -> list[int] | None:
    return count_few(texts) if not is_loaded() and are_few(texts) else None


def _count_by_toktok(texts: Sequence[str]) -> list[int]:
    exact: list[tuple[int, str]] = []  # positions, and the texts there or parts of them
    refused: list[tuple[int, str]] = []
    for position, text in enumerate(texts):
        is_exact = toktok.counts_exactly(text)
        for part in [text] if is_exact else cut(text, _REFUSED_CHARACTERS):
            fits = is_exact or toktok.counts_exactly(part)
            (exact if fits else refused).append((position, part))
    refused_texts = [part for _, part in refused]
    refused_counts = _count_if_few(refused_texts)
    if refused_counts is None:
        refused_counts = _count_by_tiktoken(refused_texts)
    counts = [0] * len(texts)
    exact_counts = toktok.count_exact([part for _, part in exact])
    for (position, _), tokens in zip(exact + refused, exact_counts + refused_counts, strict=True):
        counts[position] += tokens
    return counts


def _count_by_tiktoken(texts: Sequence[str]) -> list[int]:
    joined = END_OF_TEXT.join(texts)
    if joined.count(END_OF_TEXT) != len(texts) - 1:  # a text contains it, or there is no text
        return [len(_encode(text, set())) // _RANK_BYTES for text in texts]
    ranks = _encode(joined, {END_OF_TEXT})
    return [len(part) // _RANK_BYTES for part in ranks.split(_END_BYTES)]


def cut(text: str, characters: int) -> Iterator[str]:
    """Cut a text between tokens into parts.

    The token counts of the parts add up to the text's. Each part but the last has at least ``characters`` characters.
    """
    start = 0
    while len(text) - start > characters and (border := _BORDER.search(text, start + characters)):
        yield text[start : border.end()]
        start = border.end()
    yield text[start:] if start else text


def _encode(text: str, special: set[str]) -> bytes:
    # An unpaired surrogate counts as a replacement character.
    try:
        return bytes(tokenizer().encode_to_tiktoken_buffer(text, special))
    except UnicodeEncodeError:
        valid_text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return bytes(tokenizer().encode_to_tiktoken_buffer(valid_text, special))


_BATCH_CHARACTERS = 200_000  # about 10 ms; with less, threads cost more than they save
_MOST_WAITING = 6  # uncounted batches, to limit memory
_THREADS = 4


class TokenCounter:
    """Counts texts in threads; the counts are in the order of submission."""

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._batch: list[tuple[int, str]] = []  # text numbers and parts
        self._characters = 0
        self._started: list[tuple[list[int], Future[list[int]]]] = []  # text numbers and counts
        self._room = Semaphore(_MOST_WAITING)
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._threads:
            self._threads.shutdown(cancel_futures=True)

    def submit(self, text: str) -> None:
        """Add a text; wait if too many batches of texts are uncounted."""
        self._counts.append(0)
        for part in cut(text, _BATCH_CHARACTERS):
            self._batch.append((len(self._counts) - 1, part))
            self._characters += len(part)
            if self._characters >= _BATCH_CHARACTERS:
                self._start_batch()

    def results(self) -> list[int]:
        if self._threads:
            self._start_batch()
        elif self._batch:
            counts = count_batch([part for _, part in self._batch])
            self._add([position for position, _ in self._batch], counts)
        for positions, future in self._started:
            self._add(positions, future.result())
        self._batch, self._started, self._characters = [], [], 0
        return list(self._counts)

    def _start_batch(self) -> None:
        if not self._batch:
            return
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # 5 ms, and few runs need threads

            self._threads = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1), "count-tokens")
        self._room.acquire()
        positions = [position for position, _ in self._batch]
        future = self._threads.submit(self._count_parts, [part for _, part in self._batch])
        self._started.append((positions, future))
        self._batch, self._characters = [], 0

    def _count_parts(self, parts: Sequence[str]) -> list[int]:
        try:
            return count_batch(parts)
        finally:
            self._room.release()

    def _add(self, positions: Iterable[int], counts: Sequence[int]) -> None:
        for position, tokens in zip(positions, counts, strict=True):
            self._counts[position] += tokens


def count(text: str) -> int:
    """Return the number of o200k tokens of a text.

    Special tokens such as ``<|endoftext|>`` count as plain text.
    """
    return count_all([text])[0] if text else 0


def count_all(texts: Iterable[str]) -> list[int]:
    with TokenCounter() as counter:
        for text in texts:
            counter.submit(text)
        return counter.results()
