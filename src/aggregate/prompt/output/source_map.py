"""Find the origin of each line of a prompt (rule L-1)."""

import re
from array import array
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from aggregate.base.files import ShownText, source_lines
from aggregate.prompt.document import Label, PackedRuns, Section, Segment, SourceMap
from aggregate.prompt.files.layout import file_heading, is_fenced
from aggregate.prompt.sections.not_shown import HEADING as NOT_SHOWN
from aggregate.prompt.sections.turns import fenced_lines

_FENCE = re.compile(r"`{3,}[\w+#.-]*")
_EXCERPT = re.compile(r"Discussion Excerpt (\d+)")
_ESCAPE = re.compile(r"\\(.)")
# Lines of a file's block before its content, and before and behind it.
_BEFORE_CONTENT, _AROUND_CONTENT = 3, 4
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class RunCollector:
    def __init__(self, sources: Sequence[str] = ()) -> None:
        self._places: dict[str, int] = {"": 0}
        for source in sources:
            self._places.setdefault(source, len(self._places))
        self._numbers = array("I")
        # The last run, which may still grow.
        self._lines, self._label, self._place, self._first, self._last = 0, Label.BLANK, 0, 0, 0

    def add(
        self, lines: int, label: Label, source: str = "", first: int = 0, last: int = 0
    ) -> None:
        if lines < 1:
            return
        index = self._places.get(source, -1)
        if index < 0:
            index = self._places[source] = len(self._places)
        # Both match line by line, or have no lines of a file.
        goes_on = first == self._first and self._lines > 0
        if first and self._first:
            is_exact = self._last - self._first + 1 == self._lines and last - first + 1 == lines
            goes_on = is_exact and first == self._last + 1
        if goes_on and label is self._label and index == self._place:
            self._lines += lines
            self._last = last
            return
        if self._lines:
            self._numbers.extend((self._lines, self._label, self._place, self._first, self._last))
        self._lines, self._label, self._place = lines, label, index
        self._first, self._last = first, last

    def runs(self) -> PackedRuns:
        numbers = array("I", self._numbers)
        if self._lines:
            numbers.extend((self._lines, self._label, self._place, self._first, self._last))
        return PackedRuns(tuple(self._places), numbers)


class SourceMapBuilder:
    """Collects the origins of the lines of a prompt, segment by segment, without storing texts."""

    def __init__(self) -> None:
        self._runs = RunCollector()
        self._is_empty = True

    def add(self, segment: Segment) -> None:
        if not self._is_empty:
            self._runs.add(1, Label.BLANK)  # the separator
        self._is_empty = False
        if segment.section in (Section.BEADS, Section.SCREENSHOTS):
            _add_list(self._runs, segment)
        elif (
            segment.section is Section.FILES
            and segment.text.startswith(NOT_SHOWN)
            and not segment.source
        ):
            self._runs.add(1, Label.HEADING, "the remainder")
            self._runs.add(segment.text.count("\n"), Label.REMAINDER)
        elif not segment.source:
            _add_heading(self._runs, segment)
        elif segment.section is Section.HISTORY:
            _add_turn(self._runs, segment)
        elif segment.section is Section.RESULTS:
            _add_block(self._runs, segment, Label.RESULT)
        elif segment.section in (Section.INSTRUCTIONS, Section.ATTACHED, Section.TASK):
            _add_block(self._runs, segment, Label.GIVEN)
        elif segment.text.startswith(f"{file_heading(segment.source)} (diff)\n"):
            _add_diff(self._runs, segment)
        else:
            _add_file(self._runs, segment)

    def end(self) -> SourceMap:
        """Return the map of the whole prompt; its last line feed begins another, empty line."""
        if not self._is_empty:
            self._runs.add(1, Label.BLANK)
        return self.build()

    def build(self) -> SourceMap:
        return SourceMap(self._runs.runs())


def map_sources(segments: Iterable[Segment], *, is_written: bool = False) -> SourceMap:
    builder = SourceMapBuilder()
    for segment in segments:
        builder.add(segment)
    return builder.end() if is_written else builder.build()


