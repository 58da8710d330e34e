"""From many evidences to one order: weighted sums, probabilities, and the strongest reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, fsum, inf, log
from operator import itemgetter
from typing import NamedTuple

from aggregate.base.values import Missing, Reason, row_maker
from aggregate.ranking.evidence import Evidence, PieceKey, PieceValues


class RankedFile(NamedTuple):
    """A candidate with its score; there may be a hundred thousand."""

    file: int
    score: float
    pieces: Sequence[float] = ()
    reasons: tuple[Reason, ...] = ()  # why, the strongest first


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates, the likeliest first; those that are equal in the order of the corpus."""

    files: Sequence[RankedFile]
    missing: Sequence[Missing] = ()


_MOST_REASONS = 6  # reasons that are kept of each file: behind them none moves it by a place
_UNTOLD = frozenset(
    {"file size", "function", "language", "no program", "outside definitions", "piece size"}
)  # kinds that nearly every file has: they are no reasons to tell
_SCORE = RankedFile._fields.index("score")
_LEAST = 0.01


def add_to_files(
    sums: Sequence[float], evidences: Sequence[Evidence], weights: Mapping[str, float]
) -> list[float]:
    added = list(sums)
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if weight:
            for file, value in evidence.files.items():
                added[file] += weight * value
    return added


def add_to_pieces(
    sums: Mapping[int, Sequence[float]], evidences: Sequence[Evidence], weights: Mapping[str, float]
) -> Mapping[int, list[float]]:
    added = {file: list(values) for file, values in sums.items()}
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if not weight:
            continue
        for file, value in evidence.files.items():
            if file in added:
                added[file] = [total + weight * value for total in added[file]]
        if isinstance(evidence.pieces, PieceValues):
            for file, row in evidence.pieces.rows.items():
                pairs = zip(added[file], row, strict=True)
                added[file] = [total + weight * value for total, value in pairs]
            continue
        for (file, place), value in evidence.pieces.items():
            added[file][place] += weight * value
    return added


def probabilities(
    pieces: Mapping[int, Sequence[float]], others: Mapping[int, float]
) -> tuple[Mapping[int, Sequence[float]], Mapping[int, float]]:
    """Return the softmax over all pieces: of the candidates' pieces, and of the other files as wholes."""
    best = max((value for values in pieces.values() for value in values), default=-inf)
    best = max(best, max(others.values(), default=-inf))
    if best == -inf:
        return dict.fromkeys(pieces, ()), {}
    powers = {file: [exp(value - best) for value in values] for file, values in pieces.items()}
    other_powers = {file: exp(value - best) for file, value in others.items()}
    total = fsum([*(fsum(values) for values in powers.values()), *other_powers.values()])
    shares = {file: [power / total for power in values] for file, values in powers.items()}
    return shares, {file: power / total for file, power in other_powers.items()}


def reasons(
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
    *,
    best_pieces: Mapping[int, PieceKey],
    files: Sequence[int],
) -> Mapping[int, tuple[Reason, ...]]:
    table: dict[int, list[Reason]] = {file: [] for file in files}
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if not weight or evidence.kind in _UNTOLD:
            continue
        values = {file: evidence.files[file] for file in files if file in evidence.files}
        if isinstance(evidence.pieces, PieceValues):
            for file, row in evidence.pieces.rows.items():
                if file in best_pieces:
                    values[file] = values.get(file, 0.0) + row[best_pieces[file][1]]
        elif evidence.pieces:
            for file, key in best_pieces.items():
                if key in evidence.pieces:
                    values[file] = values.get(file, 0.0) + evidence.pieces[key]
        for file, value in values.items():
            if abs(weight * value) >= _LEAST:
                matched = evidence.matched.get(file, "")
                table[file].append(Reason(evidence.kind, weight * value, matched))
    strongest: dict[int, tuple[Reason, ...]] = {}
    for file, told in table.items():
        kept = sorted(told, key=lambda reason: (-abs(reason.weight), reason.kind))[:_MOST_REASONS]
        strongest[file] = tuple(sorted(kept, key=lambda reason: (-reason.weight, reason.kind)))
    return strongest


def in_order(
    files: int,
    *,
    pieces: Mapping[int, Sequence[float]],
    others: Mapping[int, float],
    why: Mapping[int, tuple[Reason, ...]],
) -> Sequence[RankedFile]:
    """Return all files, the likeliest first, equal ones in the order of the corpus."""
    ranked: list[RankedFile] = []
    new_entry = row_maker(RankedFile)
    for file in range(files):
        own = pieces.get(file)
        score = others.get(file, 0.0) if own is None else fsum(own)
        ranked.append(new_entry((file, score, own or (), why.get(file, ()))))
    ranked.sort(key=itemgetter(_SCORE), reverse=True)  # stable also in reverse
    return ranked


@lru_cache(maxsize=1_024)  # asked of each file of a project, and most have fewer pieces
def logarithm_of_count(count: int) -> float:
    """Return what ``count`` equal pieces add to the logarithm of their file's chance."""
    return log(max(1, count))
