"""A file to be shown, and a file as shown: its text and where each line of it came from."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, overload


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
    """A run of consecutive lines of a view that stands for a run of lines of the file.

    All four numbers are 1-based and inclusive. Where both runs have one length they map line by line; otherwise the
    whole run of the view (a placeholder, an outline's row) stands for the whole run of the file.
    """

    start: int
    end: int
    source_start: int
    source_end: int


_SPAN = struct.Struct("<4I")


class PackedSpans(Sequence[Span]):
    """Spans as the bytes of their numbers: most are never looked at, and each object takes a while to make.

    Args:
        data: Four unsigned numbers of 32 bits for each span, little-endian.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, spans: Sequence[Span]) -> "PackedSpans":
        """Return ``spans`` packed."""
        if isinstance(spans, PackedSpans):
            return spans
        numbers = [number for span in spans for number in span]
        return cls(struct.pack(f"<{len(numbers)}I", *numbers))

    def __len__(self) -> int:
        return len(self.data) // _SPAN.size

    @overload
    def __getitem__(self, index: int) -> Span: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Span, ...]: ...

    def __getitem__(self, index: int | slice) -> Span | tuple[Span, ...]:
        return tuple(self)[index]

    def __iter__(self) -> Iterator[Span]:
        return map(Span._make, _SPAN.iter_unpack(self.data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class View:
    """A file as a model sees it.

    Attributes:
        text: The rendered text.
        spans: Where its lines come from, in order; lines that come from nowhere (a digest's prose) are not covered.
        language: The language tag for the fence around it, ``""`` for none.
        problems: What was asked for and could not be shown, one line each; the text says so too.
    """

    text: str
    spans: Sequence[Span] = ()
    language: str = ""
    problems: tuple[str, ...] = ()

    def source_line(self, line: int) -> int | None:
        """Return the 1-based line of the file behind the 1-based ``line`` of the view, or ``None``."""
        for span in self.spans:
            if span.start <= line <= span.end:
                same_length = span.end - span.start == span.source_end - span.source_start
                return span.source_start + (line - span.start if same_length else 0)
        return None

    def pack(self) -> "PackedView":
        """Return the view as plain values, which cross to another process ten times as fast as objects do."""
        return self.text, PackedSpans.of(self.spans).data, self.language, self.problems

    @classmethod
    def unpack(cls, packed: "PackedView") -> "View":
        """Return the view that ``pack`` made plain."""
        text, spans, language, problems = packed
        return cls(text, PackedSpans(spans), language, problems)


PackedView = tuple[str, bytes, str, tuple[str, ...]]
"""Text, spans as ``PackedSpans`` holds them, language, problems."""


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """A file's text and how to show it.

    Attributes:
        path: The file's path, of which the name and suffix decide the language.
        text: The decoded text.
        mode: The view.
        mask: For ``MASKED``: symbol path to ``"def"``, ``"sig"`` or ``"hide"``.
        slices: For ``CUSTOM``: the slices as the user's files hold them.
    """

    path: str
    text: str
    mode: ViewMode
    mask: Mapping[str, str] = field(default_factory=dict)
    slices: Sequence[Mapping[str, Any]] = ()
