"""Rank the candidates for a prompt by a question: which pieces of which files it is about."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.ranking.corpus import Corpus
from aggregate.ranking.evidence import PieceKey
from aggregate.ranking.fusion import in_order, logarithm_of_count, probabilities, reasons
from aggregate.ranking.gaps import missing_evidence
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.observation import Observation, observe
from aggregate.ranking.question import Question
from aggregate.ranking.ranking import Ranking
from aggregate.ranking.scaling import best_keys
from aggregate.ranking.structure import rank_by_structure
from aggregate.ranking.weights import WEIGHTS

_MOST_EXPLAINED = 200
"""Files beyond the candidates that get reasons: nobody reads further down, and a monorepo has 100,000."""


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


def rank(corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS) -> Ranking:
    """Rank the files of a corpus, and their pieces, by how likely a question touches them (rules T-1 to T-5).

    Args:
        corpus: The candidates.
        question: What is asked; an empty one is answered by structure alone.
        weights: By kind of evidence; a kind that is left out counts nothing.
    """
    if question.is_empty:
        return rank_by_structure(corpus, question)
    inquiry = Inquiry.of(corpus, question)
    observation = observe(inquiry, weights)
    others = _others(inquiry, observation)
    pieces, rest = probabilities(observation.pieces, others)
    best_pieces = {
        file: (file, max(range(len(values)), key=lambda place: values[place]))
        for file, values in pieces.items()
        if values
    }
    explained = [*observation.candidates, *best_keys(rest, _MOST_EXPLAINED)]
    why = reasons(observation.evidences, weights, best_pieces=best_pieces, files=explained)
    files = in_order(len(corpus.files), pieces=pieces, others=rest, why=why)
    return Ranking(files, missing_evidence(inquiry, observation.evidences, observation.candidates))


def features(
    corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS
) -> Features:
    """Return the evidence that ``rank`` weighs, piece by piece.

    Args:
        corpus: The candidates.
        question: What is asked.
        weights: Decide, as in ``rank``, which files are looked at closely and where references spread from.
    """
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


def _others(inquiry: Inquiry, observation: Observation) -> Mapping[int, float]:
    """Return the sums of the files that were not looked at closely, each as of one piece.

    What their pieces would add is taken to be the least that it is for a candidate, so that they stand behind those.
    """
    added = [
        max(values) - observation.files[file]
        for file, values in observation.pieces.items()
        if values
    ]
    least = min(added, default=0.0)
    return {
        file: observation.files[file] + least + logarithm_of_count(facts.pieces)
        for file, facts in enumerate(inquiry.files)
        if file not in observation.candidates and facts.pieces
    }
