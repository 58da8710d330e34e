"""Rank files by weighted evidence for a question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from math import exp, fsum, inf, log, log1p
from operator import itemgetter

from aggregate.base.task_budget import Reason
from aggregate.ranking import (
    covered_names,
    history_evidence,
    kind_evidence,
    mentions,
    text_evidence,
)
from aggregate.ranking.companion_files import COMPANIONS, companions
from aggregate.ranking.evidence import (
    PICKED,
    WEIGHTS,
    Evidence,
    PieceKey,
    RankedFile,
    Ranking,
    best_keys,
)
from aggregate.ranking.files.analysis import Analysis, Corpus, Piece
from aggregate.ranking.guess import corrected, doubts, is_pointed
from aggregate.ranking.inquiry import Candidates, Inquiry, Question
from aggregate.ranking.paths import PathKind
from aggregate.ranking.reference_graph import near_seeds, used_by_others

_MOST_EXPLAINED = 200  # files with reasons beyond the candidates; a monorepo has 100,000


def rank(corpus: Corpus, question: Question, *, weights: Mapping[str, float] = WEIGHTS) -> Ranking:
    """Rank the files of a corpus for a question.

    Files and their pieces are ranked by relevance (rules T-1 to T-5).

    Args:
        corpus: The candidates.
        question: An empty one is ranked by structure alone.
        weights: By kind of evidence; an absent kind counts nothing.
    """
    if question.is_empty:
        return _rank_by_structure(corpus, question)
    inquiry = corrected(Inquiry.of(corpus, question))
    observation = observe(inquiry, weights)
    # Other files have no piece evidence: assume the least of any candidate, to put them behind.
    rows = observation.pieces.items()
    least = min((max(row) - observation.files[file] for file, row in rows if row), default=0.0)
    remaining = {
        file: observation.files[file] + least + log(facts.pieces)
        for file, facts in enumerate(inquiry.files)
        if file not in observation.candidates and facts.pieces
    }
    pieces, rest = _probabilities(observation.pieces, remaining)
    best_pieces = {
        file: (file, max(range(len(values)), key=values.__getitem__))
        for file, values in pieces.items()
        if values
    }
    explained = [*observation.candidates, *best_keys(rest, _MOST_EXPLAINED)]
    why = _reasons(observation.evidences, weights, best_pieces=best_pieces, files=explained)
    files = _in_order(len(corpus.files), pieces=pieces, others=rest, why=why)
    by_share = {
        file: evidence.kind
        for evidence in observation.evidences
        if evidence.kind in COMPANIONS
        for file in evidence.files
    }
    evidences, candidates = observation.evidences, observation.candidates
    missing, guess = doubts(inquiry, evidences, candidates=candidates, files=files)
    # Names do not help a chore about settings: it edits single lines, and all settings are shown.
    is_chore = (
        kind_evidence.kind_of_chore(kind_evidence.chore_of(question.task)) is PathKind.SETTINGS
    )
    is_broad = guess is not None and not is_chore
    unpicked = _unpicked_scale(pieces, evidences, weights)
    pointed = is_pointed(inquiry, evidences)
    return Ranking(files, missing, by_share, guess, is_broad, unpicked, pointed)


# Files whose pieces are scored. In 108 commits of two projects of 800 and 2,000 files, 300 showed as many files and
# lines and one definition more, 150 fewer files.
MOST_CANDIDATES = 200
# Pieces of all candidates; files beyond are skipped, which bounds the time.
_MOST_PIECES = 15_000
_MOST_SEEDED = 300  # additional candidates from the question's seeds
_MOST_COMPANIONS = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """All evidence for a question, and its weighted sums by file and by piece."""

    evidences: Sequence[Evidence]
    candidates: Candidates
    files: Sequence[float]
    pieces: Mapping[int, Sequence[float]]


def observe(inquiry: Inquiry, weights: Mapping[str, float]) -> Observation:
    """Collect all evidence for a question; only files with enough of it are analysed."""
    mentioned = mentions.of_files(inquiry)
    texts, sizes = text_evidence.of_files(inquiry)
    whole = [
        texts,
        *covered_names.of_files(inquiry),
        *history_evidence.of_files(inquiry),
        *kind_evidence.of_files(inquiry, mentioned.exempt),
        sizes,
    ]
    files = _add_to_files([0.0] * len(inquiry.files), whole, weights)
    sources = dict.fromkeys(sorted(mentioned.seeds)[:_MOST_SEEDED], 1.0)
    if inquiry.question.task.terms:
        for rank, file in enumerate(best_keys(dict(enumerate(files)), _MOST_COMPANIONS)):
            if inquiry.kinds[file] is PathKind.SOURCE:
                sources.setdefault(file, 1 / (rank + 1))
    together = history_evidence.changed_together(inquiry, sources)
    files = _add_to_files(files, [together], weights)
    penalties = {evidence.kind: evidence.files for evidence in whole}
    against = {**penalties["auxiliary"], **penalties["test"]}
    companion = companions(inquiry, files, against)
    files = _add_to_files(files, companion, weights)
    companion_files = [file for evidence in companion for file in evidence.files]
    best = _best_files(inquiry, files, weights, mentioned)
    candidates = inquiry.load([*best, *companion_files], with_references=mentioned.needs_references)
    texts_of_pieces, shapes = text_evidence.of_pieces(inquiry, candidates)
    names, traced, seeds, picks = mentions.of_pieces(inquiry, candidates)
    detailed = [
        *texts_of_pieces,
        covered_names.of_pieces(inquiry, candidates),
        *names,
        traced,
        *history_evidence.of_pieces(inquiry, candidates),
        *shapes,
        *seeds,
        *picks,
        near_seeds(inquiry, candidates, (traced, *seeds)),
    ]
    pieces = {file: [files[file]] * len(analysis.pieces) for file, analysis in candidates.items()}
    return Observation(
        [*whole, together, *companion, *detailed],
        candidates,
        _add_to_files(files, detailed, weights),
        _add_to_pieces(pieces, detailed, weights),
    )


def _best_files(
    inquiry: Inquiry,
    sums: Sequence[float],
    weights: Mapping[str, float],
    mentioned: mentions.MentionedFiles,
) -> Sequence[int]:
    weight = weights.get("named in the task", 0.0)
    rough = {
        file: value + log(facts.pieces)  # as many equally likely pieces
        for file, (value, facts) in enumerate(zip(sums, inquiry.files, strict=True))
        if facts.pieces
    }
    for file, certainty in mentioned.certainties.items():
        if file in rough:
            rough[file] += weight * certainty
    seeded = list(dict.fromkeys(file for file in mentioned.candidates if file in rough))[
        :_MOST_SEEDED
    ]
    room = _MOST_PIECES
    best: list[int] = []
    for file in best_keys(rough, MOST_CANDIDATES):
        pieces = inquiry.files[file].pieces
        if pieces <= room:
            best.append(file)
            room -= pieces
        elif not best:  # a giant in front takes no room from the others
            best.append(file)
    return [*best, *seeded]


_MOST_REASONS = 6  # per file; further ones do not change its rank
# Nearly every file has these, so they do not explain a rank.
_UNEXPLAINED = {
    "file size", "function", "language", "no program", "outside definitions", "piece size",
}  # fmt: skip
_SCORE = RankedFile._fields.index("score")
_LEAST = 0.01


def _add_to_files(
    sums: Sequence[float], evidences: Sequence[Evidence], weights: Mapping[str, float]
) -> list[float]:
    added = list(sums)
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if weight:
            for file, value in evidence.files.items():
                added[file] += weight * value
    return added


def _add_to_pieces(
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
        for (file, piece), value in evidence.pieces.items():
            added[file][piece] += weight * value
    return added


def _probabilities(
    pieces: Mapping[int, Sequence[float]], others: Mapping[int, float]
) -> tuple[Mapping[int, Sequence[float]], Mapping[int, float]]:
    """Convert the scores of all pieces, and of files without pieces, to probabilities by softmax."""
    best = max((value for values in pieces.values() for value in values), default=-inf)
    best = max(best, max(others.values(), default=-inf))
    if best == -inf:
        return dict.fromkeys(pieces, ()), {}
    shares: dict[int, list[float]] = {}
    for file, values in pieces.items():
        shares[file] = [exp(value - best) for value in values]
    other_powers = {file: exp(value - best) for file, value in others.items()}
    total = fsum(chain(map(fsum, shares.values()), other_powers.values()))
    for file, powers in shares.items():
        shares[file] = [power / total for power in powers]
    for file, power in other_powers.items():
        other_powers[file] = power / total  # in place: a monorepo has many
    return shares, other_powers


def _unpicked_scale(
    chances: Mapping[int, Sequence[float]],
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
) -> float:
    """Return the factor for restoring scores of unpicked files.

    All scores sum to 1, so picks lower the scores of all other files by the same factor.
    """
    picks = [evidence for evidence in evidences if evidence.kind in PICKED]
    files = {file for evidence in picks for file in evidence.files}
    files.update(file for evidence in picks for file, _ in evidence.pieces)
    zeros = {file: [0.0] * len(chances[file]) for file in sorted(files) if file in chances}
    gained = fsum(
        chance * (1 - exp(-value))
        for file, values in _add_to_pieces(zeros, picks, weights).items()
        for chance, value in zip(chances[file], values, strict=True)
    )
    return 1 / (1 - gained)


def _reasons(
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
    *,
    best_pieces: Mapping[int, PieceKey],
    files: Sequence[int],
) -> Mapping[int, tuple[Reason, ...]]:
    table: dict[int, list[Reason]] = {file: [] for file in files}
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if not weight or evidence.kind in _UNEXPLAINED:
            continue
        values = {file: evidence.files[file] for file in files if file in evidence.files}
        for file, key in best_pieces.items() if evidence.pieces else ():
            if key in evidence.pieces:
                values[file] = values.get(file, 0.0) + evidence.pieces[key]
        for file, value in values.items():
            if abs(weight * value) >= _LEAST:
                matched = evidence.matched.get(file, "")
                table[file].append(Reason(evidence.kind, weight * value, matched))
    strongest: dict[int, tuple[Reason, ...]] = {}
    for file, candidates in table.items():
        by_size = sorted(candidates, key=lambda reason: (-abs(reason.weight), reason.kind))
        largest = by_size[:_MOST_REASONS]
        strongest[file] = tuple(sorted(largest, key=lambda reason: (-reason.weight, reason.kind)))
    return strongest


def _in_order(
    files: int,
    *,
    pieces: Mapping[int, Sequence[float]],
    others: Mapping[int, float],
    why: Mapping[int, tuple[Reason, ...]],
) -> Sequence[RankedFile]:
    """Return the files by probability, the likeliest first.

    Files of equal probability keep the order of the corpus.
    """
    ranked: list[RankedFile] = []
    new_entry = partial(tuple.__new__, RankedFile)  # a third of the time of a call
    for file in range(files):
        scores = pieces.get(file)
        score = others.get(file, 0.0) if scores is None else fsum(scores)
        ranked.append(new_entry((file, score, scores or (), why.get(file, ()))))
    ranked.sort(key=itemgetter(_SCORE), reverse=True)  # stable also in reverse
    return ranked


# Files whose uses are counted, those nearest to the base directory first: more take seconds.
MOST_ANALYSED = 2_000
# Weights without a question, chosen to put source before tests.
STRUCTURE_WEIGHTS: Mapping[str, float] = {
    "used by others": 5.0,  # number of files using a file's definitions
    "test": -5.5,  # as with a question
    "auxiliary": -4.5,
    "language": 2.4,
    # In an overview: above the sum of all others and the penalty of a document.
    "introduction": 14.0,
}
# Characters of an introduction over which the value of its pieces falls to 1/e.
_INTRODUCTION = 1_600
_SHORT_ENTRY_POINT = 8_000  # characters
_HOW_TO = re.compile(
    r"\b(?:add|adding|architecture|build|building|develop|developing|development|layout|structure|tests?|testing)\b",
    re.IGNORECASE,
)
_DEFINITION_WEIGHT = 2.0


def _rank_by_structure(corpus: Corpus, question: Question) -> Ranking:
    inquiry = Inquiry.of(corpus, question)
    guides = (
        kind_evidence.introduction(inquiry) if question.is_overview else Evidence("introduction")
    )
    evidences = [*kind_evidence.of_files(inquiry), guides]
    rough = _add_to_files([0.0] * len(corpus.files), evidences, STRUCTURE_WEIGHTS)
    candidates = inquiry.load(_analysed(inquiry, rough), with_references=True)
    uses = used_by_others(inquiry, candidates)
    evidences.append(uses)
    sums = _add_to_files(rough, [uses], STRUCTURE_WEIGHTS)
    piece_sums: dict[int, Sequence[float]] = {}
    for file, analysis in candidates.items():
        count = len(analysis.pieces)
        values = [_DEFINITION_WEIGHT * uses.pieces.get((file, i), 0.0) for i in range(count)]
        if file in guides.files:
            ends = accumulate((piece.characters for piece in analysis.pieces), initial=0)
            facts = corpus.files[file]
            is_short = facts.is_code and facts.characters <= _SHORT_ENTRY_POINT  # shown whole
            # More of the README than of others.
            scale = inf if is_short else _INTRODUCTION * guides.files[file] ** 4
            values = [
                0.0 if _says_how(analysis, piece) else -end / scale
                for piece, end in zip(analysis.pieces, ends, strict=False)
            ]
        # Together the pieces have the file's sum, however many they are.
        total = log(fsum(map(exp, values))) if values else 0.0
        piece_sums[file] = [sums[file] + value - total for value in values]
    pieces, file_chances = _probabilities(
        piece_sums,
        {
            file: value
            for file, value in enumerate(sums)
            if file not in candidates and corpus.files[file].pieces
        },
    )
    why = _reasons(evidences, STRUCTURE_WEIGHTS, best_pieces={}, files=[*candidates])
    files = _in_order(len(corpus.files), pieces=pieces, others=file_chances, why=why)
    # A task without any meaningful word is ranked by structure too.
    has_task = bool(question.task.text.strip())
    missing, guess = doubts(inquiry, evidences, candidates=candidates, files=files)
    by_share = dict.fromkeys(guides.files, "introduction")
    return Ranking(files, missing, by_share, guess if has_task else None)


def _says_how(analysis: Analysis, piece: Piece) -> bool:
    """Return whether a section of a guide says how to build, test or extend the project."""
    if piece.definition < 0:
        return False
    definition = analysis.definitions[piece.definition]
    return definition.kind == "heading" and bool(_HOW_TO.search(definition.path[-1]))


def _analysed(inquiry: Inquiry, rough: Sequence[float]) -> Sequence[int]:
    values = {
        file: value - log1p(inquiry.files[file].path.count("/"))
        for file, value in enumerate(rough)
        if inquiry.files[file].pieces
    }
    return best_keys(values, MOST_ANALYSED)
