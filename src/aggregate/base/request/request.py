"""A task, a budget, and numbers of tokens as users write them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal


class FileOrder(StrEnum):
    CONFIGURED = "configured"
    EDGES = "edges"


@dataclass(frozen=True, slots=True)
class Budget:
    """A maximum for the whole prompt (rule B-1)."""

    tokens: int  # the most o200k tokens of the markdown
    history: float = 0.2  # the part of what pins leave that the discussion may take at most
    results: float = 0.2  # the part of what pins leave that sub-agents' results may take at most
    order: FileOrder = FileOrder.CONFIGURED


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


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody is about to do, from which it follows what they need to see (rules T-1 and T-2)."""

    # In the user's words: a question, a ticket, a commit message, a traceback; may be empty.
    text: str = ""
    # Files and places that are shown whatever they cost, and from which ranking starts.
    focus: tuple[Place, ...] = ()
    symbols: tuple[str, ...] = ()  # names of definitions, such as ``name`` or ``Class.name``
    since: str = ""  # A git revision: what has changed since then is a seed


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
