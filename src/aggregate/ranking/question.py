"""What is asked of a ranking: the task as it was read, seeds beside it, and the past commits that it resembles."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aggregate.base.values import Missing
from aggregate.ranking.evidence import rarity, saturation


class NamedPlace(NamedTuple):
    """A place in a file that the task's text names, as a traceback or a compiler does.

    Attributes:
        path: As it is written there, absolute or relative, with ``/``.
        line: 1-based, ``0`` where none is named.
        symbol: The function that is named with it, ``""`` for none.
    """

    path: str
    line: int = 0
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class TaskText:
    """A task's text, read.

    Attributes:
        terms: Each term with how often it occurs; trailers, URLs and stop words left out.
        subject: The terms of the first line.
        scopes: The terms of a ``scope:`` or ``fix(scope):`` that the first line begins with.
        names: Identifiers that it names, as written (``retry_loop``, ``Session.send``), with how surely each is one:
            ``1.0`` where it looks like code, is quoted, capitalised or followed by ``(``, ``0.3`` else.
        places: Places that it names, the most telling first: of a traceback the frame where it ended.
        text: All of it.
        joined: Neighbouring words as one term: ``vfor`` of ``v-for``, ``retryloop`` of ``the retry loop``.
        change_words: Of the first line, by ``ranking.change_words``.
    """

    terms: Mapping[str, int] = field(default_factory=dict)
    subject: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    names: Mapping[str, float] = field(default_factory=dict)
    places: tuple[NamedPlace, ...] = ()
    text: str = ""
    joined: tuple[str, ...] = ()
    change_words: tuple[str, ...] = ()


class ChangedLines(NamedTuple):
    """Lines of a file as it is now that changed since a revision.

    Attributes:
        path: Relative to the base directory, with ``/``.
        first: 1-based; ``0`` where all of the file is new.
        last: Inclusive.
    """

    path: str
    first: int = 0
    last: int = 0


class Commit(NamedTuple):
    """A commit of the project's history, as evidence needs it.

    Attributes:
        terms: The terms of its message, each once.
        paths: The files that it changed, relative to the base directory.
        names: For those commits that were looked at closely: ``(path, name of the definition)`` for each hunk's
            function context; ``()`` for the others.
        change_words: Of its message's first line, by ``ranking.change_words``.
    """

    terms: frozenset[str]
    paths: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()
    change_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """All that a ranking is asked by.

    Attributes:
        task: The task's text.
        focus: ``(path, first, last)`` of the places that the user points at, lines ``0`` for whole files.
        symbols: Names of definitions that the user points at.
        changes: What changed since the user's revision.
        commits: The history, the newest first.
        missing: Evidence that there is none of, and why.
    """

    task: TaskText = field(default_factory=TaskText)
    focus: Sequence[tuple[str, int, int]] = ()
    symbols: Sequence[str] = ()
    changes: Sequence[ChangedLines] = ()
    commits: Sequence[Commit] = ()
    missing: Sequence[Missing] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, so that structure alone decides."""
        return not (self.task.terms or self.task.names or self.task.places) and not (
            self.focus or self.symbols or self.changes
        )


MOST_SIMILAR: Final = 100
"""Commits that count as like the task; measured with the weights of ``ranking.weights``."""
MOST_READ: Final = 40
"""Those of them whose definitions are looked at: git has to compare the files of each."""
_B: Final = 0.75
"""BM25's usual share of the length: a long message speaks of many things."""


class SimilarCommit(NamedTuple):
    """A past commit that a task resembles.

    Attributes:
        place: In the history, ``0`` for the newest.
        score: BM25 of the words of its message's first line, above ``0``.
        share: What the words in common are worth of all that are asked for, above ``0`` up to ``1``.
    """

    place: int
    score: float
    share: float


def similar_commits(
    commits: Sequence[Commit], words: Iterable[str], most: int = MOST_SIMILAR
) -> list[SimilarCommit]:
    """Return the commits whose first lines resemble a task's most, the most alike first, of equal ones the newer.

    Args:
        commits: The history, the newest first.
        words: Of the task's first line, by ``ranking.change_words``.
        most: How many are returned at most.
    """
    asked = frozenset(words)
    shared = [commit.change_words & asked for commit in commits]
    frequency = Counter(word for words_of_commit in shared for word in words_of_commit)
    if not frequency:
        return []
    total = len(commits)
    worth = {word: rarity(total, frequency[word]) for word in asked}
    most_worth = math.fsum(worth.values())
    average = sum(len(commit.change_words) for commit in commits) / total
    scored: list[tuple[float, int, float]] = []
    for place, matched in enumerate(shared):
        if matched:
            length = len(commits[place].change_words) / average
            weight = saturation(1, length=length, b=_B)
            # Summed exactly, since the order of a set is another in each process.
            told = math.fsum(map(worth.__getitem__, matched))
            scored.append((-weight * told, place, told / most_worth))
    scored.sort()
    return [SimilarCommit(place, -score, share) for score, place, share in scored[:most]]
