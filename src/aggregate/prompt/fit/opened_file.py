"""A file opened for fitting its lines to a budget.

It has its text or view, its statements and its definitions.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aggregate.base.files import Span, View, ViewMode, ViewRequest
from aggregate.base.text import line_count, shorten_long_lines, split_lines
from aggregate.code.syntax import fence_tag, is_compact
from aggregate.code.views import gap_line, is_the_text, render_all
from aggregate.project.files import SourceFile
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.files.file import File, encoding_note
from aggregate.prompt.files.layout import file_block
from aggregate.prompt.files.line_runs import Run
from aggregate.prompt.fit.fit import FileLines
from aggregate.ranking.files import DefinedName

# Views that are shown whole or not at all.
_WHOLE_VIEWS: Final = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
_MOST_SENTENCE, _LONGEST_LEAD = 3, 8  # lines of a leading sentence, and with whole statements
_COMMENT: Final = re.compile(r"[ \t]*(?://|/\*|\*|#(?!\[)|--|;|%)")
# A comment that begins with a tag, such as ``@inheritDoc``, describes nothing.
_TAG: Final = re.compile(r"[\s/*#;%!-]*[@\\:]\w")
_DOCSTRING: Final = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")


class OpenedFile(NamedTuple):
    source: SourceFile
    view: View
    lines: FileLines
    is_shortened: bool = False  # whether parts of long lines are left out


def open_file(
    file: File,
    mode: ViewMode,
    source: SourceFile,
    *,
    statements: Sequence[int],
    definitions: Sequence[DefinedName],
    count: Callable[[str], int],
    is_numbered: bool,
    around: int = 0,
    has_leads: bool = False,
    shortens: bool = True,
) -> OpenedFile | None:
    """Return a view's lines with its statements and definitions.

    Return ``None`` if the view fails. ``statements`` has for each line the first line of its statement. ``count``
    returns the tokens of a text. ``is_numbered`` adds line numbers, ``around`` tokens to the file's frame, ``shortens``
    cuts long lines.
    """
    path, item = file.path, file.item
    is_text = is_the_text(path, mode)
    if is_text:
        view = _text_view(path, source.text, shortens=shortens)
    else:
        request = ViewRequest(path, source.text, mode, item.ast_mask, tuple(item.custom_slices))
        result = next(iter(render_all([request], workers=1)))
        if not isinstance(result, View):
            return None
        view = result
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    # The frame has a fence that is long enough for the whole text.
    note = encoding_note(source.encoding) if source.is_guess else ""
    block = file_block(path, view.text, language=view.language)
    ticks = "`" * (len(block) - len(block.rstrip("`")))
    frame = file_block(path, "", language=view.language, note=note).replace("```", ticks or "```")
    # A notebook on few lines is analysed by the lines of its cells.
    is_own = is_text or (mode is ViewMode.FULL and is_compact(s.source_start for s in view.spans))
    find = (lambda run: (run,)) if is_own else _finder(view, len(texts))
    is_whole = mode in _WHOLE_VIEWS
    gap = count(gap_line(view.language, len(texts)))
    mapped = statements if is_own else _seen_through(view, statements)
    mapped = mapped if len(mapped) == len(texts) else ()
    # Digits, a bar and blanks, which may be tokens of their own.
    number = count(f" {line_count(source.text)} | ") + 1 if is_numbered else 0
    ends = _ends(definitions, len(texts)) if is_text and definitions else ()
    gap += bool(ends)  # an indented mark
    leads = _leads(definitions, texts, mapped) if ends and has_leads else {}
    around += count(frame + SEPARATOR)
    lines = FileLines(texts, find, around, gap, is_whole, number, mapped, ends, leads)
    return OpenedFile(source, view, lines, is_text and view.text != source.text)


def _text_view(path: str, text: str, *, shortens: bool) -> View:
    tag = fence_tag(path, text)
    shortened = shorten_long_lines(text) if shortens else text
    if shortened == text:
        return View(text, (), tag)
    lines = line_count(text)
    return View(shortened, (Span(1, lines, 1, lines),), tag)


def _ends(definitions: Sequence[DefinedName], lines: int) -> Sequence[int]:
    """Return for each line the last line of its innermost definition, ``0`` at that line or outside."""
    ends = array("i", bytes(4 * lines))
    for definition in definitions:  # outer ones first
        first, last = definition.first, min(definition.last, lines)
        ends[first - 1 : last - 1] = array("i", [last]) * max(0, last - first)
    return ends


def _leads(
    definitions: Sequence[DefinedName], texts: Sequence[str], statements: Sequence[int]
) -> Mapping[int, Run]:
    """Return which lines describe each definition: its comment or docstring.

    The keys are the first lines of the definitions' signatures.
    """
    units = statements or range(1, len(texts) + 1)
    last_lines = {unit: line for line, unit in enumerate(units, start=1)}
    first_members: dict[int, int] = {}
    for definition in definitions:
        first_members.setdefault(definition.outer, definition.first)
    leads: dict[int, Run] = {}
    for number, definition in enumerate(definitions):
        end = min(definition.last, first_members.get(number, len(texts) + 1) - 1)
        body = definition.body
        docstring = _first_statement(body, end, texts, units)
        runs = [_comment_above(definition, texts)]
        has_docstring = docstring and _DOCSTRING.match(texts[docstring - 1])
        if has_docstring:
            runs.append((docstring, docstring))
            body = last_lines[units[docstring - 1]] + 1
        start = _first_statement(body, end, texts, units)
        if start and not (has_docstring and number in first_members):
            runs.append((start, min(start + _MOST_SENTENCE - 1, end)))
        for first, limit in filter(None, runs):
            last = 0
            for line in range(first, limit + 1):
                whole = max(last, last_lines[units[line - 1]])
                if whole - first >= _LONGEST_LEAD or whole > definition.last:
                    break
                last = whole
            if last and units[first - 1] == first:
                leads[definition.signature] = first, last
                break
    return leads


def _comment_above(definition: DefinedName, texts: Sequence[str]) -> Run | None:
    """Return the lines with the first sentence of the comment above a definition."""
    lines = range(definition.first, definition.signature)
    first = next((line for line in lines if _COMMENT.match(texts[line - 1])), 0)
    if not first or _TAG.match("".join(texts[first - 1 : definition.signature - 1])):
        return None
    last = first
    while last + 1 < definition.signature and last - first + 1 < _MOST_SENTENCE:
        if texts[last - 1].rstrip().endswith(".") or not _COMMENT.match(texts[last]):
            break
        last += 1
    if last + 2 == definition.signature:  # a mark in place of one line saves nothing
        last += 1
    return first, last


def _first_statement(first: int, last: int, texts: Sequence[str], units: Sequence[int]) -> int:
    """Return the first line of a statement, ``0`` for none; a brace belongs to the signature."""
    lines = (line for line in range(first, last + 1) if units[line - 1] == line)
    return next((line for line in lines if texts[line - 1].strip()), 0)


def _seen_through(view: View, statements: Sequence[int]) -> list[int]:
    """Return the statements of a view's lines; ``statements`` are those of the file's lines."""
    units = [-line for line in range(1, len(split_lines(view.text)) + 1)]
    for start, end, first, last in view.spans:
        for line in range(start, end + 1):
            source_line = first + (line - start if end - start == last - first else 0)
            if line <= len(units) and source_line <= len(statements):
                units[line - 1] = statements[source_line - 1]
    firsts: dict[int, int] = {}
    return [firsts.setdefault(unit, line) for line, unit in enumerate(units, start=1)]


def _finder(view: View, lines: int) -> Callable[[Run], Iterable[Run]]:
    """Return a converter from a file's lines to view lines.

    Its result includes the lines of the view without a line of the file.
    """
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
