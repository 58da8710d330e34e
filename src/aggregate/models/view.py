"""A file to be shown, and a file as shown: its text and where each line of it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


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
    spans: tuple[Span, ...] = ()
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
        return (
            self.text,
            tuple(number for span in self.spans for number in span),
            self.language,
            self.problems,
        )

    @classmethod
    def unpack(cls, packed: "PackedView") -> "View":
        """Return the view that ``pack`` made plain."""
        text, numbers, language, problems = packed
        spans = tuple(map(Span, numbers[::4], numbers[1::4], numbers[2::4], numbers[3::4]))
        return cls(text, spans, language, problems)


PackedView = tuple[str, tuple[int, ...], str, tuple[str, ...]]
"""Text, the four numbers of each span, language, problems."""


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
