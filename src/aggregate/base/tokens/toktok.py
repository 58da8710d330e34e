"""Token counts by the optional library toktok-rs.

The library is four times as fast as tiktoken. It knows a newer Unicode than tiktoken, so texts with new characters are
refused here.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock

import re2

# The guard holds for this version only; tests compare it with tiktoken over all of Unicode.
_VERSION = "0.3.0"
_ENCODING = "o200k_base"
_LOADING = Lock()  # Two threads loading the vocabulary at once would hold it twice.
_LONG_S_CONTRACTION = "'\u017f"
_ASCII = bytes(range(128))
# Letters, marks and numbers new in Unicode 17: toktok-rs knows them, tiktoken treats them as punctuation.
_RANGES = (
    "\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1"
    "\U00010940-\U00010959\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67"
    "\U00011db0-\U00011ddb\U00011de0-\U00011de9\U00016ea0-\U00016eb8\U00016ebb-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6de\U0001e6e0-\U0001e6f5\U0001e6fe\U0001e6ff\U0002b73a-\U0002b73f"
    "\U0002cea2-\U0002cead\U000323b0-\U00033479"
)
# Found by comparing the counts of both for every character, tiktoken 0.12 to 0.14 with toktok-rs 0.3.0.
NEW_CHARACTER = re.compile(f"[{_RANGES}]")
# RE2 searches UTF-8 forty times as fast as ``re`` searches text.
_NEW_CHARACTER: re.Pattern[bytes] = re2.compile(NEW_CHARACTER.pattern)


# From texts, encoding and threads; special tokens are taken as text. Other Python threads run meanwhile.
BatchCount = Callable[[Sequence[str], str, int], list[int]]


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
    return batch_count(texts, _ENCODING, 1)


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
    batch_count([""], _ENCODING, 1)  # builds the vocabulary: 0.3 s and about 50 MB
    counter: BatchCount = batch_count
    return counter
