"""Token counts by toktok-rs, an optional library that takes a quarter of tiktoken's time.

It knows an older Unicode than tiktoken, so texts with newer letters, marks or digits are refused here.
"""

import re
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Protocol

from aggregate.base.tokens.vocabulary import NAME

# The guard holds for this version only; tests compare it with tiktoken over all of Unicode.
_VERSION = "0.3.0"
_LOADING = Lock()  # Two threads that load the vocabulary at once would hold it twice.
_LONG_S_CONTRACTION = "'\u017f"
# Characters that the two libraries split differently, and half surrogate pairs.
_INEXACT = re.compile(
    "[\ud800-\udfff\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1"
    "\U00010940-\U00010959\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67"
    "\U00011db0-\U00011ddb\U00011de0-\U00011de9\U00016ea0-\U00016eb8\U00016ebb-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6de\U0001e6e0-\U0001e6f5\U0001e6fe\U0001e6ff\U0002b73a-\U0002b73f"
    "\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)
# All characters from the first inexact one on. One range is searched twenty times as fast as the set.
_CANDIDATES = re.compile("[\u088f-\U0010ffff]+")


class BatchCount(Protocol):
    def __call__(self, texts: Sequence[str], encoding: str, threads: int) -> list[int]:
        """Return the tokens of each text, special tokens taken as text; other threads run meanwhile."""


def counts_exactly(text: str) -> bool:
    """Return whether toktok-rs counts ``text`` as tiktoken does."""
    if text.isascii():
        return True
    return _LONG_S_CONTRACTION not in text and not _INEXACT.search(
        "".join(_CANDIDATES.findall(text))
    )


def count_exact(texts: Sequence[str]) -> list[int] | None:
    """Count texts that pass ``counts_exactly``; ``None`` without the library in the tested version."""
    batch_count = _batch_count()
    return batch_count(texts, NAME, 1) if batch_count else None


def _batch_count() -> BatchCount | None:
    with _LOADING:
        return _load()


def is_loaded() -> bool:
    return bool(_load.cache_info().currsize) and _load() is not None


@cache
def _load() -> BatchCount | None:
    try:
        from toktok import __version__, batch_count
    except ImportError:
        return None
    if __version__ != _VERSION:
        return None
    batch_count([""], NAME, 1)  # builds the vocabulary: 0.3 s and about 50 MB
    counter: BatchCount = batch_count
    return counter
