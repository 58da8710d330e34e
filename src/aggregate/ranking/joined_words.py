"""Names that a task writes as several words: ``the retry loop`` for ``retry_loop``, ``v-for`` for ``vFor``."""

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

from aggregate.ranking.terms import STOP_WORDS

_MOST_WORDS: Final = 60
"""Words of a task, from its beginning, whose neighbours are joined: each pair is looked up in the whole project."""
_LENGTHS: Final = range(5, 41)
"""Characters of a joined term: shorter ones mean too much, longer ones are no terms."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}")
_HYPHENED: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++){1,3}")


def joined_neighbours(text: str) -> tuple[str, ...]:
    """Return two and three neighbouring words of ``text`` as one, as an identifier's whole term has them.

    Stop words are joined only where a hyphen does: ``v-for``.
    """
    terms: dict[str, None] = {}
    words = list(islice(_WORD.finditer(text), _MOST_WORDS))
    for hyphened in _HYPHENED.findall(text[: words[-1].end()] if words else ""):
        terms[hyphened.replace("-", "").lower()] = None
    for run in _runs([match[0].lower() for match in words]):
        terms.update(dict.fromkeys("".join(pair) for pair in pairwise(run)))
        terms.update(dict.fromkeys(map("".join, zip(run, run[1:], run[2:], strict=False))))
    return tuple(term for term in terms if len(term) in _LENGTHS)


def _runs(words: list[str]) -> Iterator[list[str]]:
    """Yield the words between stop words."""
    run: list[str] = []
    for word in words:
        if word in STOP_WORDS:
            yield run
            run = []
        else:
            run.append(word)
    yield run
