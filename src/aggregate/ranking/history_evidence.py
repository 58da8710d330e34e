"""Evidence from commits: similar ones, recent ones, files changed together, and commit messages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, log1p, sqrt
from typing import Final

from aggregate.base.task_budget import Missing
from aggregate.ranking.evidence import Evidence, PieceKey, best_keys, rarity, saturation, scaled
from aggregate.ranking.files.analysis import Analysis
from aggregate.ranking.inquiry import Candidates, Inquiry

_MOST_RECENT = 120
_HALF_LIFE = 8  # commits
# Files of a commit with one purpose; larger ones rename, format or release.
_MOST_TOGETHER = 30
_FEWEST_TOGETHER = 2


def _similar_changes(inquiry: Inquiry) -> Sequence[tuple[int, float]]:
    # Squared, so that twice the similarity counts four times. Their age adds nothing.
    return [(commit.age, commit.score**2) for commit in inquiry.similar]


def of_files(inquiry: Inquiry) -> tuple[Evidence, Evidence, Evidence]:
    """Return evidence from similar changes, from messages of changes, and from recent changes."""
    return _similar_files(inquiry), _message_text(inquiry), _last_changes(inquiry)


def _similar_files(inquiry: Inquiry) -> Evidence:
    if not inquiry.question.commits:
        is_reported = any(missing.evidence == "history" for missing in inquiry.question.missing)
        missing = None if is_reported else Missing("history", "the project has no commits")
        return Evidence("similar changes", missing=missing)
    files: dict[int, float] = {}
    counts: dict[int, int] = {}
    for index, worth in _similar_changes(inquiry):
        commit = inquiry.question.commits[index]
        for file in inquiry.changed_in(commit):
            # Only the logarithm: most files of a large change were needed too.
            files[file] = files.get(file, 0.0) + worth / log1p(len(commit.paths))
            counts[file] = counts.get(file, 0) + 1
    matched = {
        file: f"{counts[file]} similar change{'s' if counts[file] > 1 else ''}" for file in files
    }
    # If even the most similar change shares no more than ``fix`` with the task, it is no evidence.
    certainty = sqrt(max((similar.share for similar in inquiry.similar), default=0.0))
    weakened = {file: value * certainty for file, value in scaled(files).items()}
    return Evidence("similar changes", files=weakened, matched=matched)


def of_pieces(inquiry: Inquiry, candidates: Candidates) -> Sequence[Evidence]:
    """Return evidence for the definitions of similar changes, and for recently changed ones."""
    commits = inquiry.question.commits
    recent = range(min(_MOST_RECENT, len(commits)))
    changes = {
        "definitions of similar changes": _similar_changes(inquiry),
        "recently changed definitions": [(index, 0.5 ** (index / _HALF_LIFE)) for index in recent],
    }
    tables: dict[int, Mapping[str, Sequence[PieceKey]]] = {}
    evidences: list[Evidence] = []
    for kind, worths in changes.items():
        values: dict[PieceKey, float] = {}
        matched: dict[int, str] = {}
        for index, worth in worths:
            for path, name in commits[index].names:
                file = inquiry.paths.numbers.get(path, -1)
                if file not in candidates:
                    continue
                if file not in tables:
                    tables[file] = _pieces_by_name(file, candidates[file])
                for key in tables[file].get(name) or tables[file].get(name.rpartition(".")[2], ()):
                    values[key] = values.get(key, 0.0) + worth
                    matched.setdefault(file, name)
        evidences.append(Evidence(kind, pieces=scaled(values), matched=matched))
    return evidences


def _pieces_by_name(file: int, analysis: Analysis) -> Mapping[str, Sequence[PieceKey]]:
    by_definition: dict[int, list[PieceKey]] = {}
    for index, piece in enumerate(analysis.pieces):
        by_definition.setdefault(piece.definition, []).append((file, index))
    by_name: dict[str, list[PieceKey]] = {}
    for number, definition in enumerate(analysis.definitions):
        if definition.path and number in by_definition:
            by_name.setdefault(definition.path[-1], []).extend(by_definition[number])
    return by_name


def changed_together(inquiry: Inquiry, sources: Mapping[int, float]) -> Evidence:
    pairs: dict[tuple[int, int], list[float]] = {}
    for commit in inquiry.question.commits:
        if not 1 < len(commit.paths) <= _MOST_TOGETHER:
            continue
        files = inquiry.changed_in(commit)
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
    return Evidence("changed together", files=scaled(values), matched=matched)


_B: Final = 0.75  # BM25's usual length normalization; 0.3 was a little worse on commits


def _message_text(inquiry: Inquiry) -> Evidence:
    """Return as evidence how well commit messages match the task.

    A file's messages are those of the commits that changed it.
    """
    lengths, counts = _messages_by_file(inquiry)
    if not counts:
        return Evidence("messages of changes")
    total = len(counts)
    average = max(1.0, fsum(lengths.values()) / total)
    files_by_term = Counter(term for terms in counts.values() for term in terms)
    worth = {
        query.term: query.weight * rarity(total, files_by_term[query.term])
        for query in inquiry.terms
        if query.term in files_by_term
    }
    values: dict[int, float] = {}
    for file, terms in counts.items():
        length = lengths[file] / average
        values[file] = fsum(
            worth[term] * saturation(count, length=length, b=_B) for term, count in terms.items()
        )
    matched: dict[int, str] = {}
    for file in best_keys(values):
        matched[file] = inquiry.strongest_words({term: worth[term] for term in counts[file]})
    return Evidence("messages of changes", files=scaled(values), matched=matched)


def _messages_by_file(
    inquiry: Inquiry,
) -> tuple[Mapping[int, float], Mapping[int, Mapping[str, float]]]:
    """Return length and terms of each file's commit messages."""
    task_terms = [query.term for query in inquiry.terms]
    lengths: dict[int, float] = {}
    counts: dict[int, dict[str, float]] = {}
    for commit in inquiry.question.commits:
        if not 1 <= len(commit.paths) <= _MOST_TOGETHER:
            continue
        share = 1 / log1p(len(commit.paths))
        length = share * len(commit.terms)
        # In the order of the task: the order of a set differs between processes.
        terms = [term for term in task_terms if term in commit.terms]
        for file in inquiry.changed_in(commit):
            lengths[file] = lengths.get(file, 0.0) + length
            file_counts = counts.setdefault(file, {})
            for term in terms:
                file_counts[term] = file_counts.get(term, 0.0) + share
    return lengths, counts


def _last_changes(inquiry: Inquiry) -> Evidence:
    """Return as evidence how recently each file was changed; the same for all questions."""
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    commits = () if inquiry.question.task.is_question else inquiry.question.commits
    for age, commit in enumerate(commits, 1):
        for file in inquiry.changed_in(commit):
            if file not in values:
                values[file] = 1 / (log1p(age) / log1p(1))
                matched[file] = f"{age} change{'s' if age > 1 else ''} ago"
    return Evidence("last change", files=values, matched=matched)
