"""Count tokens exactly: short texts at once, many texts in threads.

The bundled o200k vocabulary is loaded by the tokenizer, or searched in its file for few texts.

Nothing is downloaded. tiktoken, the reference tokenizer, fetches its vocabulary at run time. ``.ci/vocabulary``
converts it to ``o200k_base.ranks``, which has three parts, each sorted by the tokens' bytes:

- the offset of each token, and the end of the last one;
- the rank of each token;
- the bytes of each token.

Numbers have four bytes in little-endian order, so a rank can be found in the mapped file by bisection. Loading the
tokenizer takes 0.2 s. Without it, texts are split by the vocabulary's rule as a Python expression, and byte pairs are
merged by the ranks in the mapped file. The counts equal tiktoken's; texts with uncertain characters are left to the
tokenizer.
"""

import hashlib
import mmap
import os
import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import islice, pairwise
from pathlib import Path
from threading import Lock, Semaphore
from typing import TYPE_CHECKING, Final, Protocol, Self

from aggregate.base.errors import TokenizerError
from aggregate.base.tokens import toktok

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from typing_extensions import Buffer

NAME = "o200k_base"
FILE: Final = Path(__file__).with_name(f"{NAME}.ranks")
# From https://github.com/openai/tiktoken (tiktoken_ext/openai_public.py).
END_OF_TEXT, END_OF_TEXT_RANK = "<|endoftext|>", 199_999
SHA256 = "c827535adb586ac7e9903aec876b73cfea83d3dbb0a079ee8256d22528ad911e"
# The published splitting rule, from the same file. Alternatives without look-ahead are grouped, which changes no match
# but lets the fast engine try them in one search: a quarter fewer instructions per count.
_LOWER, _UPPER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_WITHOUT_LOOK_AHEAD = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
    ]
)
_PATTERN = rf"(?:{_WITHOUT_LOOK_AHEAD})|\s+(?!\S)|\s+"
_LOADING = Lock()


class Tokenizer(Protocol):
    def encode_to_tiktoken_buffer(self, text: str, allowed_special: set[str], /) -> "Buffer":
        """Return the tokens' ranks, four bytes each; other Python threads run meanwhile."""


def tokenizer() -> Tokenizer:
    """Return the tokenizer. It is loaded once, which takes 0.2 s and 75 MB."""
    with _LOADING:
        return _load()


@cache
def _load() -> Tokenizer:
    # Heavy, imported late. tiktoken's public class would keep a second copy of the ranks and return lists of numbers,
    # built under the GIL with ten times the memory.
    from tiktoken._tiktoken import CoreBPE

    unusable = f"the bundled vocabulary {NAME} {{}}: reinstall manual-slop"
    try:
        data = _mapped()[:]
    except OSError as error:
        raise TokenizerError(unusable.format(f"cannot be read ({error})")) from error
    except ValueError:
        raise TokenizerError(unusable.format("is damaged")) from None
    # The first token's offset follows from the count: 2 * count + 1 numbers precede it.
    count = int.from_bytes(data[:4], "little") // 8
    numbers = array("I", data[: 4 * (2 * count + 1)])  # compact, unlike a tuple
    if sys.byteorder == "big":
        numbers.byteswap()
    tokens = (data[start:end] for start, end in pairwise(islice(numbers, count + 1)))
    ranks = dict(zip(tokens, islice(numbers, count + 1, None), strict=True))
    core: Tokenizer = CoreBPE(ranks, {END_OF_TEXT: END_OF_TEXT_RANK}, _PATTERN)
    return core


def _mapped() -> mmap.mmap:
    """Map the vocabulary's file into memory; raise ``ValueError`` if it is damaged."""
    with FILE.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ValueError("damaged")
    return data


# Above a hundred milliseconds, or so many cached pieces, loading the tokenizer is faster.
_MOST_CHARACTERS = 200_000
_MOST_PIECES = 20_000
# Python's expressions lack character properties. So each non-ASCII character is replaced by a private character for
# its property; private characters of a text itself count as "other".
_UPPER_MARK, _LOWER_MARK, _LETTER, _MARK, _NUMBER, _SPACE, _OTHER = (
    "\ue000\ue001\ue002\ue003\ue004\ue005\ue006"
)
_CATEGORY_MARKS = {
    **dict.fromkeys(("Lu", "Lt"), _UPPER_MARK),
    "Ll": _LOWER_MARK,
    **dict.fromkeys(("Lm", "Lo"), _LETTER),
    **dict.fromkeys(("Mn", "Mc", "Me"), _MARK),
    **dict.fromkeys(("Nd", "Nl", "No"), _NUMBER),
}
_LONG_S = "\u017f"  # equals "s" if case is ignored, as in the rule's suffixes


class _Properties(dict[int, str]):
    def __missing__(self, character: int) -> str:
        text = chr(character)
        category = "So" if toktok.NEW_CHARACTER.match(text) else unicodedata.category(text)
        if category == "Cn" and toktok.is_loaded():
            category = toktok.category(text)
        # Unassigned (a newer Unicode may differ) or a surrogate. ``translate`` would ignore a LookupError.
        if category in ("Cn", "Cs"):
            raise ValueError(text)
        if character < 0x80 or text == _LONG_S:
            mark = text
        elif text.isspace():
            mark = _SPACE
        else:
            mark = _CATEGORY_MARKS.get(category, _OTHER)
        self[character] = mark
        return mark


