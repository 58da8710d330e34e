"""From a prompt's segments to the origin of each of its lines (rule L-1)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from aggregate.base.text import fenced_lines
from aggregate.base.values import Label, RunCollector, Section, Segment, ShownText, SourceMap, Span
from aggregate.prompt.sections.files import file_heading
from aggregate.prompt.sections.not_shown import HEADING as NOT_SHOWN

_FENCE = re.compile(r"`{3,}[\w+#.-]*")
_EXCERPT = re.compile(r"Discussion Excerpt (\d+)")
_ESCAPE = re.compile(r"\\(.)")


def add_heading(runs: RunCollector, segment: Segment) -> None:
    """Note a segment that heads a section, and what it says below its first line."""
    first, *others = segment.text.split("\n")
    is_heading = first.startswith("#")
    runs.add(1, Label.SECTION if is_heading else Label.SECTION_NOTE, segment.section.value)
    for line in others:
        runs.add(1, Label.SECTION_NOTE if line else Label.BLANK, segment.section.value * bool(line))


def add_turn(runs: RunCollector, segment: Segment) -> None:
    """Note a turn of the discussion with its heading and the rule above it."""
    number = _EXCERPT.fullmatch(segment.source)
    if number is None:
        add_heading(runs, segment)
        return
    text = segment.text
    if text.startswith("---\n\n"):
        runs.add(1, Label.RULE)
        runs.add(1, Label.BLANK)
        text = text.removeprefix("---\n\n")
    turn = number[1]
    runs.add(1, Label.HEADING, f"turn {turn}")
    runs.add(1, Label.BLANK)
    said = text.partition("\n\n")[2]
    lines = said.count("\n") + 1
    opening = fenced_lines(said)
    if not opening:
        runs.add(lines, Label.TURN, turn)
        return
    if opening > 1:
        runs.add(1, Label.TURN, turn)  # who says it
        runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, f"turn {turn}")
    runs.add(lines - opening - 1, Label.TURN, turn)
    runs.add(1, Label.FENCE, f"turn {turn}")


def add_result(runs: RunCollector, segment: Segment) -> None:
    """Note a result of a sub-agent: what is not in a fence is on lines of its own, which none of it can break."""
    if not segment.source:
        add_heading(runs, segment)
        return
    name = segment.source
    heading, *lines = segment.text.split("\n")
    runs.add(1, Label.HEADING if heading.startswith("#") else Label.RESULT, name)
    closing = ""
    for line in lines:
        if closing:
            is_fence = line == closing
            runs.add(1, Label.FENCE if is_fence else Label.RESULT, name)
            closing = "" if is_fence else closing
        elif _FENCE.fullmatch(line):
            closing = "`" * (len(line) - len(line.lstrip("`")))
            runs.add(1, Label.FENCE, name)
        elif line:
            runs.add(1, Label.RESULT, name)
        else:
            runs.add(1, Label.BLANK)


def add_beads(runs: RunCollector, segment: Segment) -> None:
    """Note the progress track: a bead's description is indented below its bullet."""
    bead = ""
    for line in segment.text.split("\n"):
        if line.startswith("- "):
            bead = line.rpartition(" (")[2].removesuffix(")")
        elif line.startswith(("#", "Source: ", "Warning: ")):
            bead = ""
        if line.startswith("#"):
            runs.add(1, Label.SECTION, segment.section.value)
        elif line.startswith("Completed: ") and not bead:
            runs.add(1, Label.BEAD, "all that are completed")
        elif bead:
            runs.add(1, Label.BEAD, bead)
        elif line:
            runs.add(1, Label.SECTION_NOTE, segment.section.value)
        else:
            runs.add(1, Label.BLANK)


def add_screenshots(runs: RunCollector, segment: Segment) -> None:
    """Note the links to images."""
    for line in segment.text.split("\n"):
        if line.startswith("!["):
            runs.add(1, Label.SCREENSHOT, _target(line))
        elif line.startswith("#"):
            runs.add(1, Label.SECTION, segment.section.value)
        elif line:
            runs.add(1, Label.SECTION_NOTE, segment.section.value)
        else:
            runs.add(1, Label.BLANK)


