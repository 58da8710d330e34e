"""Files of a prompt: settings, views and their source lines."""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypedDict


class ViewMode(StrEnum):
    """The seven ways to show a file."""

    FULL = "full"
    SUMMARY = "summary"
    SKELETON = "skeleton"
    OUTLINE = "outline"
    MASKED = "masked"
    CUSTOM = "custom"
    NONE = "none"

    @classmethod
    def parse(cls, value: object) -> "ViewMode":
        """Return the mode named by ``value``; unknown or empty values mean ``SUMMARY`` (rule M-X1)."""
        return _MODES.get(str(value).strip().lower(), cls.SUMMARY)


_MODES = {mode.value: mode for mode in ViewMode}


Run = tuple[int, int]  # first and last line, 1-based and inclusive
ALL_LINES: Run = (1, 1 << 31)  # more lines than any file has


def as_runs(numbers: Iterable[int]) -> list[Run]:
    runs: list[Run] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def marked_runs(
    marks: bytes | bytearray, value: int = 1, first: int = 1, last: int | None = None
) -> list[Run]:
    """Return the lines from ``first`` to ``last`` whose mark is ``value``, as runs."""
    runs: list[Run] = []
    stop = len(marks) if last is None else last
    start = marks.find(value, first - 1, stop)
    while start >= 0:
        end = marks.find(1 - value, start, stop)
        end = stop if end < 0 else end
        runs.append((start + 1, end))
        start = marks.find(value, end, stop)
    return runs


class Span(NamedTuple):
    """A mapping from lines of a view to source lines.

    Line numbers are 1-based and inclusive. Two ranges of equal length correspond line by line. Otherwise the view's
    lines, such as a placeholder or a row of an outline, represent the whole range of the file.
    """

    start: int
    end: int
    source_start: int
    source_end: int


def source_lines(spans: Iterable[Span]) -> dict[int, int]:
    """Return the file's line for each line of a view that shows one."""
    return {
        span.start + offset: span.source_start + offset
        for span in spans
        if span.end - span.start == span.source_end - span.source_start
        for offset in range(span.end - span.start + 1)
    }


def composed_spans(outer: Sequence[Span], inner: Sequence[Span]) -> list[Span]:
    """Combine the mappings of two successive views into one.

    ``outer`` maps the second view to the first, ``inner`` the first view to the file. Lines without a source get no
    span.
    """
    composed: list[Span] = []
    ordered = sorted(inner)
    starts = [part.start for part in ordered]
    ends = list(accumulate((part.end for part in ordered), max))
    for span in outer:
        near = ordered[bisect_left(ends, span.source_start) : bisect_right(starts, span.source_end)]
        overlapping = [part for part in near if part.end >= span.source_start]
        if not overlapping:
            continue
        if span.end - span.start != span.source_end - span.source_start:  # a placeholder
            sources = [_source_of(part, span.source_start, span.source_end) for part in overlapping]
            first = min(start for start, _ in sources)
            last = max(end for _, end in sources)
            composed.append(Span(span.start, span.end, first, last))
            continue
        offset = span.start - span.source_start
        for part in overlapping:
            start = max(span.source_start, part.start) + offset
            end = min(span.source_end, part.end) + offset
            source = _source_of(part, span.source_start, span.source_end)
            composed.append(Span(start, end, *source))
    return composed


def _source_of(part: Span, first: int, last: int) -> tuple[int, int]:
    """Return the source lines of lines ``first`` to ``last`` within a span."""
    if part.end - part.start != part.source_end - part.source_start:
        return part.source_start, part.source_end
    offset = part.source_start - part.start
    return max(first, part.start) + offset, min(last, part.end) + offset


_SPAN = struct.Struct("<4I")


class PackedSpans(Sequence[Span]):
    """Spans stored as bytes and decoded on use, since most are never read."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, spans: Sequence[Span]) -> "PackedSpans":
        if isinstance(spans, PackedSpans):
            return spans
        if not spans:
            return cls(b"")
        return cls(b"".join(_SPAN.pack(*span) for span in spans))

    def __len__(self) -> int:
        return len(self.data) // _SPAN.size

    def __getitem__(self, index: int) -> Span:  # type: ignore[override] # never sliced
        return tuple(self)[index]

    def __iter__(self) -> Iterator[Span]:
        return map(Span._make, _SPAN.iter_unpack(self.data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class View:
    """A file's text in one view mode, with source lines."""

    text: str
    spans: Sequence[Span] = ()  # in order; none for lines without a source (a digest's prose)
    language: str = ""  # the fence's language tag, ``""`` for none
    problems: tuple[str, ...] = ()  # requested parts not shown; the text says so too

    def source_line(self, line: int) -> int | None:
        for span in self.spans:
            if span.start <= line <= span.end:
                same_length = span.end - span.start == span.source_end - span.source_start
                return span.source_start + (line - span.start if same_length else 0)
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return View, (self.text, PackedSpans.of(self.spans), self.language, self.problems)


