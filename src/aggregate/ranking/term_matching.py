"""Which of a task's terms a name holds; a name is looked at once."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from aggregate.ranking.terms import term_list

_CHANGED = 1
"""Last characters of a term that the word it stands for may have otherwise: ``y`` for ``ies``."""
_SHORT = 3
"""Letters of terms that are looked for as they are: what is left of them otherwise would be in most names."""


class TermMatcher:
    """Find a task's terms in the names of files, folders and definitions.

    Args:
        terms: The task's terms.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        prefixes = sorted({_prefix(term) for term in self._terms})
        self._may_hold = re.compile("|".join(map(re.escape, prefixes)) or r"(?!)")
        self._known: dict[str, tuple[str, ...]] = {}

    def matched(self, name: str) -> tuple[str, ...]:
        """Return the terms that ``name`` holds, each once, in order of the alphabet."""
        terms = self._known.get(name)
        if terms is None:
            terms = self._known[name] = self._match(name)
        return terms

    def matched_in(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return what ``matched`` does for each of many names.

        Most names hold nothing, so some ten thousand are searched as one text for those that may hold something.
        """
        # Other letters may become longer where they become small: their names are looked at one by one.
        plain = [name if name.isascii() else "" for name in names]
        matched = [() if name.isascii() else self.matched(name) for name in names]
        ends: list[int] = []
        for hit in self._may_hold.finditer("\n".join(plain).lower()):  # no term holds a line feed
            ends = ends or list(accumulate(len(name) + 1 for name in plain))
            place = bisect_right(ends, hit.start())
            matched[place] = self.matched(names[place])
        return matched

    def _match(self, name: str) -> tuple[str, ...]:
        # A search costs a tenth of taking the name apart, and most names hold nothing.
        if name.isascii() and not self._may_hold.search(name.lower()):
            return ()
        return tuple(sorted(self._terms.intersection(term_list(name))))


def _prefix(term: str) -> str:
    return term[:-_CHANGED] if len(term) > _SHORT else term
