"""What was decided about each file of a prompt, and why: what ``explain`` shows and a record keeps (rule A-1)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aggregate.base.values.prompt import Section
    from aggregate.base.values.request import Budget, Task
    from aggregate.base.values.source_map import SourceMap


class Level(StrEnum):
    """How much of a file is shown, from most to least (rule B-2); ``none``, ``masked``, ``custom`` as configured."""

    FULL = "full"
    CUSTOM = "custom"
    MASKED = "masked"
    FOCUSED = "focused"
    SKELETON = "skeleton"
    OUTLINE = "outline"
    SUMMARY = "summary"
    NAME = "name"
    LEFT_OUT = "left out"
    NONE = "none"

    @property
    def is_hidden(self) -> bool:
        """Whether nothing of the file is shown: the prompt names it at the end of the files, or only counts it."""
        return self in (Level.NAME, Level.LEFT_OUT)


class Reason(NamedTuple):
    """Why a file is relevant, in part.

    Attributes:
        kind: Of the evidence, such as ``"definition text"``, ``"named in the task"``, ``"changed together"``.
        weight: What it added to the file's score, comparable among all reasons of a prompt.
        matched: Terms, a symbol, ``imports X``, ``tested by Y``, ``changed together with Z in 3 commits``.
    """

    kind: str
    weight: float
    matched: str


class FileChoice(NamedTuple):
    """What was decided about one file; a tuple, since a large project has a hundred thousand.

    Attributes:
        path: As the prompt shows it.
        entry: The path or glob of the configuration that it belongs to.
        level: How much of it is shown.
        most: The most that its entry allows.
        pinned: Whether it is shown whatever it costs.
        tokens: Of its segment in the prompt, with the separator behind it; ``0`` where it has none.
        score: How likely the task touches it, ``0`` to ``1`` (all files together ``1``); ``None`` without a task.
        rank: 1-based place by score; ``None`` without a task.
        reasons: Why, the strongest first.
        definitions: Names of the definitions that are shown in full.
        next: The level that another tenth of the budget would buy, ``None`` where that changes nothing.
        content_hash: SHA-256 of the file's bytes in hexadecimal digits, ``""`` where it was not read.
        size: Tokens of the whole file, as far as they are known or estimated from its characters.
        lines: The runs of lines that are shown, of the most that may be: of the file's own lines where it may be shown
            in full, else of those of its view. First and last line, 1-based and inclusive.
    """

    path: str
    entry: str
    level: Level
    most: Level
    pinned: bool = False
    tokens: int = 0
    score: float | None = None
    rank: int | None = None
    reasons: tuple[Reason, ...] = ()
    definitions: tuple[str, ...] = ()
    next: Level | None = None
    content_hash: str = ""
    size: int = 0
    lines: tuple[tuple[int, int], ...] = ()


class Cut(NamedTuple):
    """Something else than a file that was shortened or left out for the budget (rule A-4).

    Attributes:
        section: ``"history"``, ``"results"``, ``"beads"`` or ``"screenshots"``.
        what: Which turn, result or list.
        tokens: How many tokens that saved.
        reason: Why, in a sentence.
    """

    section: str
    what: str
    tokens: int
    reason: str


class Missing(NamedTuple):
    """Evidence that there was none of (rule T-5).

    Attributes:
        evidence: Its kind.
        reason: Why, in a sentence.
    """

    evidence: str
    reason: str


def unknown_names(missing: Sequence[Missing]) -> list[str]:
    """Return a sentence for each name of the user's that stands for nothing (rule T-2).

    Other evidence may well be missing; what the user has named is asked for.
    """
    return [gap.reason for gap in missing if gap.evidence == "symbol"]


class SentFile(NamedTuple):
    """How much of a file was sent with the last prompt of a discussion (rule B-9).

    Attributes:
        path: As the prompt shows it.
        level: How much of it was shown.
        lines: The runs of lines that were shown, as ``FileChoice.lines``.
        content_hash: SHA-256 of the file's bytes then, in hexadecimal digits, ``""`` where it was not known. With
            another one ``lines`` name other lines now.
        tokens: Of its block in the prompt, with the separator behind it.
    """

    path: str
    level: Level
    lines: tuple[tuple[int, int], ...] = ()
    content_hash: str = ""
    tokens: int = 0


_DIGITS = 6
"""Of a score's fraction: what lies beyond may differ from one machine to the next."""


def rounded(number: float) -> float:
    """Return a number as an account holds it: finite, with few digits, and never ``-0.0``."""
    return round(number, _DIGITS) + 0.0 if math.isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The account of one prompt.

    The tokens of the rows, what is ``generated`` and the sections without files add up to ``tokens`` (rule A-2).

    Attributes:
        task: What the prompt is for, empty where nobody said so.
        budget: The most tokens that it may have, ``None`` for no limit.
        tokens: Of the whole prompt, by o200k.
        sections: Tokens of each section that is there, in order.
        generated: Tokens of the sections of files that belong to no row: headings, and what lists the files that are
            not shown.
        rows: Each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        size: Bytes of the prompt, ``0`` where it was not written.
        source_map: Where its lines come from, ``None`` where that is not recorded.
    """

    task: "Task"
    budget: "Budget | None"
    tokens: int
    sections: "Mapping[Section, int]"
    generated: int
    rows: tuple[FileChoice, ...]
    cut: tuple[Cut, ...] = ()
    missing: tuple[Missing, ...] = ()
    size: int = 0
    source_map: "SourceMap | None" = field(default=None, repr=False)
