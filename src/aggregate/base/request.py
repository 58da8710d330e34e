"""What a prompt is asked for, a task and a budget, and what was decided of each file for it (rule A-1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple


class FileOrder(StrEnum):
    """The order of the files of a prompt (rule B-8)."""

    AUTO = "auto"  # by relevance in a finished prompt without a discussion, else as configured
    CONFIGURED = "configured"
    RELEVANCE = "relevance"
    EDGES = "edges"


@dataclass(frozen=True, slots=True)
class Budget:
    """A maximum for the whole prompt (rule B-1)."""

    tokens: int  # the most o200k tokens of the markdown
    history: float = 0.2  # the part of what pins leave that the discussion may take at most
    results: float = 0.2  # the part of what pins leave that sub-agents' results may claim at least
    order: FileOrder = FileOrder.AUTO


_LINES = re.compile(r"(?P<path>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or lines of one."""

    path: str  # as the user wrote it, or relative to the base directory
    first: int = 0  # the first line, 1-based; ``0`` for the whole file
    last: int = 0  # the last line, inclusive; ``0`` for the whole file

    @classmethod
    def parse(cls, text: str) -> "Place":
        match = _LINES.fullmatch(text)
        if match is None:
            return cls(text)
        first, last = sorted((int(match["first"]), int(match["last"] or match["first"])))
        return cls(match["path"], first, last)

    def __str__(self) -> str:
        if not self.first:
            return self.path
        end = "" if self.first == self.last else f"-{self.last}"
        return f"{self.path}:{self.first}{end}"


class Pick(NamedTuple):
    """A file that a second look names, or a definition of it."""

    path: str
    definition: str = ""  # such as ``name`` or ``Class.name``, ``""`` for the file
    confidence: float = 1.0  # that it matters, ``0`` to ``1``
    why: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody is about to do, from which it follows what they need to see (rules T-1 and T-2)."""

    # In the user's words: a question, a ticket, a commit message, a traceback; may be empty.
    text: str = ""
    # Files and places that are shown whatever they cost, and from which ranking starts.
    focus: tuple[Place, ...] = ()
    symbols: tuple[str, ...] = ()  # names of definitions, such as ``name`` or ``Class.name``
    since: str = ""  # A git revision: what has changed since then is a seed
    # What a second look names of the likeliest files, which pins nothing; and who was asked, for how much (rule T-10).
    picks: tuple[Pick, ...] = ()
    expected: tuple[str, ...] = ()  # words of the project that a second look adds to the task's
    look: tuple[str, ...] = ()
    is_strict: bool = False  # nothing is composed where no focus or no symbol matches anything


class Given(NamedTuple):
    """A text that the user adds to a prompt (rule T-8)."""

    title: str  # what it is, such as the output of a command
    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """What a prompt says beside what it shows of the project (rules T-7 and T-8)."""

    # Whether one for a task within a budget begins with the project's name and ends with the task.
    has_frame: bool = True
    # With a budget: the git revision since which it shows what has changed, ``""`` for none.
    changes: str = ""
    instructions: tuple[Given, ...] = ()  # at most one
    attached: tuple[Given, ...] = ()
    line_numbers: bool = False


AUTO: Final = "auto"  # a budget that follows from the model

Amount = int | Literal["auto"]

# The largest budget: a thousand times what models read, so that whatever is larger is a slip of the keyboard.
MOST_TOKENS: Final = 1_000_000_000

_HINT: Final = f"must be a number of tokens from 1 to {MOST_TOKENS:,}, such as 32000, 32k or 1.5m"

_NUMBER: Final = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,3}(?:_[0-9]{3}){1,3}|[0-9]{1,12})"
    r"(?:\.(?P<part>[0-9]{1,6}))?(?P<unit>[km]?)",
    re.IGNORECASE,
)

_ZEROS: Final = {"": 0, "k": 3, "m": 6}


def parse_amount(value: object) -> Amount:
    try:
        return AUTO if value == AUTO else parse_number(value)
    except ValueError:
        raise ValueError(f"{_HINT}, or {AUTO}") from None


def parse_number(value: object) -> int:
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())):
        part = (match["part"] or "").rstrip("0")
        zeros = _ZEROS[match["unit"].lower()] - len(part)
        if zeros >= 0 and (match["unit"] or not match["part"]):
            value = int(re.sub("[_,]", "", match["whole"]) + part) * 10**zeros
    if type(value) is not int or not 1 <= value <= MOST_TOKENS:
        raise ValueError(_HINT)
    return value


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
    # SHA-256 of the file's bytes in hexadecimal digits, ``""`` where none of it is shown.
    content_hash: str = ""
    # Tokens of the whole file, as far as they are known or estimated from its characters.
    size: int = 0
    # Those that are shown, of the most that may be: of the file's own lines where it may be shown in full, else of
    # those of its view.
    lines: Lines = ()


class Missing(NamedTuple):
    evidence: str
    reason: str


class Guess(NamedTuple):
    """A choice of files for a task that tells of no place (rule T-9)."""

    reason: str
    proposals: tuple[str, ...] = ()  # the likeliest definitions and files, the best first

    @property
    def sentence(self) -> str:
        areas = f"; likely areas: {', '.join(self.proposals)}" if self.proposals else ""
        return f"{self.reason}{areas}"


def doubts(missing: Sequence[Missing], guess: Guess | None) -> list[str]:
    """Return a sentence for each name that stands for nothing or for another (rules T-2 and T-9), and for a guess."""
    names = [gap.reason for gap in missing if gap.evidence in ("symbol", "spelling", "changes")]
    return [*names, *([f"the choice is a guess: {guess.sentence}"] if guess else [])]


class SentFile(NamedTuple):
    path: str
    level: Level
    lines: Lines = ()
    content_hash: str = ""  # with another one ``lines`` name other lines now
    tokens: int = 0
