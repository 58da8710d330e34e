"""Open a file for fitting: its view's lines, statements, and the lines that describe its definitions."""

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aggregate.base.files import Run, Span, View, ViewMode
from aggregate.base.text import line_count, shorten_long_lines, split_lines
from aggregate.code.syntax import fence_tag, is_compact
from aggregate.code.views import gap_line, is_the_text, render_all
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.files import File, file_block
from aggregate.prompt.fit.fit import OpenedFile
from aggregate.ranking.files import DefinedName

# Views that are shown whole or not at all.
_WHOLE_VIEWS: Final = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
_MOST_SENTENCE, _LONGEST_LEAD = 3, 8  # lines of a leading sentence, and with whole statements
_COMMENT: Final = re.compile(r"[ \t]*(?://|/\*|\*|#(?!\[)|--|;|%)")
# A comment that begins with a tag, such as ``@inheritDoc``, describes nothing.
_TAG: Final = re.compile(r"[\s/*#;%!-]*[@\\:]\w")
_DOCSTRING: Final = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")


def open_file(
    file: File,
    mode: ViewMode,
    *,
    statements: Sequence[int],
    definitions: Sequence[DefinedName],
    count: Callable[[str], int],
    is_numbered: bool,
    around: int = 0,
    has_leads: bool = False,
    shortens: bool = True,
) -> OpenedFile | None:
    """Return a read file in a view with its statements and definitions, ``None`` if the view fails.

    ``statements`` has for each line the first line of its statement. ``count`` returns the tokens of a text.
    ``is_numbered`` adds line numbers, ``around`` tokens to the file's frame, ``shortens`` cuts long lines.
    """
    path, text = file.path, file.source.text
    is_text = is_the_text(path, mode)
    view = _text_view(path, text, shortens=shortens) if is_text else _view(file, mode)
    if view is None:
        return None
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    # The frame has a fence that is long enough for the whole text.
    block = file_block(path, view.text, language=view.language)
    ticks = "`" * (len(block) - len(block.rstrip("`"))) or "```"
    frame = file_block(path, "", language=view.language, note=file.note).replace("```", ticks)
    # A notebook on few lines is analysed by the lines of its cells.
    is_own = is_text or (mode is ViewMode.FULL and is_compact(s.source_start for s in view.spans))
    mapped = statements if is_own else _seen_through(view, statements)
    mapped = mapped if len(mapped) == len(texts) else ()
    ends = _ends(definitions, len(texts)) if is_text and definitions else ()
    return OpenedFile(
        file._replace(view=view, entry=file.entry.in_mode(mode)),
        texts,
        frame=around + count(frame + SEPARATOR),
        gap=count(gap_line(view.language, len(texts))) + bool(ends),  # an indented mark
        is_whole=mode in _WHOLE_VIEWS,
        # Digits, a bar and blanks, which may be tokens of their own.
        number=count(f" {line_count(text)} | ") + 1 if is_numbered else 0,
        statements=mapped,
        ends=ends,
        leads=_leads(definitions, texts, mapped) if ends and has_leads else {},
        spans=None if is_own else sorted(view.spans),
        is_shortened=is_text and view.text != text,
    )


def _text_view(path: str, text: str, *, shortens: bool) -> View:
    shortened = shorten_long_lines(text) if shortens else text
    lines = line_count(text)
    spans = () if shortened == text else (Span(1, lines, 1, lines),)
    return View(shortened, spans, fence_tag(path, text))


def _view(file: File, mode: ViewMode) -> View | None:
    result = next(iter(render_all([file.request(mode)], workers=1)))
    return result if isinstance(result, View) else None


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