def _add_heading(runs: RunCollector, segment: Segment) -> None:
    first, *rest = segment.text.split("\n")
    is_heading = first.startswith("#")
    runs.add(1, Label.SECTION if is_heading else Label.SECTION_NOTE, segment.section.value)
    for line in rest:
        _add_note(runs, line, segment.section)


def _add_note(runs: RunCollector, line: str, section: Section) -> None:
    if line:
        runs.add(1, Label.SECTION if line.startswith("#") else Label.SECTION_NOTE, section.value)
    else:
        runs.add(1, Label.BLANK)


def _add_turn(runs: RunCollector, segment: Segment) -> None:
    number = _EXCERPT.fullmatch(segment.source)
    if number is None:
        _add_heading(runs, segment)
        return
    text, turn = segment.text, number[1]
    if text.startswith("---\n\n"):
        runs.add(1, Label.RULE)
        runs.add(1, Label.BLANK)
        text = text.removeprefix("---\n\n")
    runs.add(1, Label.HEADING, f"turn {turn}")
    runs.add(1, Label.BLANK)
    body = text.partition("\n\n")[2]
    lines = body.count("\n") + 1
    opening = fenced_lines(body)
    if not opening:
        runs.add(lines, Label.TURN, turn)
        return
    if opening > 1:
        runs.add(1, Label.TURN, turn)  # who says it
        runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, f"turn {turn}")
    runs.add(lines - opening - 1, Label.TURN, turn)
    runs.add(1, Label.FENCE, f"turn {turn}")


def _add_block(runs: RunCollector, segment: Segment, label: Label) -> None:
    name = segment.source
    heading, *lines = segment.text.split("\n")
    runs.add(1, Label.HEADING if heading.startswith("#") else label, name)
    closing = ""
    for line in lines:
        if closing:
            is_fence = line == closing
            runs.add(1, Label.FENCE if is_fence else label, name)
            closing = "" if is_fence else closing
        elif _FENCE.fullmatch(line):
            closing = "`" * (len(line) - len(line.lstrip("`")))
            runs.add(1, Label.FENCE, name)
        elif line:
            runs.add(1, label, name)
        else:
            runs.add(1, Label.BLANK)


def _add_list(runs: RunCollector, segment: Segment) -> None:
    """Record the origins of a list's lines: links to images, or beads with their indented descriptions."""
    bead = ""
    for line in segment.text.split("\n"):
        if line.startswith("- "):
            bead = line.rpartition(" (")[2].removesuffix(")")
        elif line.startswith(("#", "Source: ", "Warning: ")):
            bead = ""
        if line.startswith("!["):
            runs.add(1, Label.SCREENSHOT, _target(line))
        elif bead:
            runs.add(1, Label.BEAD, bead)
        elif line.startswith("Completed: "):
            runs.add(1, Label.BEAD, "all completed beads")
        else:
            _add_note(runs, line, segment.section)


def _target(link: str) -> str:
    target = link.removesuffix(" (missing)").removesuffix(")")
    if target.endswith(">"):
        target = _ESCAPE.sub(r"\1", target[target.rfind("](<") + 3 : -1])
    else:
        target = target[target.rfind("](") + 2 :]
    return unquote(target, errors="surrogateescape").removeprefix("./")


def _add_file(runs: RunCollector, segment: Segment) -> None:
    source, lines, mapping = segment.source, segment.text.count("\n") + 1, segment.shown
    is_document = segment.text.startswith("<document ")
    runs.add(1, Label.HEADING, source)
    runs.add(1, *((Label.HEADING, source) if is_document else (Label.BLANK,)))
    # Instead of content a file may have a note.
    if not is_document and not is_fenced(segment.text):
        runs.add(lines - 2, Label.NOTE, source)
        return
    runs.add(1, Label.FENCE, source)
    if mapping is None:  # as a cache stored it, or made by others
        runs.add(lines - _AROUND_CONTENT, Label.EARLIER, source)
    elif mapping.is_message:
        runs.add(lines - _AROUND_CONTENT, Label.MESSAGE, source)
    elif mapping.spans is None:
        _add_verbatim(runs, source, 1, lines - _AROUND_CONTENT, mapping)
    else:
        content = segment.text.split("\n")[_BEFORE_CONTENT:-1]
        if mapping.is_numbered:
            content = [line.partition(" | ")[2] for line in content]
        _add_view(runs, source, content, mapping)
    runs.add(1, Label.FENCE, source)


