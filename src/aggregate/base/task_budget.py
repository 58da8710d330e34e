"""A prompt's task, budget and choice of files (rule A-1)."""

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
    """The token limit of a whole prompt (rule B-1)."""

    tokens: int  # o200k tokens of the markdown
    history: float = 0.2  # largest share of the discussion, after pins
    results: float = 0.2  # guaranteed share of sub-agents' results, after pins
    order: FileOrder = FileOrder.AUTO


_LINES = re.compile(r"(?P<path>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a range of lines in it."""

    path: str  # as written by the user, or relative to the base directory
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


class ChangedLines(NamedTuple):
    """Lines of a file that were changed since a revision, by their current numbers."""

    path: str
    first: int = 0  # 1-based; ``0`` if the whole file is new
    last: int = 0


class Pick(NamedTuple):
    """A file or definition picked by a model from the shortlist."""

    path: str
    definition: str = ""  # such as ``name`` or ``Class.name``, ``""`` for the file
    confidence: float = 1.0  # of its relevance, 0 to 1
    why: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A user's task, used to rank files (rules T-1, T-2)."""

    # In the user's words: a question, a ticket, a commit message, a traceback; may be empty.
    text: str = ""
    focus: tuple[Place, ...] = ()  # shown at any cost, and seeds of the ranking
    symbols: tuple[str, ...] = ()  # names of definitions, such as ``name`` or ``Class.name``
    since: str = ""  # a git revision: later changes are seeds
    picks: tuple[Pick, ...] = ()  # a model's choice from the shortlist, not pinned (rule T-10)
    expected: tuple[str, ...] = ()  # words of the project added by that model
    look: tuple[str, ...] = ()  # name and price of that model
    is_strict: bool = False  # fail if a focus or symbol matches nothing


class Given(NamedTuple):
    """A text from the user with its title, such as a command's output (rule T-8)."""

    title: str  # such as the command of an output
    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """Additions to a prompt on the user's request (rules T-7 and T-8)."""

    has_frame: bool = True  # with a task and a budget: project line first, task last
    changes: str = ""  # with a budget: show changes since this git revision
    instructions: tuple[Given, ...] = ()  # at most one
    attached: tuple[Given, ...] = ()
    line_numbers: bool = False
    is_xml: bool = False  # files as XML documents


AUTO: Final = "auto"  # a budget derived from the model

Amount = int | Literal["auto"]

# A thousand times the largest context window; a larger budget is a typo.
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
    """How much of a file a prompt shows, from most to least (rule B-2)."""

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
        """Whether the prompt only names or counts the file."""
        return self in (Level.NAME, Level.LEFT_OUT)


class Reason(NamedTuple):
    kind: str  # of the evidence, such as ``"definition text"``, ``"named in the task"``, ``"changed together"``
    weight: float  # added to the file's score, comparable among all reasons of a prompt
    matched: str  # terms, a symbol, ``imports X``, ``tested by Y``, ``changed together with Z in 3 commits``


class FileChoice(NamedTuple):
    """The chosen level of one file, with score and reasons.

    A prompt has up to a hundred thousand such choices.
    """

    path: str  # as in the prompt
    entry: str  # its path or glob in the configuration
    level: Level
    most: Level  # the entry's limit
    pinned: bool = False  # shown at any cost
    tokens: int = 0  # of its segment in the prompt with the separator after it
    # Probability that the task touches it (all files together 1); None without a task.
    score: float | None = None
    rank: int | None = None  # 1-based, by score; None without a task
    reasons: tuple[Reason, ...] = ()  # the strongest first
    definitions: tuple[str, ...] = ()  # names of definitions shown in full
    next: Level | None = None  # level with another tenth of the budget; None if nothing changes
    content_hash: str = ""  # SHA-256 of the file's bytes in hexadecimal, ``""`` if not shown
    size: int = 0  # tokens of the whole file, exact or estimated from its characters
    lines: Lines = ()  # shown lines: of the file if it may be shown in full, else of its view


class Missing(NamedTuple):
    evidence: str
    reason: str


class Guess(NamedTuple):
    """Why the ranking for a vague task is a guess (rule T-9)."""

    reason: str
    proposals: tuple[str, ...] = ()  # likely definitions and files, the best first

    @property
    def sentence(self) -> str:
        areas = f"; likely areas: {', '.join(self.proposals)}" if self.proposals else ""
        return f"{self.reason}{areas}"


def doubts(missing: Sequence[Missing], guess: Guess | None) -> list[str]:
    """Return warnings about unknown or corrected names, missing grammars and a guessed ranking."""
    kinds = ("symbol", "spelling", "changes", "grammars")
    warnings = [gap.reason for gap in missing if gap.evidence in kinds]
    if guess:
        warnings.append(f"the choice is a guess: {guess.sentence}")
    return warnings


class SentFile(NamedTuple):
    path: str
    level: Level
    lines: Lines = ()
    content_hash: str = ""  # of the file to which ``lines`` refer
    tokens: int = 0
