"""A file of a prompt: how it is to be shown, what it holds, and where each line that is shown came from."""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple, TypedDict, cast

from aggregate.base.redaction import Finding


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
        """Return the mode that ``value`` names; unknown or empty values mean ``SUMMARY`` (rule M-X1)."""
        return _MODES.get(str(value).strip().lower(), cls.SUMMARY)


_MODES = {mode.value: mode for mode in ViewMode}


class Span(NamedTuple):
    """A run of consecutive lines of a view that stands for a run of lines of the file, 1-based and inclusive.

    Where both runs have one length they map line by line; otherwise the whole run of the view (a placeholder, an
    outline's row) stands for the whole run of the file.
    """

    start: int
    end: int
    source_start: int
    source_end: int


def source_lines(spans: Iterable[Span]) -> dict[int, int]:
    """Return the file's line of each line of a view that stands for one line."""
    return {
        span.start + offset: span.source_start + offset
        for span in spans
        if span.end - span.start == span.source_end - span.source_start
        for offset in range(span.end - span.start + 1)
    }


def composed_spans(outer: Sequence[Span], inner: Sequence[Span]) -> list[Span]:
    """Return where ``outer``, which leads to a view, leads through ``inner``, from there to the file.

    Lines that come from nowhere stay without a span.
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
        if span.end - span.start != span.source_end - span.source_start:  # a line of dots
            sources = [_shown_by(part, span.source_start, span.source_end) for part in overlapping]
            first = min(start for start, _ in sources)
            last = max(end for _, end in sources)
            composed.append(Span(span.start, span.end, first, last))
            continue
        offset = span.start - span.source_start
        for part in overlapping:
            start = max(span.source_start, part.start) + offset
            end = min(span.source_end, part.end) + offset
            shown = _shown_by(part, span.source_start, span.source_end)
            composed.append(Span(start, end, *shown))
    return composed


def _shown_by(part: Span, first: int, last: int) -> tuple[int, int]:
    """Return the lines of the file that those of ``part`` stand for which lie within these lines of the view."""
    if part.end - part.start != part.source_end - part.source_start:
        return part.source_start, part.source_end
    offset = part.source_start - part.start
    return max(first, part.start) + offset, min(last, part.end) + offset


_SPAN = struct.Struct("<4I")


class PackedSpans(Sequence[Span]):
    """Spans as the bytes of their numbers: most are never looked at, and each object takes a while to make."""

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

    def __getitem__(self, index: int) -> Span:  # type: ignore[override] # nobody slices it
        return tuple(self)[index]

    def __iter__(self) -> Iterator[Span]:
        return map(Span._make, _SPAN.iter_unpack(self.data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class View:
    """A file as a model sees it."""

    text: str
    # Where its lines come from, in order; lines that come from nowhere (a digest's prose) are not covered.
    spans: Sequence[Span] = ()
    language: str = ""  # the language tag for the fence around it, ``""`` for none
    # What was asked for and could not be shown, one line each; the text says so too.
    problems: tuple[str, ...] = ()

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
    slices: Sequence[Mapping[str, Any]] = ()  # as the user's files hold them


class ShownText(NamedTuple):
    source: str  # the file's text, secrets replaced; ``""`` where it was not read
    spans: Sequence[Span] | None = None  # ``None`` where the content is the text itself
    redacted: Sequence[tuple[int, int]] = ()  # runs of lines in which secrets were replaced
    is_message: bool = False  # the content says why the file is not shown
    is_numbered: bool = False  # lines begin with their numbers in the file


class FileRecord(TypedDict):
    """One file after reading and rendering: what ``build_file_items`` returns (rule M-5).

    ``path`` is relative to the base directory with ``/``, also where the file lies outside (``../other/c.py``).
    ``content`` is the rendered view or the error text. ``source`` is the decoded text of the file, ``""`` where it
    could not be read. ``spans`` map the lines of ``content`` to lines of the file; a file in full has none, its lines
    are its own.
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
    """How one file (or every file of a glob) is shown: the per-file curation memory (rule M-40)."""

    path: str  # relative to the base directory, absolute, or a glob
    auto_aggregate: bool = True  # ``False`` keeps the file in the items but out of the markdown
    force_full: bool = False  # show the raw text whatever the view mode or strategy says
    view_mode: str = "full"  # one of the seven modes; unknown or empty means ``summary``
    selected: bool = False  # for batch operations of a user interface
    ast_signatures: bool = False  # shortcut for the skeleton view
    ast_definitions: bool = False  # shortcut for the skeleton view
    # ``{symbol path: "def" | "sig" | "hide"}`` for the masked view.
    ast_mask: dict[str, str] = field(default_factory=dict)
    # Runs of lines for the custom view; each gets ``tag`` and ``comment``.
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
        """Build an item from a mapping; unknown keys are ignored, missing ones and ``None`` take the default."""
        known = {item_field.name for item_field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known and value is not None}
        return cls(**{"path": "", **values})


