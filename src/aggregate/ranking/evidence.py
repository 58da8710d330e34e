"""One evidence: how much a kind of observation speaks for each file and each piece, scaled to the best."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from math import log
from typing import TypeVar

from aggregate.base.request import Missing

PieceKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one kind of observation says, each value scaled to the best in the project: ``0`` to ``1``."""

    kind: str
    files: Mapping[int, float] = field(default_factory=dict)
    pieces: Mapping[PieceKey, float] = field(default_factory=dict)
    matched: Mapping[int, str] = field(default_factory=dict)
    missing: Missing | None = None


class PieceValues(Mapping[PieceKey, float]):
    """What an evidence says about pieces, as any other mapping of them; absent ones have 0."""

    def __init__(self, rows: Mapping[int, Sequence[float]]) -> None:
        self.rows = rows

    def __getitem__(self, key: PieceKey) -> float:
        file, place = key
        row = self.rows[file]
        if not 0 <= place < len(row) or not row[place]:
            raise KeyError(key)
        return row[place]

    def __iter__(self) -> Iterator[PieceKey]:
        for file, row in self.rows.items():
            for place, value in enumerate(row):
                if value:
                    yield file, place

    def __len__(self) -> int:
        return sum(1 for row in self.rows.values() for value in row if value)

    def scaled(self) -> "PieceValues":
        best = max((max(row, default=0.0) for row in self.rows.values()), default=0.0)
        if best <= 0:
            return PieceValues({})
        return PieceValues({file: [v / best for v in row] for file, row in self.rows.items()})


_Key = TypeVar("_Key", bound=Hashable)
_TOLD = 300  # files of which it is told what matched: as many as are looked at closely
_TERMS_TOLD = 3  # terms that the audit names for a file: enough to see why, few enough for a line


def scaled(values: Mapping[_Key, float]) -> Mapping[_Key, float]:
    """Return ``values`` divided by the greatest of them; none where nothing is above 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return {}
    return {key: value / best for key, value in values.items() if value > 0}


def lift(values: dict[_Key, float], keys: Iterable[_Key], value: float) -> None:
    """Raise the values of some keys to ``value`` where they are below it."""
    for key in keys:
        values[key] = max(values.get(key, 0.0), value)


def best_keys(values: Mapping[int, float], most: int = _TOLD) -> Sequence[int]:
    """Return the files with the greatest values, the best first, equal ones in the order of the corpus."""
    pairs = nsmallest(most, [(-value, file) for file, value in values.items()])
    return [file for _, file in pairs]


def strongest_terms(worth: Mapping[str, float]) -> str:
    ordered = sorted((-value, term) for term, value in worth.items())
    return ", ".join(term for _, term in ordered[:_TERMS_TOLD])


def scaled_evidence(
    kind: str,
    *,
    files: Mapping[int, float] | None = None,
    pieces: Mapping[PieceKey, float] | None = None,
    matched: Mapping[int, str] | None = None,
) -> Evidence:
    return Evidence(
        kind, files=scaled(files or {}), pieces=scaled(pieces or {}), matched=matched or {}
    )


# How soon further occurrences of a term count little: the usual value; 0.9 to 2 made no difference on commits.
K1 = 1.2


def rarity(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term, above 0."""
    holding = min(holding, total)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def saturation(count: float, *, length: float, b: float) -> float:
    """Return how much ``count`` occurrences in a text of ``length`` times the average count, below ``K1 + 1``."""
    return count * (K1 + 1) / (count + K1 * (1 - b + b * length))