@dataclass(frozen=True, slots=True)
class ViewRequest:
    path: str  # its name and suffix decide the language
    text: str
    mode: ViewMode
    mask: Mapping[str, str] = field(default_factory=dict)  # symbol path to "def", "sig" or "hide"
    slices: Sequence[Mapping[str, Any]] = ()  # as in the user's files


class ShownText(NamedTuple):
    source: str  # the file's text, secrets replaced; ``""`` if it was not read
    spans: Sequence[Span] | None = None  # None if the content is the text itself
    redacted: Sequence[tuple[int, int]] = ()  # runs of lines with replaced secrets
    is_message: bool = False  # the content is a message instead of the file
    is_numbered: bool = False  # lines begin with their numbers in the file


class FileRecord(TypedDict):
    """A rendered file in the result of ``build_file_items`` (rule M-5).

    ``path`` is relative to the base directory with ``/``, also for files outside of it (``../other/c.py``). ``content``
    is the view or the error text. ``source`` is the decoded file, ``""`` if it cannot be read. ``spans`` map lines of
    ``content`` to the file; a file shown in full needs none.
    """

    path: str
    entry: str
    content: str
    source: str
    mtime: float
    error: bool
    view_mode: str
    auto_aggregate: bool
    force_full: bool
    tier: int | None
    ast_mask: dict[str, str]
    custom_slices: list[dict[str, Any]]
    language: str
    spans: tuple[Span, ...]


@dataclass
class FileItem:
    """Settings of the files matching a path or glob (rule M-40)."""

    path: str  # relative to the base directory, absolute, or a glob
    auto_aggregate: bool = True  # ``False``: in the items, not in the markdown
    force_full: bool = False  # raw text, overrides view mode and strategy
    view_mode: str = "full"  # one of the seven modes; unknown or empty means ``summary``
    selected: bool = False  # for batch operations of a user interface
    ast_signatures: bool = False  # shortcut for the skeleton view
    ast_definitions: bool = False  # shortcut for the skeleton view
    # ``{symbol path: "def" | "sig" | "hide"}`` for the masked view.
    ast_mask: dict[str, str] = field(default_factory=dict)
    # Runs of lines for the custom view, with ``tag`` and ``comment``.
    custom_slices: list[dict[str, Any]] = field(default_factory=list)
    injected_at: float | None = None  # Unix time of the last injection

    def __post_init__(self) -> None:
        self.custom_slices = [
            {"tag": None, "comment": None, **piece} for piece in self.custom_slices
        ]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, entry: "FileItem | str | Mapping[str, Any]") -> "FileItem":
        if isinstance(entry, FileItem):
            return entry
        return cls(path=entry) if isinstance(entry, str) else cls.from_dict(entry)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FileItem":
        """Build an item from a mapping; ignore unknown keys and None values."""
        names = {item_field.name for item_field in fields(cls)}
        values = {key: value for key, value in data.items() if key in names and value is not None}
        return cls(**{"path": "", **values})


class GeneratedView(StrEnum):
    NAME = "name"
    OUTLINE = "outline"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Restriction to some files by command-line arguments (rule T-13)."""

    paths: tuple[str, ...] = ()  # files and globs, relative to the base directory; ``()`` for all
    include: tuple[str, ...] = ()  # patterns as in ``.gitignore``; ``()`` for all
    exclude: tuple[str, ...] = ()
    folder: str = ""  # base of the patterns: ``""`` for the base directory, or ``a/b/``


# A caller's file: an item, a path or glob, or a mapping with the fields of an item and ``tier``.
FileEntry = FileItem | str | Mapping[str, Any]


FOCUS_TIER: Final = 3
"""Tier of the focus files in a worker's context (rule M-X11)."""


@dataclass(frozen=True, slots=True)
class Entry:
    item: FileItem
    tier: int | None = None  # ``FOCUS_TIER`` marks a focus file
    view_mode: ViewMode = field(init=False)

    def __post_init__(self) -> None:
        # Here, once for all files of a glob.
        mode = ViewMode.parse(self.item.view_mode)
        if self.item.force_full:
            mode = ViewMode.FULL
        elif mode is ViewMode.FULL and (self.item.ast_signatures or self.item.ast_definitions):
            mode = ViewMode.SKELETON
        object.__setattr__(self, "view_mode", mode)

    @classmethod
    def of(cls, entry: FileEntry) -> "Entry":
        """Convert a path, glob, mapping or item to an ``Entry``."""
        tier = entry.get("tier") if isinstance(entry, Mapping) else None
        return cls(FileItem.of(entry), tier if isinstance(tier, int) else None)

    def in_mode(self, mode: ViewMode) -> "Entry":
        entry = Entry(self.item, self.tier)
        object.__setattr__(entry, "view_mode", mode)
        return entry
