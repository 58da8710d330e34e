"""Load the bundled o200k vocabulary and check its hash.

Nothing is downloaded. tiktoken, the reference tokenizer, fetches its vocabulary at run time. ``.ci/vocabulary``
converts it to ``o200k_base.ranks``, which has three parts, each sorted by the tokens' bytes:

- the offset of each token, and the end of the last one;
- the rank of each token;
- the bytes of each token.

Numbers have four bytes in little-endian order, so a rank can be found in the mapped file by bisection.
"""

import hashlib
import sys
from array import array
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from aggregate.base.errors import TokenizerError

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
        data = FILE.read_bytes()
    except OSError as error:
        raise TokenizerError(unusable.format(f"cannot be read ({error})")) from error
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise TokenizerError(unusable.format("is damaged"))
    # The first token's offset follows from the count: 2 * count + 1 numbers precede it.
    count = int.from_bytes(data[:4], "little") // 8
    numbers = array("I", data[: 4 * (2 * count + 1)])  # compact, unlike a tuple
    if sys.byteorder == "big":
        numbers.byteswap()
    tokens = (data[start:end] for start, end in pairwise(islice(numbers, count + 1)))
    ranks = dict(zip(tokens, islice(numbers, count + 1, None), strict=True))
    core: Tokenizer = CoreBPE(ranks, {END_OF_TEXT: END_OF_TEXT_RANK}, _PATTERN)
    return core
