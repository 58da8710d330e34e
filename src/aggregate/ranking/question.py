"""What is asked of a ranking: the task as it was read, the seeds beside it, and what the project's history tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.base.values import Missing


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
