"""Find the origin of each line of a prompt (rule L-1)."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from urllib.parse import unquote

from aggregate.base.files import ShownText, source_lines
from aggregate.prompt.document import (
    BEFORE_CONTENT,
    NOT_SHOWN,
    Label,
    Section,
    Segment,
    SourceMap,
    file_heading,
    is_fenced,
    opening_line,
)

_FENCE = re.compile(r"`{3,}[\w+#.-]*")
_ESCAPE = re.compile(r"\\(.)")
_AROUND_CONTENT = BEFORE_CONTENT + 1  # lines of a file's block before and behind its content
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def map_sources(segments: Iterable[Segment], *, is_written: bool = False) -> SourceMap:
    """Return the map of a prompt's segments; the last line feed of a file begins an empty line."""
    source_map = SourceMap()
    for segment in segments:
        add_segment(source_map, segment)
    if is_written:
        add_separator(source_map)
    return source_map


def add_separator(source_map: SourceMap) -> None:
    """Add the empty line after a segment, if there is one."""
    if source_map.runs:
        source_map.add(1, Label.BLANK)


def add_segment(source_map: SourceMap, segment: Segment) -> None:
    """Add the origins of a segment's lines, after a separator if it is not the first."""
    add_separator(source_map)
    section, text = segment.section, segment.text
    if section in (Section.BEADS, Section.SCREENSHOTS):
        _add_list(source_map, segment)
    elif section is Section.FILES and text.startswith(NOT_SHOWN) and not segment.source:
        source_map.add(1, Label.HEADING, "the remainder")
        source_map.add(text.count("\n"), Label.REMAINDER)
    elif not segment.source:
        _add_notes(source_map, text.split("\n"), section)
    elif section is Section.HISTORY:
        _add_turn(source_map, segment)
    elif section is Section.RESULTS:
        _add_block(source_map, segment, Label.RESULT)
    elif section in (Section.INSTRUCTIONS, Section.ATTACHED, Section.TASK):
        _add_block(source_map, segment, Label.GIVEN)
    elif text.startswith(f"{file_heading(segment.source)} (diff)\n"):
        _add_diff(source_map, segment)
    else:
        _add_file(source_map, segment)


def _add_notes(runs: SourceMap, lines: Iterable[str], section: Section) -> None:
    for line in lines:
        if line:
            label = Label.SECTION if line.startswith("#") else Label.SECTION_NOTE
            runs.add(1, label, section.value)
        else:
            runs.add(1, Label.BLANK)


def _add_turn(runs: SourceMap, segment: Segment) -> None:
    text, turn = segment.text, segment.source.rpartition(" ")[2]
    if text.startswith("---\n\n"):
        runs.add(1, Label.RULE)
        runs.add(1, Label.BLANK)
        text = text.removeprefix("---\n\n")
    runs.add(1, Label.HEADING, f"turn {turn}")
    runs.add(1, Label.BLANK)
    body = text.partition("\n\n")[2]
    lines = body.count("\n") + 1
    opening = opening_line(body)
    if not opening:
        runs.add(lines, Label.TURN, turn)
        return
    if opening > 1:
        runs.add(1, Label.TURN, turn)  # who says it
        runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, f"turn {turn}")
    runs.add(lines - opening - 1, Label.TURN, turn)
    runs.add(1, Label.FENCE, f"turn {turn}")


def _add_block(runs: SourceMap, segment: Segment, label: Label) -> None:
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


def _add_list(runs: SourceMap, segment: Segment) -> None:
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
            _add_notes(runs, [line], segment.section)


def _target(link: str) -> str:
    target = link.removesuffix(" (missing)").removesuffix(")")
    if target.endswith(">"):
        target = _ESCAPE.sub(r"\1", target[target.rfind("](<") + 3 : -1])
    else:
        target = target[target.rfind("](") + 2 :]
    return unquote(target, errors="surrogateescape").removeprefix("./")


def _add_file(runs: SourceMap, segment: Segment) -> None:
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
        content = segment.text.split("\n")[BEFORE_CONTENT:-1]
        if mapping.is_numbered:
            content = [line.partition(" | ")[2] for line in content]
        _add_view(runs, source, content, mapping)
    runs.add(1, Label.FENCE, source)


def _add_view(runs: SourceMap, path: str, content: Sequence[str], shown: ShownText) -> None:
    """Record the origins of the lines of a file's view; spans out of order are ignored."""
    source = shown.source.split("\n") if shown.source else []
    line, last, lines = 1, 0, len(content)
    for start, end, first, until in shown.spans or ():  # quick: a skeleton has dozens
        if not (line <= start <= end <= lines and 1 <= first <= until):
            continue
        _add_between(runs, path, content[line - 1 : start - 1], (last + 1, first - 1))
        part, original = content[start - 1 : end], source[first - 1 : until]
        if len(part) != until - first + 1:
            label = Label.NOT_SHOWN if all(map(_is_mark, part)) else Label.PART
            runs.add(len(part), label, path, first, until)
        elif part == original:
            _add_verbatim(runs, path, first, until, shown)
        else:
            _add_lines(runs, path, zip_longest(part, original, fillvalue=""), first, shown)
        line, last = end + 1, until
    if last:
        _add_between(runs, path, content[line - 1 :], (0, 0))
    else:
        runs.add(lines - line + 1, Label.SUMMARY, path)


def _add_between(runs: SourceMap, path: str, content: Sequence[str], gap: tuple[int, int]) -> None:
    """Record lines of a view without lines of the file; gap marks get the lines of ``gap``."""
    for text in content:
        if not text.strip():
            runs.add(1, Label.BLANK)
        elif _is_mark(text):
            first, last = gap
            runs.add(1, Label.NOT_SHOWN, path, *(gap if 1 < first <= last else (0, 0)))
        else:
            runs.add(1, Label.NOTE, path)


def _add_lines(
    runs: SourceMap, path: str, pairs: Iterable[tuple[str, str]], first: int, shown: ShownText
) -> None:
    """Record lines with the file's own ones, some of which differ, from line ``first`` of the file."""
    for line, (text, original) in enumerate(pairs, start=first):
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


def _add_verbatim(runs: SourceMap, path: str, first: int, last: int, shown: ShownText) -> None:
    """Record copied lines of a file, which may have line numbers and replaced secrets."""
    label = Label.PART if shown.is_numbered else Label.VERBATIM
    for run in shown.redacted:
        start, end = max(run[0], first), min(run[1], last)
        if start <= end:
            runs.add(start - first, label, path, first, start - 1)
            runs.add(end - start + 1, Label.REDACTED, path, start, end)
            first = end + 1
    runs.add(last - first + 1, label, path, first, last)


def _add_diff(runs: SourceMap, segment: Segment) -> None:
    path, source = segment.source, segment.shown
    lines = None if source is None or source.spans is None else source_lines(source.spans)
    runs.add(1, Label.HEADING, path)
    runs.add(1, Label.BLANK)
    runs.add(1, Label.FENCE, path)
    now = 0
    for text in segment.text.split("\n")[BEFORE_CONTENT:-1]:
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
