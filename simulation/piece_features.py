"""What a ranking weighs, piece by piece, to fit weights by."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.ranking import WEIGHTS, Question
from aggregate.ranking.evidence import PieceKey
from aggregate.ranking.files import Corpus
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.rank import observe


class Features(NamedTuple):
    """What each evidence says about each piece of the candidates, to fit weights.

    Attributes:
        kinds: Of the evidences, one for each column.
        pieces: The pieces, one for each row.
        rows: The values: those of the piece plus those of its file.
    """

    kinds: tuple[str, ...]
    pieces: Sequence[PieceKey]
    rows: Sequence[Sequence[float]]


def features(
    corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS
) -> Features:
    """Return the evidence that ``rank`` weighs, piece by piece."""
    observation = observe(Inquiry.of(corpus, question), weights)
    evidences = {evidence.kind: evidence for evidence in observation.evidences}
    kinds = tuple(kind for kind in WEIGHTS if kind in evidences)
    keys = [
        (file, place)
        for file, analysis in observation.candidates.items()
        for place in range(len(analysis.pieces))
    ]
    rows = [
        [
            evidences[kind].files.get(key[0], 0.0) + evidences[kind].pieces.get(key, 0.0)
            for kind in kinds
        ]
        for key in keys
    ]
    return Features(kinds, keys, rows)
