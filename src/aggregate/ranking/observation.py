"""All evidences of a question, gathered in two stages: over all files, then over the pieces of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import exp, inf

from aggregate.ranking.evidence import Evidence, PieceKey, best_keys, lift
from aggregate.ranking.fusion import add_to_files, add_to_pieces, logarithm_of_count
from aggregate.ranking.history_evidence import (
    changed_definitions,
    changed_files,
    changed_together,
    last_changes,
    message_text,
)
from aggregate.ranking.inquiry import Candidates, Inquiry, keys
from aggregate.ranking.kind_evidence import (
    file_kinds,
    file_sizes,
    inner_tests,
    language_share,
    piece_shapes,
)
from aggregate.ranking.mentions import (
    files_with_named_definitions,
    joined_words,
    named_definitions,
    named_files,
    used_identifiers,
)
from aggregate.ranking.path_kinds import PathKind
from aggregate.ranking.places import (
    called_before,
    pointed_files,
    seed_files,
    seeds,
    traced_calls,
    traced_files,
    traced_places,
)
from aggregate.ranking.references import MOST_SOURCES, Resolver, references
from aggregate.ranking.text_evidence import file_text, path_scopes, path_words, piece_texts

# Files whose pieces are scored: on commits, what is changed is practically never behind them in the rough order.
MOST_CANDIDATES = 300
# Their pieces: files of more, in the rough order, are passed over, so that a question takes a bounded time.
_MOST_PIECES = 15_000
_MOST_SEEDED = 300  # further files that are candidates because the question points at them
_MOST_COMPANIONS = 10
# How surely a definition must be named for its file to be a candidate whatever else is said about it.
_CERTAIN = 0.3


# In the logarithm of odds: pieces that far behind the likeliest are no place to start from.
_FAR = 12.0
_SEEDS = frozenset({"focus", "symbol", "changed since", "place in the task"})


@dataclass(frozen=True, slots=True)
class Observation:
    """What was observed."""

    evidences: Sequence[Evidence]
    candidates: Candidates
    files: Sequence[float]
    pieces: Mapping[int, Sequence[float]]


def observe(inquiry: Inquiry, weights: Mapping[str, float]) -> Observation:
    """Gather all evidences; weights decide which files are looked at closely."""
    to_be_shown = seed_files(inquiry) | pointed_files(inquiry)
    whole = [
        file_text(inquiry),
        path_words(inquiry),
        path_scopes(inquiry),
        *named_files(inquiry),
        changed_files(inquiry),
        message_text(inquiry),
        last_changes(inquiry),
        *file_kinds(inquiry, to_be_shown),
        language_share(inquiry),
        file_sizes(inquiry),
    ]
    files = add_to_files([0.0] * len(inquiry.files), whole, weights)
    sources = dict.fromkeys(sorted(seed_files(inquiry))[:_MOST_SEEDED], 1.0)
    if inquiry.question.task.terms:
        for rank, file in enumerate(best_keys(dict(enumerate(files)), _MOST_COMPANIONS)):
            if inquiry.kinds[file] is PathKind.SOURCE:
                sources.setdefault(file, 1 / (rank + 1))
    together = changed_together(inquiry, sources)
    files = add_to_files(files, [together], weights)
    calls = traced_calls(inquiry, Resolver(inquiry.corpus, inquiry.paths))
    called = [call.file for call in calls]
    candidates = inquiry.load([*_best_files(inquiry, files, weights), *called])
    closely = [
        *piece_texts(inquiry, candidates),
        named_definitions(inquiry, candidates),
        used_identifiers(inquiry, candidates),
        joined_words(inquiry, candidates),
        traced_places(inquiry, candidates),
        *changed_definitions(inquiry, candidates),
        *piece_shapes(candidates),
        inner_tests(inquiry, candidates, to_be_shown),
        *seeds(inquiry, candidates),
        called_before(candidates, calls),
    ]
    given = {file: [files[file]] * len(analysis.pieces) for file, analysis in candidates.items()}
    pieces = add_to_pieces(given, closely, weights)
    resolver = Resolver(inquiry.corpus, inquiry.paths, known=candidates)
    pointed: dict[PieceKey, float] = {}
    for evidence in closely:
        if evidence.kind not in _SEEDS:
            continue
        for key, value in evidence.pieces.items():
            lift(pointed, [key], value)
        for file, value in evidence.files.items():
            if value == 1.0 and file in candidates:
                whole_file = keys(file, range(len(candidates[file].pieces)))
                pointed.update(dict.fromkeys(whole_file, 1.0))
    near = references(inquiry, candidates, resolver=resolver, likely=pointed, kind="near a seed")
    pieces = add_to_pieces(pieces, [near], weights)
    likely = _likely(pieces)
    referred = references(inquiry, candidates, resolver=resolver, likely=likely, kind="references")
    return Observation(
        [*whole, together, *closely, near, referred],
        candidates,
        add_to_files(files, [*closely, near, referred], weights),
        add_to_pieces(pieces, [referred], weights),
    )


def _best_files(
    inquiry: Inquiry, sums: Sequence[float], weights: Mapping[str, float]
) -> Sequence[int]:
    named = files_with_named_definitions(inquiry)
    weight = weights.get("named in the task", 0.0)
    rough = {
        file: value + logarithm_of_count(facts.pieces)
        for file, (value, facts) in enumerate(zip(sums, inquiry.files, strict=True))
        if facts.pieces
    }
    for file, value in named.items():
        if file in rough:
            rough[file] += weight * value
    pointed = [file for _, files, _ in traced_files(inquiry) for file in files]
    pointed += sorted(seed_files(inquiry))
    pointed += [file for file in best_keys(named) if named[file] >= _CERTAIN]
    seeded = list(dict.fromkeys(file for file in pointed if file in rough))[:_MOST_SEEDED]
    room = _MOST_PIECES
    kept: list[int] = []
    for file in best_keys(rough, MOST_CANDIDATES):
        pieces = inquiry.files[file].pieces
        if pieces <= room or not kept:
            kept.append(file)
            room -= pieces
    return [*kept, *seeded]


def _likely(pieces: Mapping[int, Sequence[float]]) -> Mapping[PieceKey, float]:
    best = max((max(values, default=-inf) for values in pieces.values()), default=-inf)
    near = [
        (-value, file, place)
        for file, values in pieces.items()
        for place, value in enumerate(values)
        if value > best - _FAR
    ]
    return {
        (file, place): exp(-value - best) for value, file, place in nsmallest(MOST_SOURCES, near)
    }
