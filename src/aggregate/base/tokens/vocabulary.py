"""The bundled o200k vocabulary: loaded by the tokenizer, or searched in its file for few texts.

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
import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import islice, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from aggregate.base.errors import TokenizerError
from aggregate.base.tokens import toktok

if TYPE_CHECKING:
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


def is_loaded() -> bool:
    return bool(_load.cache_info().currsize)


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


def are_few(texts: Sequence[str]) -> bool:
    """Return whether these texts are short enough for ``count_few``."""
    is_long = sum(map(len, texts)) > _MOST_CHARACTERS
    return not is_long and _tokens_of.cache_info().currsize < _MOST_PIECES


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
