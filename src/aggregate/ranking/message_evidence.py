"""What the messages of all past changes of a file say of it: together they are a text about the file."""

from collections.abc import Mapping, Sequence
from math import fsum, log1p
from typing import Final, NamedTuple

from aggregate.ranking.bm25 import rarity, saturation
from aggregate.ranking.evidence import Evidence
from aggregate.ranking.inquiry import Inquiry
from aggregate.ranking.question import Commit
from aggregate.ranking.scaling import best_keys, scaled_evidence

_MOST_FILES: Final = 30
"""Files of a change whose message speaks of each; larger ones rename, format or release."""
_B: Final = 0.75
"""BM25's usual share of the length; 0.3 was a little worse on commits."""


class _Messages(NamedTuple):
    """The messages of the changes of one file.

    Attributes:
        length: Terms of all of them; of a change of many files a part.
        counts: How often they hold each of the task's terms, in parts likewise.
    """

    length: float
    counts: Mapping[str, float]


def message_text(inquiry: Inquiry) -> Evidence:
    """Compare the task with the messages of all the changes of each file.

    Other than ``similar_commits``, which asks which single changes resemble the task, this finds a file whose many
    changes each speak of a part of it.
    """
    messages = _messages_by_file(inquiry)
    if not messages:
        return Evidence("messages of changes")
    total = len(messages)
    average = max(1.0, fsum(held.length for held in messages.values()) / total)
    holding: dict[str, int] = {}
    for held in messages.values():
        for term in held.counts:
            holding[term] = holding.get(term, 0) + 1
    worth = {
        query.term: query.weight * rarity(total, holding[query.term])
        for query in inquiry.terms
        if query.term in holding
    }
    values = {
        file: fsum(
            worth[term] * saturation(count, length=held.length / average, b=_B)
            for term, count in held.counts.items()
        )
        for file, held in messages.items()
    }
    matched = {
        file: inquiry.told({term: worth[term] for term in messages[file].counts})
        for file in best_keys(values)
    }
    return scaled_evidence("messages of changes", files=values, matched=matched)


def _messages_by_file(inquiry: Inquiry) -> Mapping[int, _Messages]:
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
    return {file: _Messages(lengths[file], held) for file, held in counts.items()}


def last_changes(inquiry: Inquiry) -> Evidence:
    """Return how lately each file was changed, by the order of the changes alone: 1 for the newest one."""
    places = _last_places(inquiry.question.commits)
    numbers = inquiry.paths.numbers
    values: dict[int, float] = {}
    matched: dict[int, str] = {}
    for path, place in places.items():
        file = numbers.get(path)
        if file is not None:
            values[file] = 1 / _doublings(place)
            matched[file] = f"{place + 1} {'change' if place == 0 else 'changes'} ago"
    return Evidence("last change", files=values, matched=matched)


def _last_places(commits: Sequence[Commit]) -> Mapping[str, int]:
    """Return for each path the newest change of it."""
    places: dict[str, int] = {}
    for place, commit in enumerate(commits):
        for path in commit.paths:
            places.setdefault(path, place)
    return places


def _doublings(place: int) -> float:
    """Return how often 1 is doubled to get to ``place + 2``; a file slowly falls behind those changed later."""
    return log1p(place + 1) / log1p(1)
