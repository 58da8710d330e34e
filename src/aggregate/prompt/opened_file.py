"""A file as a fit sees it: the text or view whose lines are chosen, and which of these belong together."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from aggregate.base.files import View, ViewMode, ViewRequest
from aggregate.base.text import line_count, split_lines
from aggregate.code.syntax import fence_tag
from aggregate.code.views import gap_line, is_the_text, render_all
from aggregate.project.files import SourceFile
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.fit.fit import FileLines
from aggregate.prompt.fit.steps import Run
from aggregate.prompt.layout import file_block
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking.files import DefinedName

# Views that are shown as a whole: their lines were picked by the user, or are a digest.
_ON_DEMAND: Final = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})


class OpenedFile(NamedTuple):
    source: SourceFile
    view: View
    lines: FileLines


def open_file(
    file: ResolvedFile,
    mode: ViewMode,
    source: SourceFile,
    *,
    statements: Sequence[int],
    definitions: Sequence[DefinedName],
    count: Callable[[str], int],
    is_numbered: bool,
) -> OpenedFile | None:
    """Return a file's text and lines, ``None`` where its view cannot be made.

    ``statements`` has for each line of its text the first line of its statement, ``definitions`` are those of code;
    ``count`` returns the tokens of a text, and ``is_numbered`` says that each line is shown with its number.
    """
    path, item = file.path, file.item
    is_text = is_the_text(path, mode)
    if is_text:
        view = View(source.text, (), fence_tag(path, source.text))
    else:
        request = ViewRequest(path, source.text, mode, item.ast_mask, tuple(item.custom_slices))
        made = next(iter(render_all([request], workers=1)))
        if not isinstance(made, View):
            return None
        view = made
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    # What stands around its lines, with as long a fence as any part of its text needs.
    block = file_block(path, view.text, language=view.language)
    ticks = "`" * (len(block) - len(block.rstrip("`")))
    frame = file_block(path, "", language=view.language).replace("```", ticks or "```")
    is_cells = mode is ViewMode.FULL and not is_text
    find = (lambda run: (run,)) if is_text else _finder(view, len(texts))
    is_whole = mode in _ON_DEMAND or is_cells
    gap = count(gap_line(view.language, len(texts)))
    shown = statements if is_text else _seen_through(view, statements)
    shown = shown if len(shown) == len(texts) else ()
    # Its digits, a bar, and blanks that may part from those behind them.
    number = count(f" {line_count(source.text)} | ") + 1 if is_numbered else 0
    ends = _ends(definitions, len(texts)) if is_text and definitions else ()
    gap += bool(ends)  # an indented mark
    lines = FileLines(texts, find, count(frame + SEPARATOR), gap, is_whole, number, shown, ends)
    return OpenedFile(source, view, lines)


def _ends(definitions: Sequence[DefinedName], lines: int) -> Sequence[int]:
    """Return for each line the last one of the innermost definition that goes on behind it, ``0`` for none."""
    ends = array("i", bytes(4 * lines))
    for definition in definitions:  # an outer one before those in it
        first, last = definition.first, min(definition.last, lines)
        ends[first - 1 : last - 1] = array("i", [last]) * max(0, last - first)
    return ends


def _seen_through(view: View, statements: Sequence[int]) -> list[int]:
    """Return the statements of a file's lines for the lines of a view of it."""
    units = [-line for line in range(1, len(split_lines(view.text)) + 1)]
    for start, end, first, last in view.spans:
        for line in range(start, end + 1):
            place = first + (line - start if end - start == last - first else 0)
            if line <= len(units) and place <= len(statements):
                units[line - 1] = statements[place - 1]
    firsts: dict[int, int] = {}
    return [firsts.setdefault(unit, line) for line, unit in enumerate(units, start=1)]


def _finder(view: View, lines: int) -> Callable[[Run], Iterable[Run]]:
    """Return what finds the lines of a view that stand for those of its file; those from nowhere are always shown."""
    spans = sorted(view.spans)
    covered = bytearray(lines)
    for span in spans:
        covered[span.start - 1 : span.end] = b"\1" * (span.end - span.start + 1)
    always = [(line, line) for line, mark in enumerate(covered, start=1) if not mark]

    def find(run: Run) -> Iterator[Run]:
        yield from always
        for start, end, first, last in spans:
            if last < run[0] or first > run[1]:
                continue
            if end - start == last - first:
                yield start + max(run[0], first) - first, start + min(run[1], last) - first
            else:
                yield start, end

    return find
