"""Token counts by the optional library toktok-rs.

The library is four times as fast as tiktoken. It knows a newer Unicode than tiktoken, so texts with the new letters,
marks and numbers are refused here.
"""

import re
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Protocol

import re2

from aggregate.base.tokens.unicode_17 import NEW_CHARACTER
from aggregate.base.tokens.vocabulary import NAME

# The guard holds for this version only; tests compare it with tiktoken over all of Unicode.
_VERSION = "0.3.0"
_LOADING = Lock()  # Two threads loading the vocabulary at once would hold it twice.
_LONG_S_CONTRACTION = "'\u017f"
_ASCII = bytes(range(128))
# RE2 searches UTF-8 forty times as fast as ``re`` searches text.
_NEW_CHARACTER: re.Pattern[bytes] = re2.compile(NEW_CHARACTER.pattern)


class BatchCount(Protocol):
    def __call__(self, texts: Sequence[str], encoding: str, threads: int) -> list[int]:
        """Return the number of tokens of each text.

        Special tokens are taken as text. Other Python threads run meanwhile.
        """


def counts_exactly(text: str) -> bool:
    """Return whether toktok-rs counts ``text`` as tiktoken does."""
    if text.isascii():
        return True
    try:
        others = text.encode().translate(None, _ASCII)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return not _NEW_CHARACTER.search(others) and _LONG_S_CONTRACTION not in text


def count_exact(texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text; all must pass ``counts_exactly``. Needs ``is_available``."""
    batch_count = _loaded()
    if batch_count is None:
        raise RuntimeError("toktok-rs is not installed in the tested version")
    return batch_count(texts, NAME, 1)


def category(character: str) -> str:
    """Return the category of a character in toktok-rs.

    For characters missing in Python's Unicode tables. Case does not matter here: no token joins a part of such a
    character with its neighbours.
    """
    contexts = (character, f"{character}123", f"{character}'s", f"..{character}'s")
    alone, before_digits, before_suffix, after_signs = count_exact(contexts)
    if before_digits == alone + 2:  # "X12", "3"
        return "Nd"
    if before_suffix == alone + 2:  # "X'", "s"
        return "So"
    return "Lo" if after_signs == alone + 2 else "Mn"  # "..", "X's" or "..X'", "s"


def is_available() -> bool:
    """Load toktok-rs; return whether the tested version is installed."""
    return _loaded() is not None


def is_loaded() -> bool:
    return bool(_load.cache_info().currsize) and is_available()


def _loaded() -> BatchCount | None:
    with _LOADING:
        return _load()


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
