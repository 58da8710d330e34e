"""Evidence from picks: files and definitions chosen from the shortlist (rule T-10)."""

from collections.abc import Mapping, Sequence
from math import exp, fsum
from typing import Final

from aggregate.ranking.evidence import Evidence, PieceKey, add_to_pieces, lift
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of

_KINDS: Final = ("picked", "picked definition")


def picked(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return evidence for files and definitions picked by a model.

    The values are the model's confidence.
    """
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    reasons: dict[int, str] = {}
    names: dict[int, str] = {}
    for path, name, confidence, reason in inquiry.question.picks:
        file = inquiry.paths.numbers[path]
        if not name:
            lift(files, [file], confidence)
            reasons.setdefault(file, reason)
        elif file in candidates:  # a file without pieces is not a candidate
            analysis = candidates[file]
            for index, definition in enumerate(analysis.definitions):
                if ".".join(definition.path) == name:
                    lift(pieces, keys(file, pieces_of(analysis, index, inner=True)), confidence)
                    names[file] = ", ".join(filter(None, (names.get(file), name)))
    return (
        Evidence(_KINDS[0], files=files, matched=reasons),
        Evidence(_KINDS[1], pieces=pieces, matched=names),
    )


def unpicked_scale(
    chances: Mapping[int, Sequence[float]],
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
) -> float:
    """Return the factor for restoring scores of unpicked files.

    All scores sum to 1, so picks lower the scores of all other files by the same factor.
    """
    picks = [evidence for evidence in evidences if evidence.kind in _KINDS]
    files = {file for evidence in picks for file in evidence.files}
    files.update(file for evidence in picks for file, _ in evidence.pieces)
    zeros = {file: [0.0] * len(chances[file]) for file in sorted(files) if file in chances}
    gained = fsum(
        chance * (1 - exp(-value))
        for file, values in add_to_pieces(zeros, picks, weights).items()
        for chance, value in zip(chances[file], values, strict=True)
    )
    return 1 / (1 - gained)
