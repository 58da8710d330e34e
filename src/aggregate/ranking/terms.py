"""Terms: normalized words for comparing programs and prose."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Final, TypeVar
from zlib import crc32

STOP_WORDS: Final = frozenset(
    """
    a about above after again all also although always am among an and another any anyone anything are aren as at
    away be became because been before being between both but by can cannot could couldn did didn do does doesn doing
    don done down during each either else etc even ever every few for from further had has hasn have haven having he
    hence her here hers him his how however i if in instead into is isn it its itself just least less let ll many may
    maybe me might mine more most much must my near need neither never no nor not now of off often on once only onto
    or other others otherwise our ours out over own per perhaps please quite rather re really same say says see seem
    seems shall she should shouldn since so some someone something sometimes still such than that the their theirs
    them then there therefore these they thing things this those though through thus to together too toward under
    unless until up upon us ve very via want wants was wasn way we well were weren what whatever when where whether
    which while who whole whom whose why will with within without won would wouldn yes yet you your yours
    """.split()  # noqa: SIM905 - a list with a line for each word would fill pages
)  # English words of any text
COMMIT_WORDS: Final = frozenset(
    """
    add added adding addition adds allow allows bug bugfix bump cc change changed changes changing chore cleanup close
    closed closes commit commits ensure feat feature fix fixed fixes fixing fixup improve improved improvement
    improvements improves introduce introduced issue issues make makes making merge merged merges minor misc moved pr
    refactor refactored refactoring refactors refs release released remove removed removes removing resolve resolved
    resolves revert reverts reviewed signed small support supported supports tweak tweaks typo typos update updated
    updates updating use used uses using wip
    """.split()  # noqa: SIM905 - a list with a line for each word would fill pages
)  # words of commit messages about the kind of change, not its subject
NO_TERMS: Final = STOP_WORDS | COMMIT_WORDS

LONGEST_WORD: Final = 80  # characters; longer words are encoded data, not names
_LONGEST_TERM: Final = 40  # characters
# Digits of a term (status and error codes); data are full of other numbers.
_NUMBER: Final = range(3, 6)
# Words whose terms are cached, about 40 MB per process. Most projects have fewer; of larger ones the frequent words
# soon return after a reset.
_MOST_CACHED: Final = 150_000

_WORD: Final = re.compile(r"\w+")
# The parts of an ASCII identifier; ``URLs`` is one part.
_PARTS: Final = r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_PART, _PART_OF_BYTES = re.compile(_PARTS), re.compile(_PARTS.encode())
_ANY_PART: Final = re.compile(r"[^\W\d_]+|[0-9]+")
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Kana and Han; and Korean, whose words end in
# particles. Most words only have smaller characters than the first.
_FIRST_UNSPACED: Final = "\u0e00"
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_VOWEL: Final = re.compile("[aeiouy]")
# Maps separators to blanks: splitting bytes takes a third of the time of an expression. Non-ASCII bytes count as
# letters here and are split when their terms are computed.
_SPACED: Final = bytes(
    byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
_Word = TypeVar("_Word", str, bytes)
_Value = TypeVar("_Value")


@cache  # compiling so large a set takes some milliseconds, and most projects have no such word
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"([{_UNSPACED}]+)")


def terms_in(text: str) -> Counter[str]:
    """Count the terms in a text, in the order in which they first occur."""
    return Counter(term_list(text))


def term_list(text: str) -> list[str]:
    terms = _TERMS
    return list(chain.from_iterable([terms[word] for word in _WORD.findall(text)]))


def words_in(text: str) -> Counter[bytes]:
    """Count the words of a text; ``hashes_of_terms`` converts them to terms."""
    return Counter(text.encode(errors="surrogatepass").translate(_SPACED).split())


def term_hash(term: str) -> int:
    """Return the 32-bit hash of a term or name."""
    return crc32(term.encode(errors="surrogatepass"))


def split_identifier(name: str) -> tuple[str, ...]:
    """Split ``getHTTP_Response`` into ``get``, ``HTTP``, ``Response``."""
    if name.isascii():
        return tuple(_PART.findall(name))
    parts: list[str] = []
    for part in _ANY_PART.findall(name):
        begins = [index for index in range(1, len(part)) if _begins_part(part, index)]
        parts += [part[begin:end] for begin, end in pairwise([0, *begins, len(part)])]
    return tuple(parts)


def _begins_part(name: str, index: int) -> bool:
    if not name[index].isupper():
        return False
    return not name[index - 1].isupper() or name[index + 1 : index + 2].islower()


def stem(word: str) -> str:
    """Return the stem of a lower-case English word."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > 4 else word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[: -2 if word.endswith(("sses", "xes", "shes", "ches", "zes")) else -1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and not word.endswith("eed"):
            base = word[: -len(ending)]
            if len(base) > 2 and _VOWEL.search(base):
                # ``stopped`` becomes ``stop``, but ``called`` becomes ``call``.
                is_doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
                word = base[:-1] if is_doubled else base
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


