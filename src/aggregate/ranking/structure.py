"""The order without a question: what is used most comes first, source before tests and what stands beside it."""

from collections.abc import Mapping, Sequence
from math import exp, fsum, log, log1p

from aggregate.ranking.corpus import Corpus
from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.fusion import add_to_files, in_order, probabilities, reasons
from aggregate.ranking.gaps import missing_evidence
from aggregate.ranking.inquiry import Candidates, Inquiry
from aggregate.ranking.kind_evidence import file_kinds, language_share
from aggregate.ranking.question import Question
from aggregate.ranking.ranking import Ranking
from aggregate.ranking.scaling import best_keys, scaled

MOST_ANALYSED = 2_000
"""Files whose uses are counted: more take seconds, and those that are nearest to the base hold what matters."""
_MOST_NAMESAKES = 3
"""Definitions of one name above which a use of it does not tell which is meant."""
_SHORTEST_NAME = 3
"""Letters of a name below which its uses mostly mean something else."""
STRUCTURE_WEIGHTS: Mapping[str, float] = {
    "used by others": 5.0,  # by how many files a file's definitions are used: what all need is told first
    "test": -5.5,  # as with a question
    "auxiliary": -4.5,
    "language": 2.4,
}
"""Weights of the evidences without a question; chosen so that source comes before tests, and those before nothing."""
_DEFINITION_WEIGHT = 2.0
"""How much it counts within a file how many files use a definition."""


def rank_by_structure(corpus: Corpus, question: Question) -> Ranking:
    """Rank by centrality, then by the order of the corpus.

    Args:
        corpus: The candidates.
        question: An empty one; what is missing from it is told again.
    """
    inquiry = Inquiry.of(corpus, question)
    given = [*file_kinds(inquiry), language_share(inquiry)]
    rough = add_to_files([0.0] * len(corpus.files), given, STRUCTURE_WEIGHTS)
    candidates = inquiry.load(_analysed(inquiry, rough))
    used = _used_by_others(candidates)
    evidences = [*given, used]
    sums = add_to_files(rough, [used], STRUCTURE_WEIGHTS)
    pieces, others = probabilities(
        _shared_out(candidates, sums, used.pieces),
        {
            file: value
            for file, value in enumerate(sums)
            if file not in candidates and corpus.files[file].pieces
        },
    )
    why = reasons(evidences, STRUCTURE_WEIGHTS, best_pieces={}, files=[*candidates])
    files = in_order(len(corpus.files), pieces=pieces, others=others, why=why)
    return Ranking(files, missing_evidence(inquiry, evidences, candidates))


def _analysed(inquiry: Inquiry, rough: Sequence[float]) -> Sequence[int]:
    """Return the files to look at: all of them unless they are too many, then those of the fewest folders."""
    depths = {
        file: value - log1p(inquiry.files[file].path.count("/"))
        for file, value in enumerate(rough)
        if inquiry.files[file].pieces
    }
    return best_keys(depths, MOST_ANALYSED)


def _used_by_others(candidates: Candidates) -> Evidence:
    """Return how many other files use what each file defines, by the logarithm."""
    users = _users(candidates)
    defined: dict[str, list[tuple[int, int]]] = {}
    for file, analysis in candidates.items():
        for place, definition in enumerate(analysis.definitions):
            if definition.path and len(definition.path[-1]) >= _SHORTEST_NAME:
                defined.setdefault(definition.path[-1], []).append((file, place))
    by_file: dict[int, set[int]] = {}
    by_definition: dict[tuple[int, int], float] = {}
    for name, places in defined.items():
        if len(places) > _MOST_NAMESAKES or name not in users:
            continue
        for file, place in places:
            others = users[name] - {file}
            if others:
                by_file.setdefault(file, set()).update(others)
                by_definition[(file, place)] = log1p(len(others)) / len(places)
    values = {file: log1p(len(others)) for file, others in by_file.items()}
    matched = {file: f"used by {_files(len(others))}" for file, others in by_file.items()}
    pieces = _of_pieces(candidates, by_definition)
    return Evidence("used by others", files=scaled(values), pieces=scaled(pieces), matched=matched)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _users(candidates: Candidates) -> Mapping[str, set[int]]:
    """Return which files use a name."""
    users: dict[str, set[int]] = {}
    for file, analysis in candidates.items():
        for reference in analysis.references:
            users.setdefault(reference.name, set()).add(file)
    return users


def _of_pieces(
    candidates: Candidates, by_definition: Mapping[tuple[int, int], float]
) -> Mapping[PieceKey, float]:
    values: dict[PieceKey, float] = {}
    for file, analysis in candidates.items():
        for place, piece in enumerate(analysis.pieces):
            value = by_definition.get((file, piece.definition))
            if value is not None:
                values[(file, place)] = value
    return values


def _shared_out(
    candidates: Candidates, sums: Sequence[float], used: Mapping[PieceKey, float]
) -> Mapping[int, Sequence[float]]:
    """Return the sums of pieces such that all pieces of a file together have the file's sum, however many they are."""
    pieces: dict[int, Sequence[float]] = {}
    for file, analysis in candidates.items():
        values = [
            _DEFINITION_WEIGHT * used.get((file, place), 0.0)
            for place in range(len(analysis.pieces))
        ]
        whole = log(fsum(exp(value) for value in values)) if values else 0.0
        pieces[file] = [sums[file] + value - whole for value in values]
    return pieces