_PROPERTIES = _Properties()
_L = rf"A-Za-z{_LONG_S}{_UPPER_MARK}{_LOWER_MARK}{_LETTER}"
_N = rf"0-9{_NUMBER}"
_S = rf"\t\n\v\f\r {_SPACE}"
_FIRST = rf"[^\r\n{_L}{_N}]?"
_HIGH, _LOW = (
    rf"[A-Z{_UPPER_MARK}{_LETTER}{_MARK}]",
    rf"[a-z{_LONG_S}{_LOWER_MARK}{_LETTER}{_MARK}]",
)
_SUFFIX_MARKED = rf"(?:'(?:[sS{_LONG_S}]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD]))?"
_RULE = re.compile(
    "|".join(
        [
            rf"{_FIRST}{_HIGH}*{_LOW}+{_SUFFIX_MARKED}",
            rf"{_FIRST}{_HIGH}+{_LOW}*{_SUFFIX_MARKED}",
            rf"[{_N}]{{1,3}}",
            rf" ?[^{_S}{_L}{_N}]+[\r\n/]*",
            rf"[{_S}]*[\r\n]+",
            rf"[{_S}]+(?![^{_S}])",
            rf"[{_S}]+",
        ]
    )
)


def count_few(texts: Sequence[str]) -> list[int] | None:
    """Return the number of o200k tokens of each text.

    Returns None if only the tokenizer can count the texts.
    """
    if sys.byteorder != "little" or (rank_of := _ranks()) is None:
        return None
    try:
        return [_count(text, rank_of) for text in texts]
    except ValueError:
        return None


def _count(text: str, rank_of: "_RankOf") -> int:
    if text.isascii():
        return sum(_tokens_of(piece, rank_of) for piece in _RULE.findall(text))
    spans = (match.span() for match in _RULE.finditer(text.translate(_PROPERTIES)))
    return sum(_tokens_of(text[start:end], rank_of) for start, end in spans)


@cache
def _tokens_of(piece: str, rank_of: "_RankOf") -> int:
    data = piece.encode()
    if rank_of(data) is not None:
        return 1
    ends = list(range(1, len(data) + 1))  # end of each part by its start, 0 if merged
    previous = list(range(-1, len(data) - 1))
    pairs: list[tuple[int, int, int]] = []  # rank, start and end

    def add_pair(start: int) -> None:
        if start >= 0 and ends[start] < len(data):
            end = ends[ends[start]]
            if (rank := rank_of(data[start:end])) is not None:
                heappush(pairs, (rank, start, end))

    for start in range(len(data)):
        add_pair(start)
    tokens = len(data)
    while pairs:
        _, start, end = heappop(pairs)
        middle = ends[start]
        if not middle or middle == len(data) or ends[middle] != end:
            continue  # a part has been merged since
        ends[start], ends[middle] = end, 0
        if end < len(data):
            previous[end] = start
        tokens -= 1
        add_pair(previous[start])
        add_pair(start)
    return tokens


_RankOf = Callable[[bytes], int | None]


@cache
def _ranks() -> _RankOf | None:
    """Return a function for the rank of a token.

    Returns None if the vocabulary is missing or damaged.
    """
    try:
        data = _mapped()
    except (OSError, ValueError):
        return None
    count = int.from_bytes(data[:4], "little") // 8
    numbers = memoryview(data).cast("B")[: 4 * (2 * count + 1)].cast("I")

    def token(number: int) -> bytes:
        return data[numbers[number] : numbers[number + 1]]

    indices = range(count)

    @cache
    def rank_of(piece: bytes) -> int | None:
        index = bisect_left(indices, piece, key=token)
        return numbers[count + 1 + index] if index < count and token(index) == piece else None

    return rank_of


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
    has_tokenizer = bool(_load.cache_info().currsize)
    is_long = sum(map(len, texts)) > _MOST_CHARACTERS
    if has_tokenizer or is_long or _tokens_of.cache_info().currsize >= _MOST_PIECES:
        return None
    return count_few(texts)


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
        self._end_threads()

    def submit(self, text: str) -> None:
        """Add a text; wait if too many batches of texts are uncounted."""
        self._counts.append(0)
        for part in cut(text, _BATCH_CHARACTERS):
            self._batch.append((len(self._counts) - 1, part))
            self._characters += len(part)
            if self._characters >= _BATCH_CHARACTERS:
                self._start_batch()

    def results(self) -> list[int]:
        """Return the counts of all texts so far, and end the threads."""
        try:
            if self._threads:
                self._start_batch()
            elif self._batch:
                counts = count_batch([part for _, part in self._batch])
                self._add([position for position, _ in self._batch], counts)
            for positions, future in self._started:
                self._add(positions, future.result())
        finally:
            self._end_threads()
        self._batch, self._started, self._characters = [], [], 0
        return list(self._counts)

    def _end_threads(self) -> None:
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None

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
