"""What the project's history says: what was changed for similar tasks, lately and together, and what messages say."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum, log1p, sqrt
from typing import Final

from aggregate.base.request import Missing
from aggregate.ranking.evidence import (
    Evidence,
    PieceKey,
    best_keys,
    rarity,
    saturation,
    scaled_evidence,
)
from aggregate.ranking.files.analysis import Analysis
from aggregate.ranking.inquiry import Candidates, Inquiry

_MOST_RECENT = 120
_HALF_LIFE = 8
# Files of a change that was made for one reason; larger ones rename, format or release.
_MOST_TOGETHER = 30
_FEWEST_TOGETHER = 2


def _similar_changes(inquiry: Inquiry) -> Sequence[tuple[int, float]]:
    # Likeness is squared, so that a change that is twice as near counts four times. Their age says nothing beside it.
    return [(similar.place, similar.score**2) for similar in inquiry.similar]


def changed_files(inquiry: Inquiry) -> Evidence:
    if not inquiry.question.commits:
        is_told = any(missing.evidence == "history" for missing in inquiry.question.missing)
        missing = None if is_told else Missing("history", "there is no commit to learn from")
        return Evidence("similar changes", missing=missing)
    # A change of many files says less about each, slowly: most of them were needed all the same.
    files: dict[int, float] = {}
    counts: dict[int, int] = {}
    for place, worth in _similar_changes(inquiry):
        paths = inquiry.question.commits[place].paths
        for path in paths:
            file = inquiry.paths.numbers.get(path)
            if file is not None:
                files[file] = files.get(file, 0.0) + worth / log1p(len(paths))
                counts[file] = counts.get(file, 0) + 1
    matched = {
        file: f"{counts[file]} similar change{'s' if counts[file] > 1 else ''}" for file in files
    }
    evidence = scaled_evidence("similar changes", files=files, matched=matched)
    # Where the nearest change has no more than ``fix`` in common with the task, the best of them is as good as none.
    certainty = sqrt(max((similar.share for similar in inquiry.similar), default=0.0))
    weakened = {file: value * certainty for file, value in evidence.files.items()}
    return replace(evidence, files=weakened)


def changed_definitions(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    recent = range(min(_MOST_RECENT, len(inquiry.question.commits)))
    changes = {
        "definitions of similar changes": _similar_changes(inquiry),
        "recently changed definitions": [(place, 0.5 ** (place / _HALF_LIFE)) for place in recent],
    }
    tables: dict[int, Mapping[str, Sequence[PieceKey]]] = {}  # a file is looked through once
    similar, newest = (
        _of_definitions(kind, inquiry, candidates, tables=tables, changes=of_kind)
        for kind, of_kind in changes.items()
    )
    return similar, newest


def _of_definitions(
    kind: str,
    inquiry: Inquiry,
    candidates: Candidates,
    *,
    tables: dict[int, Mapping[str, Sequence[PieceKey]]],
    changes: Sequence[tuple[int, float]],
) -> Evidence:
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for place, worth in changes:
        for path, name in inquiry.question.commits[place].names:
            file = inquiry.paths.numbers.get(path, -1)
            if file not in candidates:
                continue
            if file not in tables:
                tables[file] = _pieces_by_own_name(file, candidates[file])
            for key in tables[file].get(name) or tables[file].get(name.rpartition(".")[2], ()):
                values[key] = values.get(key, 0.0) + worth
                matched.setdefault(key[0], name)
    return scaled_evidence(kind, pieces=values, matched=matched)


def _pieces_by_own_name(file: int, analysis: Analysis) -> Mapping[str, Sequence[PieceKey]]:
    own: dict[int, list[PieceKey]] = {}
    for place, piece in enumerate(analysis.pieces):
        own.setdefault(piece.definition, []).append((file, place))
    table: dict[str, list[PieceKey]] = {}
    for number, definition in enumerate(analysis.definitions):
        if definition.path and number in own:
            table.setdefault(definition.path[-1], []).extend(own[number])
    return table


def changed_together(inquiry: Inquiry, sources: Mapping[int, float]) -> Evidence:
    numbers = inquiry.paths.numbers
    pairs: dict[tuple[int, int], list[float]] = {}
    for commit in inquiry.question.commits:
        if not 1 < len(commit.paths) <= _MOST_TOGETHER:
            continue
        files = [numbers[path] for path in commit.paths if path in numbers]
        for source in files:
            if source in sources:
                for file in files:
                    if file not in sources:
                        pairs.setdefault((file, source), []).append(1 / len(commit.paths))
    values: dict[int, float] = {}
    strongest: dict[int, tuple[float, int, int]] = {}
    for (file, source), parts in pairs.items():
        if len(parts) < _FEWEST_TOGETHER:
            continue
        worth = sources[source] * fsum(parts)
        values[file] = values.get(file, 0.0) + worth
        strongest[file] = max(strongest.get(file, (0.0, 0, 0)), (worth, -source, len(parts)))
    matched = {
        file: f"changed together with {inquiry.files[-source].path} in {count} commits"
        for file, (_, source, count) in strongest.items()
    }
    return scaled_evidence("changed together", files=values, matched=matched)


# Files of a change whose message speaks of each; larger ones rename, format or release.
_MOST_FILES: Final = 30
_B: Final = 0.75  # BM25's usual share of the length; 0.3 was a little worse on commits


def message_text(inquiry: Inquiry) -> Evidence:
    """Compare the task with the messages of all the changes of each file."""
    lengths, counts = _messages_by_file(inquiry)
    if not counts:
        return Evidence("messages of changes")
    total = len(counts)
    average = max(1.0, fsum(lengths.values()) / total)
    holding: dict[str, int] = {}
    for held in counts.values():
        for term in held:
            holding[term] = holding.get(term, 0) + 1
    worth = {
        query.term: query.weight * rarity(total, holding[query.term])
        for query in inquiry.terms
        if query.term in holding
    }
    values = {
        file: fsum(
            worth[term] * saturation(count, length=lengths[file] / average, b=_B)
            for term, count in held.items()
        )
        for file, held in counts.items()
    }
    matched = {
        file: inquiry.told({term: worth[term] for term in counts[file]})
        for file in best_keys(values)
    }
    return scaled_evidence("messages of changes", files=values, matched=matched)


def _messages_by_file(
    inquiry: Inquiry,
) -> tuple[Mapping[int, float], Mapping[int, Mapping[str, float]]]:
    # How many terms the messages of a file's changes have, and how often each of the task's: parts of shared ones.
    numbers = inquiry.paths.numbers
    asked = [query.term for query in inquiry.terms]
    lengths: dict[int, float] = {}
    counts: dict[int, dict[str, float]] = {}
    for commit in inquiry.question.commits:
        if not 1 <= len(commit.paths) <= _MOST_FILES:
            continue
        share = 1 / log1p(len(commit.paths))
        length = share * len(commit.terms)
        # In the order of the task, since the order of a set is another in each process.
        terms = [term for term in asked if term in commit.terms]
        for path in commit.paths:
            file = numbers.get(path)
            if file is None:
                continue
            lengths[file] = lengths.get(file, 0.0) + length
            held = counts.setdefault(file, {})
            for term in terms:
                held[term] = held.get(term, 0.0) + share
    return lengths, counts


def last_changes(inquiry: Inquiry) -> Evidence:
    """Return how lately each file was changed, by the order of the changes alone: 1 for the newest one.

    Who asks where something is need not go on with what was done last.
    """
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    commits = () if inquiry.question.task.asks else inquiry.question.commits
    for place, commit in enumerate(commits):
        for path in commit.paths:
            file = inquiry.paths.numbers.get(path)
            if file is not None and file not in values:
                # How often 1 is doubled to get to the place: a file slowly falls behind those changed later.
                values[file] = 1 / (log1p(place + 1) / log1p(1))
                matched[file] = f"{place + 1} {'change' if place == 0 else 'changes'} ago"
    return Evidence("last change", files=values, matched=matched)
