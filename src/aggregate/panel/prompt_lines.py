"""The lines of a prompt and where each comes from, without a copy of its text."""

from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import Any, Final

from aggregate.base.values import Origin, OriginKind, Section, Segment
from aggregate.prompt import Composition, PromptTokens

_MOST_LINES: Final = 2_000
"""Lines that are given at once: many screens."""
_SECTIONS: Final = {
    Section.CHANGED: ("Changed files", "file"),
    Section.SCREENSHOTS: ("Screenshots", "screenshots"),
    Section.BEADS: ("Beads", "beads"),
    Section.RESULTS: ("Results", "result"),
    Section.HISTORY: ("Discussion", "turn"),
    Section.FILES: ("Files", "file"),
}
"""What each is called, and of what kind its parts are."""


class PromptLines:
    """A prompt by its lines, which are those that a line feed ends; the first one is 1."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._segments = composition.prompt.segments
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._segments)
        # A blank line parts two segments.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._segments else 0
        self.size = sum(map(len, composition.prompt.pieces()))

    def last_line(self, segment: int) -> int:
        return int(self._starts[segment + 1] - 2)

    def where(self, path: str, line: int) -> int:
        """Return the line of the prompt that shows or stands for a file's line; else the file's first, else ``0``."""
        shown = self._map.find(path, line)
        if shown is not None:
            return shown
        return next((start for start, _ in self._map.runs_of(path)), 0)

    def data(self, revision: int, first: int, last: int) -> dict[str, Any]:
        first = max(first, 1)
        last = min(last, first + _MOST_LINES - 1, self.count)
        origins = self._origins(first, last)
        return {
            "revision": revision,
            "first": first,
            "lines": self._between(first, last),
            "origins": [self._place(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _between(self, first: int, last: int) -> list[str]:
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = int(self._starts[number])
        while number < len(self._segments) and self._starts[number] <= last:
            lines += [*self._segments[number].text.split("\n"), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def _origins(self, first: int, last: int) -> list[Origin]:
        origins: list[Origin] = []
        end = 0
        for run in self._map.runs:
            start, end = end + 1, end + run.lines
            shown = range(max(first, start), min(last, end) + 1)
            origins += [run.origin(line - start) for line in shown]
            if end >= last:
                break
        return origins

    def _place(self, origin: Origin) -> list[str | int] | None:
        """Return the file of a line, and which of its lines that shows or stands for, ``0`` for the whole file."""
        is_kind = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_kind and origin.source in self._files else None

    def sections(self) -> list[dict[str, Any]]:
        """Return what folds: the sections, and what each holds."""
        rows: list[dict[str, Any]] = []
        segments = self._segments
        starts = [
            i for i, each in enumerate(segments) if not i or each.section != segments[i - 1].section
        ]
        for start, end in zip(starts, [*starts[1:], len(segments)], strict=False):
            title, kind = _SECTIONS[segments[start].section]
            rows.append(self._row(title, "section", start, end))
            for i in range(start, end):
                is_turn = segments[i].section is Section.HISTORY and i > start
                if segments[i].source or is_turn:
                    rows.append(self._row(_title(segments[i]), kind, i, i + 1))
        return rows

    def _row(self, title: str, kind: str, start: int, end: int) -> dict[str, Any]:
        is_section = kind == "section"
        return {
            "title": title,
            "kind": kind,
            "source": "" if is_section else self._segments[start].source,
            "first": int(self._starts[start]),
            "last": self.last_line(end - 1),
            "tokens": sum(self._tokens.segments[start:end]),
            "depth": 0 if is_section else 1,
        }


def _title(segment: Segment) -> str:
    if segment.section in (Section.FILES, Section.CHANGED):
        return segment.source
    heading = next((line for line in segment.text.split("\n") if line.startswith("#")), "")
    return heading.lstrip("# ") or segment.source
