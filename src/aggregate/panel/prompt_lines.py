"""The lines of a prompt and where each comes from, without a copy of its text."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from aggregate.base.values import Origin, OriginKind, Prompt, Section, Segment, SourceMap
from aggregate.panel.protocol import LinesData, SectionData
from aggregate.prompt import Composition, PromptTokens

MOST_LINES = 2_000
"""Lines that are given at once: many screens."""
_TITLES = {
    Section.CHANGED: "Changed files",
    Section.SCREENSHOTS: "Screenshots",
    Section.BEADS: "Beads",
    Section.RESULTS: "Results",
    Section.HISTORY: "Discussion",
    Section.FILES: "Files",
}


class PromptLines:
    """A prompt by its lines, which are those that a line feed ends."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._prompt: Prompt = composition.prompt
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map: SourceMap = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._prompt.segments)
        # A blank line parts two segments.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._prompt.segments else 0
        self.size = sum(map(len, self._prompt.pieces()))
        self._ends = array("Q", accumulate(self._map.runs.numbers[::5]))

    def first_line(self, segment: int) -> int:
        """Return the first line of the segment with a number, from ``0``."""
        return int(self._starts[segment])

    def last_line(self, segment: int) -> int:
        """Return its last line."""
        return int(self._starts[segment + 1] - 2)

    def between(self, first: int, last: int) -> list[str]:
        """Return the lines from ``first`` to ``last``, as far as there are such lines."""
        first, last = max(first, 1), min(last, self.count)
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = self.first_line(number)
        while number < len(self._prompt.segments) and self._starts[number] <= last:
            lines += [*self._prompt.segments[number].text.split("\n"), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def origins(self, first: int, last: int) -> Iterator[Origin]:
        """Yield where these lines come from."""
        line, last = max(first, 1), min(last, self.count)
        index = bisect_right(self._ends, line - 1)
        while line <= last and index < len(self._ends):
            run = self._map.runs[index]
            start = int(self._ends[index]) - run.lines + 1
            yield from (
                run.origin(each - start)
                for each in range(line, min(int(self._ends[index]), last) + 1)
            )
            line = int(self._ends[index]) + 1
            index += 1

    def where(self, path: str, line: int) -> int:
        """Return the line of the prompt that shows or stands for a file's line; else the file's first, else ``0``."""
        shown = self._map.find(path, line)
        if shown is not None:
            return shown
        return next((start for start, _ in self._map.runs_of(path)), 0)

    def data(self, revision: int, first: int, last: int) -> LinesData:
        """Return some lines as the page takes them."""
        first = max(first, 1)
        last = min(last, first + MOST_LINES - 1)
        origins = list(self.origins(first, last))
        return {
            "revision": revision,
            "first": first,
            "lines": self.between(first, last),
            "origins": [self._place(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _place(self, origin: Origin) -> list[str | int] | None:
        is_kind = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_kind and origin.source in self._files else None

    def sections(self) -> list[SectionData]:
        """Return what folds: the sections, and what each holds."""
        rows: list[SectionData] = []
        segments = self._prompt.segments
        starts = [
            i for i, each in enumerate(segments) if not i or each.section != segments[i - 1].section
        ]
        for start, end in zip(starts, [*starts[1:], len(segments)], strict=False):
            rows.append(self._row(_TITLES[segments[start].section], "section", start, end, 0))
            rows += [
                self._row(_title(segments[i]), _kind(segments[i]), i, i + 1, 1)
                for i in range(start, end)
                if segments[i].source or (segments[i].section is Section.HISTORY and i > start)
            ]
        return rows

    def _row(self, title: str, kind: str, start: int, end: int, depth: int) -> SectionData:
        return {
            "title": title,
            "kind": kind,
            "source": self._prompt.segments[start].source if depth else "",
            "first": self.first_line(start),
            "last": self.last_line(end - 1),
            "tokens": sum(self._tokens.segments[start:end]),
            "depth": depth,
        }


def _title(segment: Segment) -> str:
    if segment.section in (Section.FILES, Section.CHANGED):
        return segment.source
    heading = next((line for line in segment.text.split("\n") if line.startswith("#")), "")
    return heading.lstrip("# ") or segment.source


def _kind(segment: Segment) -> str:
    kinds: dict[Section, str] = {
        Section.FILES: "file",
        Section.CHANGED: "file",
        Section.HISTORY: "turn",
        Section.RESULTS: "result",
    }
    return kinds.get(segment.section, segment.section.value)
