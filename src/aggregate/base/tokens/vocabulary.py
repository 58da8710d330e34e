"""The o200k vocabulary, read from the file beside this module and checked; nothing is downloaded.

tiktoken is the reference tokenizer but fetches its vocabulary at run time. ``.ci/vocabulary`` has made of that file
``o200k_base.ranks``, where one part stands behind the other, the tokens sorted by their bytes in each:

- where each token begins in the file, and where the last one ends;
- the rank of each token;
- the bytes of each token.

All numbers have four bytes, the lowest first. So a rank can also be looked up in the mapped file, by bisection.
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
# The vocabulary's own token that ends a text, https://github.com/openai/tiktoken (tiktoken_ext/openai_public.py).
END_OF_TEXT, END_OF_TEXT_RANK = "<|endoftext|>", 199_999
SHA256 = "c827535adb586ac7e9903aec876b73cfea83d3dbb0a079ee8256d22528ad911e"
# The vocabulary's published splitting rule, from the same place as its special token. The alternatives without a look-
# ahead stand in a group, which changes no match: one search by the fast engine then tries them all, which takes a
# quarter off the instructions of a count.
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
        """Return the ranks of the tokens of ``text``, four bytes each; other threads run meanwhile."""


def tokenizer() -> Tokenizer:
    """Return the tokenizer, loaded once, also by threads that ask at the same moment: 0.2 s and about 75 MB."""
    with _LOADING:
        return _load()


def is_loaded() -> bool:
    return bool(_load.cache_info().currsize)


@cache
def _load() -> Tokenizer:
    # Heavy, and needed only where tokens are counted. tiktoken's public class would keep a second copy of the ranks,
    # and gives tokens as lists of numbers: ten times the memory of the buffer, made while other threads wait.
    from tiktoken._tiktoken import CoreBPE

    unusable = f"the bundled vocabulary {NAME} {{}}: reinstall manual-slop"
    try:
        data = FILE.read_bytes()
    except OSError as error:
        raise TokenizerError(unusable.format(f"cannot be read ({error})")) from error
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise TokenizerError(unusable.format("is damaged"))
    # Two numbers for each token, and the last one's end, stand before the first one's bytes.
    count = int.from_bytes(data[:4], "little") // 8
    numbers = array("I", data[: 4 * (2 * count + 1)])  # a tuple would hold an object for each
    if sys.byteorder == "big":
        numbers.byteswap()
    tokens = (data[start:end] for start, end in pairwise(islice(numbers, count + 1)))
    ranks = dict(zip(tokens, islice(numbers, count + 1, None), strict=True))
    core: Tokenizer = CoreBPE(ranks, {END_OF_TEXT: END_OF_TEXT_RANK}, _PATTERN)
    return core
