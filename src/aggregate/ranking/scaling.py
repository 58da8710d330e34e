"""Values of an observation, scaled to the best in the project."""

from collections.abc import Hashable, Mapping, Sequence
from heapq import nsmallest
from typing import TypeVar

from aggregate.ranking.evidence import Evidence, PieceKey

_Key = TypeVar("_Key", bound=Hashable)
_TOLD = 300
"""Files of which it is told what matched: as many as are looked at closely."""
_TERMS_TOLD = 3
"""Terms that the audit names for a file: enough to see why, few enough for a line."""


def scaled(values: Mapping[_Key, float]) -> Mapping[_Key, float]:
    """Return ``values`` divided by the greatest of them; none where nothing is above 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return {}
    return {key: value / best for key, value in values.items() if value > 0}


def best_keys(values: Mapping[int, float], most: int = _TOLD) -> Sequence[int]:
    """Return the files with the greatest values, the best first, equal ones in the order of the corpus."""
    pairs = nsmallest(most, [(-value, file) for file, value in values.items()])
    return [file for _, file in pairs]


def strongest_terms(worth: Mapping[str, float]) -> str:
    """Return the terms that add most, in words for the audit."""
    ordered = sorted((-value, term) for term, value in worth.items())
    return ", ".join(term for _, term in ordered[:_TERMS_TOLD])


def scaled_evidence(
    kind: str,
    *,
    files: Mapping[int, float] | None = None,
    pieces: Mapping[PieceKey, float] | None = None,
    matched: Mapping[int, str] | None = None,
) -> Evidence:
    """Return an evidence with its values scaled to the best file or the best piece."""
    return Evidence(
        kind, files=scaled(files or {}), pieces=scaled(pieces or {}), matched=matched or {}
    )
