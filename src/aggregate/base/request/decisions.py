"""What was decided about each file of a prompt, and why: what ``explain`` shows and a record keeps (rule A-1)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    pass

Lines = tuple[tuple[int, int], ...]  # runs of lines: the first and the last one, 1-based, inclusive


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
    kind: str  # of the evidence, such as ``"definition text"``, ``"named in the task"``, ``"changed together"``
    weight: float  # what it added to the file's score, comparable among all reasons of a prompt
    matched: str  # terms, a symbol, ``imports X``, ``tested by Y``, ``changed together with Z in 3 commits``


class FileChoice(NamedTuple):
    """What was decided about one file; a tuple, since a large project has a hundred thousand."""

    path: str  # as the prompt shows it
    entry: str  # the path or glob of the configuration that it belongs to
    level: Level
    most: Level  # the most that its entry allows
    pinned: bool = False  # whether it is shown whatever it costs
    # Of its segment in the prompt, with the separator behind it; ``0`` where it has none.
    tokens: int = 0
    # How likely the task touches it, ``0`` to ``1`` (all files together ``1``); ``None`` without a task.
    score: float | None = None
    rank: int | None = None  # 1-based place by score; ``None`` without a task
    reasons: tuple[Reason, ...] = ()  # why, the strongest first
    definitions: tuple[str, ...] = ()  # names of the definitions that are shown in full
    # The level that another tenth of the budget would buy, ``None`` where that changes nothing.
    next: Level | None = None
    # SHA-256 of the file's bytes in hexadecimal digits, ``""`` where it was not read.
    content_hash: str = ""
    # Tokens of the whole file, as far as they are known or estimated from its characters.
    size: int = 0
    # Those that are shown, of the most that may be: of the file's own lines where it may be shown in full, else of
    # those of its view.
    lines: Lines = ()


class Missing(NamedTuple):
    evidence: str
    reason: str


def unknown_names(missing: Sequence[Missing]) -> list[str]:
    """Return a sentence for each name of the user's that stands for nothing: what they name is asked for (T-2)."""
    return [gap.reason for gap in missing if gap.evidence == "symbol"]


class SentFile(NamedTuple):
    path: str
    level: Level
    lines: Lines = ()
    content_hash: str = ""  # with another one ``lines`` name other lines now
    tokens: int = 0