def _target(link: str) -> str:
    """Return the path that an image's link leads to."""
    target = link.removesuffix(" (missing)").removesuffix(")")
    start = target.rfind("](")
    if target.endswith(">"):
        start = target.rfind("](<")
        target = _ESCAPE.sub(r"\1", target[start + 3 : -1])
    else:
        target = target[start + 2 :]
    target = unquote(target, errors="surrogateescape")
    return target.removeprefix("./")


_BEFORE_CONTENT, _AROUND_CONTENT = 3, 4
"""Lines of a file's block before its content, its heading and the opening fence, and before and behind it."""
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class SourceMapBuilder:
    """Notes where the lines of segments come from, one segment after another, and keeps none of their texts."""

    def __init__(self) -> None:
        self._runs = RunCollector()
        self._is_empty = True

    def watch(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield the segments as they are, and note each."""
        for segment in segments:
            self.add(segment)
            yield segment

    def add(self, segment: Segment) -> None:
        """Note the next segment of the prompt."""
        if not self._is_empty:
            self._runs.add(1, Label.BLANK)  # the separator
        self._is_empty = False
        if segment.section is Section.FILES:
            _add_of_files(self._runs, segment)
        elif segment.section is Section.CHANGED:
            _add_change(self._runs, segment)
        elif segment.section is Section.HISTORY:
            add_turn(self._runs, segment)
        elif segment.section is Section.RESULTS:
            add_result(self._runs, segment)
        elif segment.section is Section.BEADS:
            add_beads(self._runs, segment)
        else:
            add_screenshots(self._runs, segment)

    def build(self) -> SourceMap:
        """Return the map of all segments so far."""
        return SourceMap(self._runs.runs())


def map_sources(segments: Iterable[Segment]) -> SourceMap:
    """Return the origins of all lines of a prompt that consists of ``segments``."""
    builder = SourceMapBuilder()
    for segment in segments:
        builder.add(segment)
    return builder.build()


def _add_of_files(runs: RunCollector, segment: Segment) -> None:
    """Note a file's block, the section's heading, or the list of what is not shown."""
    if segment.source:
        _add_file(runs, segment)
    elif segment.text.startswith(NOT_SHOWN):
        runs.add(1, Label.HEADING, "the remainder")
        runs.add(segment.text.count("\n"), Label.REMAINDER)
    else:
        add_heading(runs, segment)


def _add_file(runs: RunCollector, segment: Segment) -> None:
    """Note a file's heading, its fence, and its content in it."""
    source, lines = segment.source, segment.text.count("\n") + 1
    runs.add(1, Label.HEADING, source)
    runs.add(1, Label.BLANK)
    if not _is_fenced(segment.text):  # a note stands for the content that is left out on purpose
        runs.add(lines - 2, Label.NOTE, source)
        return
    runs.add(1, Label.FENCE, source)
    shown = segment.shown
    if shown is None:  # as a cache stored it, or made by others
        runs.add(lines - _AROUND_CONTENT, Label.EARLIER, source)
    elif shown.is_message:
        runs.add(lines - _AROUND_CONTENT, Label.MESSAGE, source)
    elif shown.spans is None:
        _add_verbatim(runs, source, 1, lines - _AROUND_CONTENT, shown.redacted)
    else:
        content = segment.text.split("\n")[_BEFORE_CONTENT:-1]
        _ContentRuns(runs, source, content, shown).add(shown.spans)
    runs.add(1, Label.FENCE, source)


def _is_fenced(block: str) -> bool:
    """Tell whether a block holds a fence below its heading."""
    end = block.find("\n")
    return block.startswith("```", end + 2)


class _ContentRuns:
    """Notes the lines of one file's view."""

    def __init__(
        self, runs: RunCollector, path: str, content: Sequence[str], shown: ShownText
    ) -> None:
        self._runs = runs
        self._path = path
        self._content = content
        self._source = shown.source.split("\n") if shown.source else []
        self._redacted = shown.redacted

    def add(self, spans: Iterable[Span]) -> None:
        """Note all lines; spans that lie outside or before what was noted, as only others make them, are left out."""
        line, last = 1, 0
        lines = len(self._content)
        has_spans = False
        for span in spans:
            start, end, source_start, source_end = span  # quick: a skeleton has dozens
            if not (line <= start <= end <= lines and 1 <= source_start <= source_end):
                continue
            if line < start:
                self._add_uncovered(line, start - 1, last, source_start, is_view=True)
            self._add_span(start, end, source_start, source_end)
            line, last = end + 1, source_end
            has_spans = True
        if line <= lines:
            self._add_uncovered(line, lines, last, 0, is_view=has_spans)

    def _add_uncovered(
        self, start: int, end: int, before: int, behind: int, *, is_view: bool
    ) -> None:
        """Note lines that come from no lines of the file, between those from ``before`` and from ``behind``."""
        if not is_view:
            self._runs.add(end - start + 1, Label.SUMMARY, self._path)
            return
        for text in self._content[start - 1 : end]:
            if not text.strip():
                self._runs.add(1, Label.BLANK)
            elif _is_mark(text):
                are_known = before and before + 1 <= behind - 1
                gap = (before + 1, behind - 1) if are_known else (0, 0)
                self._runs.add(1, Label.NOT_SHOWN, self._path, *gap)
            else:
                self._runs.add(1, Label.NOTE, self._path)

    def _add_span(self, start: int, end: int, first: int, last: int) -> None:
        """Note the lines ``start`` to ``end``, which stand for those from ``first`` to ``last`` of the file."""
        content = self._content[start - 1 : end]
        if end - start != last - first:
            label = Label.NOT_SHOWN if all(map(_is_mark, content)) else Label.PART
            self._runs.add(end - start + 1, label, self._path, first, last)
            return
        source = self._source[first - 1 : last]
        if content == source:
            if self._redacted:
                _add_verbatim(self._runs, self._path, first, last, self._redacted)
            else:
                self._runs.add(end - start + 1, Label.VERBATIM, self._path, first, last)
            return
        for offset, text in enumerate(content):
            line = first + offset
            if source[offset : offset + 1] == [text]:
                _add_verbatim(self._runs, self._path, line, line, self._redacted)
            else:
                label = Label.NOT_SHOWN if _is_mark(text) else Label.PART
                self._runs.add(1, label, self._path, line, line)


def _is_mark(line: str) -> bool:
    """Tell whether a line says nothing but that something is left out, in whatever comment its language has."""
    has_ellipsis = "..." in line or "…" in line
    return has_ellipsis and not any(map(str.isalnum, line))


def _add_verbatim(
    runs: RunCollector, path: str, first: int, last: int, redacted: Sequence[tuple[int, int]]
) -> None:
    """Note lines that are as in the file, but for those in which secrets were replaced."""
    for run in redacted:
        start, end = max(run[0], first), min(run[1], last)
        if start <= end:
            runs.add(start - first, Label.VERBATIM, path, first, start - 1)
            runs.add(end - start + 1, Label.REDACTED, path, start, end)
            first = end + 1
    runs.add(last - first + 1, Label.VERBATIM, path, first, last)


def _add_change(runs: RunCollector, segment: Segment) -> None:
    """Note the diff of a file: its lines stand for those that the file has now."""
    if not segment.source:
        add_heading(runs, segment)
        return
    path = segment.source
    if not segment.text.startswith(f"{file_heading(path)} (diff)\n"):
        _add_file(runs, segment)  # as it is shown now, since a diff would be longer
        return
    content = segment.text.split("\n")[_BEFORE_CONTENT:-1]
    places = _LinesOfView(segment.shown)
    runs.add(1, Label.HEADING, path)
    runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, path)
    now = 0
    for line in content:
        hunk = _HUNK.fullmatch(line)
        if hunk:
            now = int(hunk[1])
            runs.add(1, Label.NOTE, path)
        elif line.startswith("-") or not now:
            runs.add(1, Label.REMOVED, path)
        else:
            place = places.line(now)
            if place:
                runs.add(1, Label.PART, path, place, place)
            else:
                runs.add(1, Label.NOTE, path)
            now += 1
    runs.add(1, Label.FENCE, path)


class _LinesOfView:
    """Finds the line of a file that a line of its block's content shows."""

    def __init__(self, shown: ShownText | None) -> None:
        spans = (shown.spans if shown else None) or ()
        self._is_whole = shown is None or shown.spans is None
        self._lines = {
            span.start + offset: span.source_start + offset
            for span in spans
            if span.end - span.start == span.source_end - span.source_start
            for offset in range(span.end - span.start + 1)
        }

    def line(self, number: int) -> int:
        """Return the line, ``0`` for one that shows none, such as a mark of what is left out."""
        return number if self._is_whole else self._lines.get(number, 0)
