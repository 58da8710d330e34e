"""What the project's history says: what was changed for similar tasks, lately, and together."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, log1p

from aggregate.models.choice import Missing
from aggregate.ranking.bm25 import rarity, saturation
from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.file_analysis import FileAnalysis
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.question import Commit
from aggregate.ranking.scaling import best_keys, scaled_evidence

MOST_SIMILAR = 40
"""Changes that are taken as examples: more are hardly similar."""
_OLD = 500
"""Changes newer than this many others count fully, older ones half: the code they changed has moved on."""
_OLD_SHARE = 0.5
_MESSAGE_B = 0.75
"""The usual value: a long message says less by each word."""
_MOST_RECENT = 120
"""Changes that count as recent."""
_HALF_LIFE = 8
"""Changes after which a change counts half."""
_MOST_TOGETHER = 30
"""Files of a change that was made for one reason; larger ones rename, format or release."""
_FEWEST_TOGETHER = 2
"""Common changes below which it is chance."""


def similar_changes(inquiry: Inquiry) -> Sequence[tuple[int, float]]:
    """Return the places of the past changes whose messages resemble the task most, and how much; the most first.

    Similarity is BM25 over the messages, cubed, so that one that is twice as near counts eight times.
    """
    commits = inquiry.question.commits
    weights = {query.term: query.weight for query in inquiry.terms}
    holding: dict[str, int] = {}
    shared: dict[int, list[str]] = {}
    for place, commit in enumerate(commits):
        terms = sorted(commit.terms & weights.keys())
        if terms and commit.paths:
            shared[place] = terms
        for term in terms:
            holding[term] = holding.get(term, 0) + 1
    average = max(1.0, sum(len(commit.terms) for commit in commits) / max(1, len(commits)))
    values: dict[int, float] = {}
    for place, terms in shared.items():
        length = len(commits[place].terms) / average
        likeness = fsum(
            weights[term]
            * rarity(len(commits), holding[term])
            * saturation(1, length=length, b=_MESSAGE_B)
            for term in terms
        )
        values[place] = likeness**3 * (_OLD_SHARE if place >= _OLD else 1.0)
    return [(place, values[place]) for place in best_keys(values, MOST_SIMILAR)]


def _recent_changes(commits: Sequence[Commit]) -> Iterator[tuple[int, float]]:
    """Yield the places of the newest changes, and how much each counts."""
    for place in range(min(_MOST_RECENT, len(commits))):
        yield place, 0.5 ** (place / _HALF_LIFE)


def changed_files(inquiry: Inquiry) -> tuple[Evidence, Evidence]:
    """Return which files similar changes changed, and which recent ones."""
    if not inquiry.question.commits:
        missing = _no_history(inquiry)
        return Evidence("similar changes", missing=missing), Evidence("recent changes")
    similar = similar_changes(inquiry)
    similar_files, counts = _changed_files(inquiry, similar)
    recent_files, recent_counts = _changed_files(
        inquiry, tuple(_recent_changes(inquiry.question.commits))
    )
    return (
        scaled_evidence(
            "similar changes",
            files=similar_files,
            matched={file: _times(counts[file], "similar change") for file in similar_files},
        ),
        scaled_evidence(
            "recent changes",
            files=recent_files,
            matched={file: _times(recent_counts[file], "recent change") for file in recent_files},
        ),
    )


def _no_history(inquiry: Inquiry) -> Missing | None:
    """Return what to tell of a history that is empty, unless it was told already."""
    if any(missing.evidence == "history" for missing in inquiry.question.missing):
        return None
    return Missing("history", "there is no commit to learn from")


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"


def _changed_files(
    inquiry: Inquiry, changes: Sequence[tuple[int, float]]
) -> tuple[Mapping[int, float], Mapping[int, int]]:
    """Return what the changes say about each file that they changed, and how many changed it.

    A change of many files says less about each, slowly: most of them were needed all the same.
    """
    numbers = inquiry.paths.numbers
    values: dict[int, float] = {}
    counts: dict[int, int] = {}
    for place, worth in changes:
        paths = inquiry.question.commits[place].paths
        for path in paths:
            file = numbers.get(path)
            if file is not None:
                values[file] = values.get(file, 0.0) + worth / log1p(len(paths))
                counts[file] = counts.get(file, 0) + 1
    return values, counts


def changed_definitions(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return the pieces of the definitions that similar changes changed, and recent ones."""
    commits = inquiry.question.commits
    places: dict[tuple[str, str], Sequence[PieceKey]] = {}

    def evidence(kind: str, changes: Sequence[tuple[int, float]]) -> Evidence:
        values: dict[PieceKey, float] = {}
        matched: dict[int, str] = {}
        for place, worth in changes:
            for path, name in commits[place].names:
                if (path, name) not in places:
                    places[(path, name)] = _definition_keys(inquiry, candidates, (path, name))
                for key in places[(path, name)]:
                    values[key] = values.get(key, 0.0) + worth
                    matched.setdefault(key[0], name)
        return scaled_evidence(kind, pieces=values, matched=matched)

    return (
        evidence("definitions of similar changes", similar_changes(inquiry) if commits else ()),
        evidence("recently changed definitions", tuple(_recent_changes(commits))),
    )


def _definition_keys(
    inquiry: Inquiry, candidates: Candidates, named: tuple[str, str]
) -> Sequence[PieceKey]:
    """Return the pieces of the definitions of a name in a file."""
    path, name = named
    file = inquiry.paths.numbers.get(path, -1)
    analysis = candidates.get(file)
    if analysis is None:
        return ()
    return [
        key
        for place in _places_named(analysis, name)
        for key in keys(file, pieces_of(analysis, place))
    ]


def _places_named(analysis: FileAnalysis, name: str) -> Iterator[int]:
    last = name.rpartition(".")[2]
    for place, definition in enumerate(analysis.definitions):
        if definition.path and definition.path[-1] in (name, last):
            yield place


def changed_together(inquiry: Inquiry, sources: Mapping[int, float]) -> Evidence:
    """Return the files that past changes changed together with some files.

    Args:
        inquiry: What is asked.
        sources: Those files, with how much each counts, from 0 to 1.
    """
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