class FileRow(NamedTuple):
    """What is told of a file once its text is gone; its fields are those of ``RenderedFile``."""

    path: str
    entry: str
    view_mode: ViewMode
    auto_aggregate: bool
    error: bool


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """One file as a prompt shows it; a ``FileRecord`` is its public form."""

    path: str
    entry: str = ""  # the path or glob that the caller wrote
    content: str = ""  # the view, or the text that stands for a file that could not be shown
    source: str = ""
    mtime: float = 0.0  # Unix time in seconds, ``0.0`` where there is no file
    error: bool = False  # ``content`` says why the file is not shown
    view_mode: ViewMode = ViewMode.FULL  # as it was asked for
    auto_aggregate: bool = True
    force_full: bool = False
    tier: int | None = None  # ``3`` marks a focus file of a Tier 3 context
    ast_mask: Mapping[str, str] = field(default_factory=dict)
    custom_slices: Sequence[Mapping[str, Any]] = ()
    language: str = ""
    spans: Sequence[Span] = ()
    secrets: Sequence[Finding] = ()  # those that the file holds, replaced or not
    redacted: Sequence[tuple[int, int]] = ()  # runs of lines of ``source`` in which some were
    note: str = ""  # what is doubtful about its text, shown in its heading

    @property
    def shown(self) -> ShownText:
        is_raw = self.content == self.source and not self.error
        spans = None if is_raw else self.spans
        return ShownText(self.source, spans, self.redacted, self.error)

    @property
    def shown_raw(self) -> ShownText:
        return ShownText(self.source, None, self.redacted)

    @property
    def row(self) -> FileRow:
        return FileRow(self.path, self.entry, self.view_mode, self.auto_aggregate, self.error)

    def to_record(self) -> FileRecord:
        record = {name: getattr(self, name) for name in FileRecord.__annotations__}
        record["view_mode"] = self.view_mode.value
        record["ast_mask"] = dict(self.ast_mask)
        record["custom_slices"] = [dict(piece) for piece in self.custom_slices]
        record["spans"] = tuple(self.spans)
        return cast("FileRecord", record)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RenderedFile":
        """Return the file that a record describes; one written by hand may lack any key."""
        known = {name: record.get(name) for name in FileRecord.__annotations__}
        values = {name: value for name, value in known.items() if value is not None}
        values["path"] = str(record.get("path") or record.get("entry") or "")
        values["error"] = bool(record.get("error"))
        if not values["error"]:
            values.setdefault("source", values.get("content", ""))
        if "view_mode" in values:
            mode = str(values["view_mode"])
            values["view_mode"] = ViewMode(mode) if mode in [*ViewMode] else ViewMode.FULL
        return cls(**values)


class GeneratedView(StrEnum):
    NAME = "name"
    OUTLINE = "outline"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class GeneratedPolicy:
    view: GeneratedView = GeneratedView.FULL  # ``FULL`` shows each file as its entry asks
    focus_paths: frozenset[str] = frozenset()  # shown as asked
    marks: Mapping[str, bool] = field(default_factory=dict)  # what ``.gitattributes`` say by path


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Files that the command line asks for (rule T-13)."""

    paths: tuple[str, ...] = ()  # files and globs, relative to the base directory; ``()`` for all
    include: tuple[str, ...] = ()  # patterns as in ``.gitignore``; ``()`` for all
    exclude: tuple[str, ...] = ()
    folder: str = ""  # where the patterns begin: ``""`` for the base directory, or ``a/b/``


# A file as the caller may name it: an item, a path or glob, or a mapping with the fields of an item and ``tier``.
FileEntry = FileItem | str | Mapping[str, Any]


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