# Derivational endings with the fewest letters of the root: ``creation`` becomes ``creat``, not ``cre``.
# ``configuration`` and ``configure`` share only ``config``.
_ENDINGS: Final = (
    *((ending, 5) for ending in ("ization", "isation", "ation", "ition", "ator", "at")),
    *((ending, 3) for ending in ("izer", "ment", "abl", "ibl", "iz", "iv", "ity", "ion", "ing")),
    *((ending, 3) for ending in ("er", "or", "al", "ed", "s", "e", "i", "y")),
)


def root_of(word: str) -> str:
    """Return the stem of a word, which need not be a word itself."""
    root = stem(word)
    for ending, least in _ENDINGS:
        if root.endswith(ending) and len(root) - len(ending) >= least:
            return root[: -len(ending)]
    return root


def _terms_of(word: str) -> Sequence[str]:
    if max(word) < _FIRST_UNSPACED:
        return _terms_of_spaced(word)
    first, *runs = _unspaced().split(word)  # unspaced and spaced runs alternate
    terms = [*_terms_of_spaced(first)]
    for unspaced, spaced in zip(runs[::2], runs[1::2], strict=True):
        terms += unspaced
        terms += map("".join, pairwise(unspaced))
        terms += _terms_of_spaced(spaced)
    return terms


def _terms_of_spaced(word: str) -> Sequence[str]:
    if len(word) > LONGEST_WORD:
        return ()
    if word.isalpha() and (word.islower() or word[1:].islower()):  # most words
        return _terms_of_part(word)
    parts = split_identifier(word)
    terms = [word.replace("_", "").lower()[:_LONGEST_TERM]] if len(parts) > 1 else []
    for part in parts:
        terms += _TERMS_OF_PARTS[part]
    return terms


def _terms_of_part(part: str) -> tuple[str, ...]:
    part = part.lower()
    if part.isdigit():
        return (part,) if len(part) in _NUMBER else ()
    if len(part) < 2 or part in NO_TERMS:
        return ()
    return (stem(part)[:_LONGEST_TERM],)


class _Cache(dict[_Word, Sequence[_Value]]):
    """A mapping that computes and keeps the value of a word when it is first needed."""

    def __init__(self, compute: Callable[[_Word], Sequence[_Value]]) -> None:
        self._compute: Callable[[_Word], Sequence[_Value]] = compute

    def __missing__(self, word: _Word) -> Sequence[_Value]:
        value = self._compute(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= _MOST_CACHED:
                self.clear()
            self[word] = value
        return value


def _hashes_of(word: bytes) -> Sequence[int]:
    if not word.isascii():
        text = word.decode(errors="surrogatepass")
        words = (text,) if text.isalpha() else _WORD.findall(text)
        return tuple([term_hash(term) for part in words for term in _terms_of(part)])
    # The same as ``_terms_of`` in half of its time: a project has some hundred thousand different words.
    if len(word) > LONGEST_WORD:
        return ()
    parts = _PART_OF_BYTES.findall(word)
    if len(parts) < 2:
        return _HASHES_OF_PARTS[parts[0]] if parts else ()
    hashes = [crc32(word.replace(b"_", b"").lower()[:_LONGEST_TERM])]
    for part in parts:
        hashes += _HASHES_OF_PARTS[part]
    return tuple(hashes)


def _hashes_of_part(part: bytes) -> Sequence[int]:
    return tuple(map(term_hash, _terms_of_part(part.decode())))


_TERMS_OF_PARTS: Final = _Cache(_terms_of_part)
_HASHES_OF_PARTS: Final = _Cache(_hashes_of_part)
_TERMS: Final = _Cache(_terms_of)
_HASHES: Final = _Cache(_hashes_of)
hashes_of_terms: Final = _HASHES.__getitem__  # of a word
