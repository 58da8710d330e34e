"""A prompt's lines with their text, colours and origins, and its outline."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
from typing import Any, Final

from aggregate.panel.colours import fenced_colours
from aggregate.prompt import Composition, PromptTokens
from aggregate.prompt.document import Origin, OriginKind, Section, Segment

_MOST_LINES: Final = 2_000  # per request: many screens
# Title of each section, and the kind of its parts.
_SECTIONS: Final = {
    Section.PROJECT: ("Project", ""),
    Section.TREE: ("Tree", ""),
    Section.CHANGED: ("Changed files", "file"),
    Section.SCREENSHOTS: ("Screenshots", "screenshots"),
    Section.BEADS: ("Beads", "beads"),
    Section.RESULTS: ("Results", "result"),
    Section.HISTORY: ("Discussion", "turn"),
    Section.FILES: ("Files", "file"),
    Section.INSTRUCTIONS: ("Instructions", ""),
    Section.ATTACHED: ("Attached", "attached"),
    Section.CHANGES: ("Changes", "file"),
    Section.TASK: ("Task", ""),
}


class PromptLines:
    """A prompt's lines with text, colours and origins; 1-based and separated by line feeds."""

    def __init__(self, composition: Composition, tokens: PromptTokens) -> None:
        self._segments = composition.prompt.segments
        self._tokens = tokens
        self._files = frozenset(file.path for file in composition.files)
        self._map = composition.source_map
        heights = (segment.text.count("\n") + 1 for segment in self._segments)
        # Segments are separated by a blank line.
        self._starts = array("Q", accumulate((height + 1 for height in heights), initial=1))
        self.count = max(self._starts[-1] - 2, 0) if self._segments else 0
        self.size = sum(map(len, composition.prompt.pieces()))

    def last_line(self, segment: int) -> int:
        return int(self._starts[segment + 1] - 2)

    def where(self, path: str, line: int) -> int:
        """Return the prompt's line for a line of a file.

        If the line is not shown, return the first line of the file's part, else 0.
        """
        prompt_line = self._map.find(path, line)
        if prompt_line is not None:
            return prompt_line
        return next((start for start, _ in self._map.runs_of(path)), 0)

    def data(self, revision: int, first: int, last: int) -> dict[str, Any]:
        first = max(first, 1)
        last = min(last, first + _MOST_LINES - 1, self.count)
        origins = self._origins(first, last)
        return {
            "revision": revision,
            "first": first,
            "lines": self._between(first, last, lambda text: text.split("\n")),
            "colours": self._between(first, last, fenced_colours),
            "origins": [self._source_line(origin) for origin in origins],
            "kinds": [origin.kind.value for origin in origins],
            "stands_for": [origin.stands_for for origin in origins],
        }

    def _between(self, first: int, last: int, convert: Callable[[str], Sequence[str]]) -> list[str]:
        """Return the values of lines ``first`` to ``last``; ``convert`` gives those of a segment."""
        if first > last:
            return []
        lines: list[str] = []
        number = bisect_right(self._starts, first) - 1
        start = int(self._starts[number])
        while number < len(self._segments) and self._starts[number] <= last:
            lines += [*convert(self._segments[number].text), ""]
            number += 1
        return lines[first - start : last - start + 1]

    def _origins(self, first: int, last: int) -> list[Origin]:
        origins: list[Origin] = []
        end = 0
        for run in self._map.runs:
            start, end = end + 1, end + run.lines
            lines = range(max(first, start), min(last, end) + 1)
            origins += [run.origin(line - start) for line in lines]
            if end >= last:
                break
        return origins

    def _source_line(self, origin: Origin) -> list[str | int] | None:
        """Return the file and line that a prompt's line shows, None if it shows no file."""
        is_file = origin.kind in (OriginKind.FILE, OriginKind.GENERATED)
        return [origin.source, origin.first] if is_file and origin.source in self._files else None

    def sections(self) -> list[dict[str, Any]]:
        """Return the rows of the outline: sections, and the parts below each."""
        rows: list[dict[str, Any]] = []
        start = 0
        for section, group in groupby(self._segments, key=lambda segment: segment.section):
            segments = list(group)
            title, kind = _SECTIONS[section]
            rows.append(self._row(title, "section", start, start + len(segments)))
            for i, segment in enumerate(segments, start):
                is_turn = section is Section.HISTORY and i > start
                if kind and (segment.source or is_turn):
                    rows.append(self._row(_title(segment), kind, i, i + 1))
            start += len(segments)
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
    if segment.section in (Section.FILES, Section.CHANGED, Section.CHANGES):
        return segment.source
    heading = next((line for line in segment.text.split("\n") if line.startswith("#")), "")
    return heading.lstrip("# ") or segment.source
