"""What a prompt is asked for: files, presets, a task, a budget in tokens, and what may be read for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from aggregate.base.values.files import FileItem, ViewMode


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


# The options of the command line that permit it.
ALLOW_OUTSIDE, ALLOW_SECRETS = "--allow-outside", "--allow-secrets"


@dataclass(frozen=True, slots=True)
class Scope:
    root: str = ""  # the real path that a file which the project asks for must lie below
    allow_outside: bool = True
    allow_secrets: bool = True  # what looks like a secret and is named; a glob never takes it
    is_fixed: bool = False  # whoever asks cannot permit more, so that nothing tells how


class GeneratedView(StrEnum):
    NAME = "name"
    OUTLINE = "outline"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class GeneratedPolicy:
    view: GeneratedView = GeneratedView.FULL  # ``FULL`` shows each file as its entry asks
    focus_paths: frozenset[str] = frozenset()  # shown as asked
    marks: Mapping[str, bool] = field(default_factory=dict)  # what ``.gitattributes`` say by path


ContextFileEntry = FileItem  # An entry of a preset; a plain string is promoted to one
# A file as the caller may name it: an item, a path or glob, or a mapping with the fields of an item and ``tier``.
FileEntry = FileItem | str | Mapping[str, Any]


@dataclass
class ContextPreset:
    """A named set of files and screenshots (rule M-43)."""

    name: str
    # Entries; strings are promoted to ``FileItem``.
    files: list[ContextFileEntry] = field(default_factory=list)
    # Paths or globs, relative to the screenshots' base directory.
    screenshots: list[str] = field(default_factory=list)
    description: str = ""  # one line for lists
    # The most tokens of a prompt with it, such as ``32000``, ``"32k"`` or ``"auto"``; ``None`` for what the
    # configuration says (rule B-4).
    budget: int | str | None = None

    def __post_init__(self) -> None:
        self.files = [FileItem.of(entry) for entry in self.files]


@dataclass(frozen=True, slots=True)
class Entry:
    item: FileItem
    tier: int | None = None  # ``3`` marks a focus file of a Tier 3 context (rule M-X11)
    view_mode: ViewMode = field(init=False)

    def __post_init__(self) -> None:
        # Once for all the files that a glob stands for.
        mode = ViewMode.parse(self.item.view_mode)
        if self.item.force_full:
            mode = ViewMode.FULL
        elif mode is ViewMode.FULL and (self.item.ast_signatures or self.item.ast_definitions):
            mode = ViewMode.SKELETON
        object.__setattr__(self, "view_mode", mode)

    @classmethod
    def of(cls, entry: FileEntry) -> "Entry":
        """Return ``entry`` in this form; only mappings can carry a tier."""
        tier = entry.get("tier") if isinstance(entry, Mapping) else None
        return cls(FileItem.of(entry), tier if isinstance(tier, int) else None)


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
