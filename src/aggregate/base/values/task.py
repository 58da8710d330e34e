"""What a prompt is for: the task's text, and the places and names that the user points at."""

import re
from dataclasses import dataclass

_LINES = re.compile(r"(?P<path>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or lines of one.

    Attributes:
        path: As the user wrote it, or relative to the base directory.
        first: The first line, 1-based; ``0`` for the whole file.
        last: The last line, inclusive; ``0`` for the whole file.
    """

    path: str
    first: int = 0
    last: int = 0

    @classmethod
    def parse(cls, text: str) -> "Place":
        """Return the place that ``PATH[:LINE[-LINE]]`` names; lines in the wrong order are exchanged."""
        match = _LINES.fullmatch(text)
        if match is None:
            return cls(text)
        first = int(match["first"])
        last = int(match["last"] or first)
        return cls(match["path"], min(first, last), max(first, last))

    def __str__(self) -> str:
        if not self.first:
            return self.path
        return (
            f"{self.path}:{self.first}"
            if self.first == self.last
            else f"{self.path}:{self.first}-{self.last}"
        )


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody is about to do, from which it follows what they need to see (rules T-1 and T-2).

    Attributes:
        text: In the user's words: a question, a ticket, a commit message, a traceback; may be empty.
        focus: Files and places that are shown whatever they cost, and from which ranking starts.
        symbols: Names of definitions, such as ``name`` or ``Class.name``.
        since: A git revision: what has changed since then is a seed.
    """

    text: str = ""
    focus: tuple[Place, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str = ""