def _add_view(runs: RunCollector, path: str, content: Sequence[str], shown: ShownText) -> None:
    """Record the origins of the lines of a file's view; spans out of order are ignored."""
    source = shown.source.split("\n") if shown.source else []
    line, last, lines = 1, 0, len(content)
    for start, end, first, until in shown.spans or ():  # quick: a skeleton has dozens
        if not (line <= start <= end <= lines and 1 <= first <= until):
            continue
        _add_between(runs, path, content[line - 1 : start - 1], (last + 1, first - 1))
        _add_span(
            runs, path, content[start - 1 : end], source[first - 1 : until], (first, until), shown
        )
        line, last = end + 1, until
    if last:
        _add_between(runs, path, content[line - 1 :], (0, 0))
    else:
        runs.add(lines - line + 1, Label.SUMMARY, path)


def _add_between(
    runs: RunCollector, path: str, content: Sequence[str], gap: tuple[int, int]
) -> None:
    """Record lines of a view without lines of the file.

    Gap marks get the lines of ``gap``.
    """
    for text in content:
        if not text.strip():
            runs.add(1, Label.BLANK)
        elif _is_mark(text):
            first, last = gap
            runs.add(1, Label.NOT_SHOWN, path, *(gap if 1 < first <= last else (0, 0)))
        else:
            runs.add(1, Label.NOTE, path)


def _add_span(
    runs: RunCollector,
    path: str,
    content: Sequence[str],
    source: Sequence[str],
    lines: tuple[int, int],
    shown: ShownText,
) -> None:
    """Record the file's lines of a part of a view.

    The part shows ``lines`` (first, last) of the file with the text ``source``.
    """
    first, last = lines
    if len(content) != last - first + 1:
        label = Label.NOT_SHOWN if all(map(_is_mark, content)) else Label.PART
        runs.add(len(content), label, path, first, last)
    elif content == source:
        _add_verbatim(runs, path, first, last, shown)
    else:
        for offset, text in enumerate(content):
            line = first + offset
            original = "".join(source[offset : offset + 1])
            if original == text:
                _add_verbatim(runs, path, line, line, shown)
            elif original.replace("<", "&lt;") == text.replace("<", "&lt;"):
                runs.add(1, Label.NOTE, path, line, line)  # an escaped line of a document
            else:
                runs.add(1, Label.NOT_SHOWN if _is_mark(text) else Label.PART, path, line, line)


def _is_mark(line: str) -> bool:
    """Return whether a line is a gap mark, in any comment syntax."""
    has_ellipsis = "..." in line or "…" in line
    return has_ellipsis and not any(map(str.isalnum, line))


def _add_verbatim(runs: RunCollector, path: str, first: int, last: int, shown: ShownText) -> None:
    """Record copied lines of a file, which may have line numbers and replaced secrets."""
    label = Label.PART if shown.is_numbered else Label.VERBATIM
    for run in shown.redacted:
        start, end = max(run[0], first), min(run[1], last)
        if start <= end:
            runs.add(start - first, label, path, first, start - 1)
            runs.add(end - start + 1, Label.REDACTED, path, start, end)
            first = end + 1
    runs.add(last - first + 1, label, path, first, last)


def _add_diff(runs: RunCollector, segment: Segment) -> None:
    path, source = segment.source, segment.shown
    lines = None if source is None or source.spans is None else source_lines(source.spans)
    runs.add(1, Label.HEADING, path)
    runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, path)
    now = 0
    for text in segment.text.split("\n")[_BEFORE_CONTENT:-1]:
        if hunk := _HUNK.fullmatch(text):
            now = int(hunk[1])
            runs.add(1, Label.NOTE, path)
        elif text.startswith("-") or not now:
            runs.add(1, Label.REMOVED, path)
        else:
            line = now if lines is None else lines.get(now, 0)
            runs.add(1, Label.PART if line else Label.NOTE, path, line, line)
            now += 1
    runs.add(1, Label.FENCE, path)
