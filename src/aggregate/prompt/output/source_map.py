"""Find the origin of each line of a prompt (rule L-1)."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from aggregate.base.files import ShownText, source_lines
from aggregate.prompt.document import Label, Run, Section, Segment, SourceMap
from aggregate.prompt.files.layout import BEFORE_CONTENT, file_heading, is_fenced
from aggregate.prompt.sections.not_shown import HEADING as NOT_SHOWN
from aggregate.prompt.sections.turns import fenced_lines

_FENCE = re.compile(r"`{3,}[\w+#.-]*")
_EXCERPT = re.compile(r"Discussion Excerpt (\d+)")
_ESCAPE = re.compile(r"\\(.)")
_AROUND_CONTENT = BEFORE_CONTENT + 1  # lines of a file's block before and behind its content
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_RULE = "---\n\n"  # between two turns


def map_sources(segments: Iterable[Segment], *, is_written: bool = False) -> SourceMap:
    builder = SourceMapBuilder()
    for segment in segments:
        builder.add(segment)
    return builder.end() if is_written else builder.build()


class SourceMapBuilder:
    """Collects the origins of the lines of a prompt, segment by segment, without storing texts."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def end(self) -> SourceMap:
        """Return the map of the whole prompt; its last line feed begins another, empty line."""
        if self._runs:
            self.run(1, Label.BLANK)
        return self.build()

    def build(self) -> SourceMap:
        return SourceMap(tuple(self._runs))

    def run(
        self, lines: int, label: Label, source: str = "", first: int = 0, last: int = 0
    ) -> None:
        """Add lines from one place, joined to the last run if they continue it."""
        if lines < 1:
            return
        if self._runs and self._runs[-1][1:3] == (label, source):
            before = self._runs[-1]
            # Both match line by line, or have no lines of a file.
            goes_on = first == before.first
            if first and before.first:
                is_exact = before.last - before.first + 1 == before.lines
                is_exact = is_exact and last - first + 1 == lines
                goes_on = is_exact and first == before.last + 1
            if goes_on:
                self._runs[-1] = Run(before.lines + lines, label, source, before.first, last)
                return
        self._runs.append(Run(lines, label, source, first, last))

    def add(self, segment: Segment) -> None:
        if self._runs:
            self.run(1, Label.BLANK)  # the separator
        section, source = segment.section, segment.source
        if section in (Section.BEADS, Section.SCREENSHOTS):
            self._add_list(segment)
        elif section is Section.FILES and not source and segment.text.startswith(NOT_SHOWN):
            self.run(1, Label.HEADING, "the remainder")
            self.run(segment.text.count("\n"), Label.REMAINDER)
        elif not source:
            self._add_heading(segment)
        elif section is Section.HISTORY:
            self._add_turn(segment)
        elif section is Section.RESULTS:
            self._add_block(segment, Label.RESULT)
        elif section in (Section.INSTRUCTIONS, Section.ATTACHED, Section.TASK):
            self._add_block(segment, Label.GIVEN)
        elif segment.text.startswith(f"{file_heading(source)} (diff)\n"):
            self._add_diff(segment)
        else:
            self._add_file(segment)

    def _add_heading(self, segment: Segment) -> None:
        first, *rest = segment.text.split("\n")
        is_heading = first.startswith("#")
        self.run(1, Label.SECTION if is_heading else Label.SECTION_NOTE, segment.section.value)
        for line in rest:
            self._add_note(line, segment.section)

    def _add_note(self, line: str, section: Section) -> None:
        if line:
            label = Label.SECTION if line.startswith("#") else Label.SECTION_NOTE
            self.run(1, label, section.value)
        else:
            self.run(1, Label.BLANK)

    def _add_turn(self, segment: Segment) -> None:
        number = _EXCERPT.fullmatch(segment.source)
        if number is None:
            self._add_heading(segment)
            return
        text, turn = segment.text, number[1]
        if text.startswith(_RULE):
            self.run(1, Label.RULE)
            self.run(1, Label.BLANK)
            text = text.removeprefix(_RULE)
        self.run(1, Label.HEADING, f"turn {turn}")
        self.run(1, Label.BLANK)
        body = text.partition("\n\n")[2]
        lines = body.count("\n") + 1
        opening = fenced_lines(body)
        if not opening:
            self.run(lines, Label.TURN, turn)
            return
        if opening > 1:
            self.run(1, Label.TURN, turn)  # who says it
            self.run(1, Label.BLANK)
        self.run(1, Label.FENCE, f"turn {turn}")
        self.run(lines - opening - 1, Label.TURN, turn)
        self.run(1, Label.FENCE, f"turn {turn}")

    def _add_block(self, segment: Segment, label: Label) -> None:
        name = segment.source
        heading, *lines = segment.text.split("\n")
        self.run(1, Label.HEADING if heading.startswith("#") else label, name)
        closing = ""
        for line in lines:
            if closing:
                is_fence = line == closing
                self.run(1, Label.FENCE if is_fence else label, name)
                closing = "" if is_fence else closing
            elif _FENCE.fullmatch(line):
                closing = "`" * (len(line) - len(line.lstrip("`")))
                self.run(1, Label.FENCE, name)
            elif line:
                self.run(1, label, name)
            else:
                self.run(1, Label.BLANK)

    def _add_list(self, segment: Segment) -> None:
        """Add a list's lines: links to images, or beads with their indented descriptions."""
        bead = ""
        for line in segment.text.split("\n"):
            if line.startswith("- "):
                bead = line.rpartition(" (")[2].removesuffix(")")
            elif line.startswith(("#", "Source: ", "Warning: ")):
                bead = ""
            if line.startswith("!["):
                self.run(1, Label.SCREENSHOT, _target(line))
            elif bead:
                self.run(1, Label.BEAD, bead)
            elif line.startswith("Completed: "):
                self.run(1, Label.BEAD, "all completed beads")
            else:
                self._add_note(line, segment.section)

    def _add_file(self, segment: Segment) -> None:
        source, shown = segment.source, segment.shown
        lines = segment.text.count("\n") + 1
        is_document = segment.text.startswith("<document ")
        self.run(1, Label.HEADING, source)
        self.run(1, *((Label.HEADING, source) if is_document else (Label.BLANK,)))
        # Instead of content a file may have a note.
        if not is_document and not is_fenced(segment.text):
            self.run(lines - 2, Label.NOTE, source)
            return
        self.run(1, Label.FENCE, source)
        if shown is None:  # as a cache stored it, or made by others
            self.run(lines - _AROUND_CONTENT, Label.EARLIER, source)
        elif shown.is_message:
            self.run(lines - _AROUND_CONTENT, Label.MESSAGE, source)
        elif shown.spans is None:
            self._add_verbatim(source, 1, lines - _AROUND_CONTENT, shown)
        else:
            content = segment.text.split("\n")[BEFORE_CONTENT:-1]
            if shown.is_numbered:
                content = [line.partition(" | ")[2] for line in content]
            self._add_view(source, content, shown)
        self.run(1, Label.FENCE, source)

    def _add_view(self, path: str, content: Sequence[str], shown: ShownText) -> None:
        """Add the lines of a file's view; spans out of order are ignored."""
        source = shown.source.split("\n") if shown.source else []
        line, last, lines = 1, 0, len(content)
        for start, end, first, until in shown.spans or ():  # quick: a skeleton has dozens
            if not (line <= start <= end <= lines and 1 <= first <= until):
                continue
            self._add_between(path, content[line - 1 : start - 1], (last + 1, first - 1))
            texts = content[start - 1 : end], source[first - 1 : until]
            self._add_span(path, *texts, (first, until), shown)
            line, last = end + 1, until
        if last:
            self._add_between(path, content[line - 1 :], (0, 0))
        else:
            self.run(lines - line + 1, Label.SUMMARY, path)

    def _add_between(self, path: str, content: Sequence[str], gap: tuple[int, int]) -> None:
        """Add lines of a view without lines of the file; gap marks get the lines of ``gap``."""
        for text in content:
            if not text.strip():
                self.run(1, Label.BLANK)
            elif _is_mark(text):
                first, last = gap
                self.run(1, Label.NOT_SHOWN, path, *(gap if 1 < first <= last else (0, 0)))
            else:
                self.run(1, Label.NOTE, path)

    def _add_span(
        self,
        path: str,
        content: Sequence[str],
        source: Sequence[str],
        lines: tuple[int, int],
        shown: ShownText,
    ) -> None:
        """Add a part of a view showing ``lines`` (first, last) of the file, whose text is ``source``."""
        first, last = lines
        if len(content) != last - first + 1:
            label = Label.NOT_SHOWN if all(map(_is_mark, content)) else Label.PART
            self.run(len(content), label, path, first, last)
            return
        if content == source:
            self._add_verbatim(path, first, last, shown)
            return
        for line, text in enumerate(content, start=first):
            original = "".join(source[line - first : line - first + 1])
            if original == text:
                self._add_verbatim(path, line, line, shown)
            elif original.replace("<", "&lt;") == text.replace("<", "&lt;"):
                self.run(1, Label.NOTE, path, line, line)  # an escaped line of a document
            else:
                self.run(1, Label.NOT_SHOWN if _is_mark(text) else Label.PART, path, line, line)

    def _add_verbatim(self, path: str, first: int, last: int, shown: ShownText) -> None:
        """Add copied lines of a file, which may have line numbers and replaced secrets."""
        label = Label.PART if shown.is_numbered else Label.VERBATIM
        for run in shown.redacted:
            start, end = max(run[0], first), min(run[1], last)
            if start <= end:
                self.run(start - first, label, path, first, start - 1)
                self.run(end - start + 1, Label.REDACTED, path, start, end)
                first = end + 1
        self.run(last - first + 1, label, path, first, last)

    def _add_diff(self, segment: Segment) -> None:
        path, shown = segment.source, segment.shown
        lines = None if shown is None or shown.spans is None else source_lines(shown.spans)
        self.run(1, Label.HEADING, path)
        self.run(1, Label.BLANK)
        self.run(1, Label.FENCE, path)
        now = 0
        for text in segment.text.split("\n")[BEFORE_CONTENT:-1]:
            if hunk := _HUNK.fullmatch(text):
                now = int(hunk[1])
                self.run(1, Label.NOTE, path)
            elif text.startswith("-") or not now:
                self.run(1, Label.REMOVED, path)
            else:
                line = now if lines is None else lines.get(now, 0)
                self.run(1, Label.PART if line else Label.NOTE, path, line, line)
                now += 1
        self.run(1, Label.FENCE, path)


def _target(link: str) -> str:
    target = link.removesuffix(" (missing)").removesuffix(")")
    if target.endswith(">"):
        target = _ESCAPE.sub(r"\1", target[target.rfind("](<") + 3 : -1])
    else:
        target = target[target.rfind("](") + 2 :]
    return unquote(target, errors="surrogateescape").removeprefix("./")


def _is_mark(line: str) -> bool:
    """Return whether a line is a gap mark, in any comment syntax."""
    has_ellipsis = "..." in line or "…" in line
    return has_ellipsis and not any(map(str.isalnum, line))
