"""A file opened for fitting: its view's lines, statements and definitions, and the lines shown."""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import not_, or_
from typing import Final

from aggregate.base.files import Run, Span, View, ViewMode, marked_runs
from aggregate.base.text import line_count, shorten_long_lines, split_lines
from aggregate.code.syntax import fence_tag, is_compact
from aggregate.code.views import gap_line, is_the_text, render_all
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.files import File, file_block
from aggregate.ranking.files import DefinedName

# Characters of a gap that is filled: up to eight tokens, such as ``return text`` and a bracket, say more than a mark.
_SMALL_GAP = 40
_SMALL_LINE = 100  # the same for a single line
# White space (with line breaks) that a filled gap may have at most.
_FEW_BLANKS = 200
# Views that are shown whole or not at all.
_WHOLE_VIEWS: Final = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
_MOST_SENTENCE, _LONGEST_LEAD = 3, 8  # lines of a leading sentence, and with whole statements
_COMMENT: Final = re.compile(r"[ \t]*(?://|/\*|\*|#(?!\[)|--|;|%)")
# A comment that begins with a tag, such as ``@inheritDoc``, describes nothing.
_TAG: Final = re.compile(r"[\s/*#;%!-]*[@\\:]\w")
_DOCSTRING: Final = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A view's lines, with data on statements and tokens.

    Attributes:
        file: The file with its text and view.
        texts: Lines with line breaks.
        frame: Tokens of heading, fence and separators.
        gap: Maximum tokens of a gap mark, which represents hidden lines.
        is_whole: All lines are shown or none, such as slices that the user picked.
        number: Maximum tokens of a line number.
        statements: The first line of each line's statement; ``()`` if every line is its own statement.
        ends: The last line of each line's definition, ``0`` at its end or outside; ``()`` without definitions.
        leads: Lines that explain a definition, by the first line of its signature.
        spans: The view's lines by lines of the file, sorted; ``None`` if they are the same lines.
        is_shortened: Parts of long lines are left out.
        blank: ``1`` for each blank line, as bytes, which are fast to search.
        parts: The runs of each statement with several lines, by its first line.
        unmapped: Lines of the view without a line of the file, shown with any other.
    """

    file: File
    texts: Sequence[str]
    frame: int
    gap: int
    is_whole: bool = False
    number: int = 0
    statements: Sequence[int] = ()
    ends: Sequence[int] = ()
    leads: Mapping[int, Run] = field(default_factory=dict)
    spans: Sequence[Span] | None = None
    is_shortened: bool = False
    blank: bytes = field(init=False, repr=False)
    parts: Mapping[int, Sequence[Run]] = field(init=False, repr=False)
    unmapped: Sequence[Run] = field(init=False, repr=False)
    _longest: dict[Run, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", bytes(map(not_, map(str.strip, self.texts))))
        parts: dict[int, list[Run]] = {}
        pairs = enumerate(self.statements, start=1)
        for line, first in [(line, first) for line, first in pairs if line != first]:
            runs = parts.setdefault(first, [(first, first)])
            if runs[-1][1] == line - 1:
                runs[-1] = runs[-1][0], line
            else:
                runs.append((line, line))
        object.__setattr__(self, "parts", parts)
        unmapped: list[Run] = []
        if self.spans is not None:
            covered = bytearray(len(self.texts))
            for start, end, _, _ in self.spans:
                mark(covered, start, end)
            unmapped = [
                (line, line) for line in range(1, len(covered) + 1) if not covered[line - 1]
            ]
        object.__setattr__(self, "unmapped", unmapped)

    def find(self, run: Run) -> Iterator[Run]:
        """Yield the view's lines for a run of the file's lines."""
        if self.spans is None:
            yield run
            return
        yield from self.unmapped
        for start, end, first, last in self.spans:
            if last < run[0] or first > run[1]:
                continue
            if end - start == last - first:
                yield start + max(run[0], first) - first, start + min(run[1], last) - first
            else:
                yield start, end

    def whole(self, runs: Iterable[Run]) -> bytearray:
        """Return marks for all lines of the statements that have a line in ``runs``."""
        marks = bytearray(len(self.texts))
        for first, last in runs:
            begin, end = max(first, 1), min(last, len(marks))
            for part in ((begin, end), *self.statements_of(begin, end)):
                mark(marks, *part)
        return marks

    def statements_of(self, first: int, last: int) -> Iterator[Run]:
        """Yield the lines of each multi-line statement that has a line from ``first`` to ``last``."""
        if self.parts:
            for head in set(self.statements[first - 1 : last]):
                yield from self.parts.get(head, ())

    def by_statement(self, numbers: Iterable[int]) -> list[list[int]]:
        """Group the numbers of lines by statement; consecutive blank lines form a group."""
        groups: dict[int, list[int]] = {}
        first = 0  # line of the group, negated for blank lines
        for number in numbers:
            head = self.statements[number - 1] if self.statements else number
            is_blank = self.blank[number - 1] and head not in self.parts
            if not (is_blank and first < 0):
                first = -number if is_blank else head
            groups.setdefault(first, []).append(number)
        return list(groups.values())

    def longest_statement(self, first: int, last: int) -> str:
        """Return the text of the longest statement from ``first`` to ``last``; results are cached."""
        if (first, last) not in self._longest:
            texts = []
            for group in self.by_statement(range(first, last + 1)):
                texts.append("".join(self.texts[number - 1] for number in group))
            self._longest[first, last] = max(texts, key=len)
        return self._longest[first, last]

    def shown_or_blank(self, marks: bytes | bytearray) -> bytes:
        return bytes(map(or_, marks, self.blank))

    def has_text(self, first: int, last: int) -> bool:
        return self.blank.find(0, first - 1, last) >= 0

    def are_few_blanks(self, first: int, last: int) -> bool:
        """Return whether the lines from ``first`` to ``last`` are blank and have few characters."""
        if last - first >= _FEW_BLANKS or self.has_text(first, last):
            return False
        return sum(map(len, self.texts[first - 1 : last])) <= _FEW_BLANKS


@dataclass(slots=True)
class ShownLines:
    """The visible lines of a file: its ``marks`` have the byte ``1`` for each."""

    opened: OpenedFile
    marks: bytearray = field(init=False)

    def __post_init__(self) -> None:
        self.marks = bytearray(len(self.opened.texts))

    @property
    def is_empty(self) -> bool:
        return 1 not in self.marks

    @property
    def is_complete(self) -> bool:
        if 0 in self.opened.shown_or_blank(self.marks):
            return False
        return 0 not in self.marks or self.runs() == [(1, len(self.marks))]

    def new_runs(self, requested: Iterable[Run]) -> list[Run]:
        if self.opened.is_whole:
            return [(1, len(self.marks))] if self.marks and not any(self.marks) else []
        leads = [self.opened.leads[first] for first, _ in requested if first in self.opened.leads]
        runs = chain.from_iterable(map(self.opened.find, (*requested, *leads)))
        new: list[Run] = []
        for first, last in marked_runs(self.opened.whole(runs)):
            new += marked_runs(self.marks, 0, first, last)
        return new

    def with_small_gaps(self, runs: Sequence[Run]) -> list[Run]:
        """Return ``runs``, extended over small gaps to visible lines."""
        marks = bytearray(self.marks)
        for first, last in runs:
            mark(marks, first, last)
        filled = bytearray(len(marks))
        for first, last in runs:
            above = marks.rfind(1, 0, first - 1) + 1
            begin = above + 1 if self._is_small(above + 1, first - 1, marks) else first
            below = marks.find(1, last)
            below = len(marks) if below < 0 else below
            end = below if self._is_small(last + 1, below, marks) else last
            mark(filled, begin, end)
        return marked_runs(filled)

    def _is_small(self, first: int, last: int, marks: bytearray) -> bool:
        """Return whether lines are better shown than a mark: few short ones with whole statements."""
        if last < first:
            return False
        if not self.opened.has_text(first, last):
            return self.opened.are_few_blanks(first, last)
        if last - first >= _SMALL_GAP:
            return False
        for begin, end in self.opened.statements_of(first, last):
            above, below = min(end, first - 1), max(begin - 1, last)
            if marks.find(0, begin - 1, above) >= 0 or marks.find(0, below, end) >= 0:
                return False
        texts = self.opened.texts[first - 1 : last]
        characters = sum(len(text.strip()) for text in texts)
        most = _SMALL_LINE if first == last else _SMALL_GAP
        return characters <= most and sum(map(len, texts)) - characters <= _FEW_BLANKS

    def show(self, runs: Iterable[Run]) -> None:
        for first, last in runs:
            mark(self.marks, first, last)

    def runs(self) -> list[Run]:
        """Return the visible lines as runs; a gap of few blank lines does not separate runs."""
        joined: list[Run] = []
        following, lines = 1, len(self.marks)  # the line after the last run
        visible = marked_runs(self.marks)
        for first, last in [run for run in visible if self.opened.has_text(*run)] or visible:
            is_gap = not self._is_filled(following, first - 1)
            if is_gap or not joined:
                joined.append((first if is_gap else following, last))
            else:
                joined[-1] = joined[-1][0], last
            following = last + 1
        if joined and self._is_filled(following, lines):
            joined[-1] = joined[-1][0], lines
        return [self._without_blank_ends(*run) for run in joined]

    def _is_filled(self, first: int, last: int) -> bool:
        return self.marks.find(0, first - 1, last) < 0 or self.opened.are_few_blanks(first, last)

    def _without_blank_ends(self, first: int, last: int) -> Run:
        blank = self.opened.blank
        if self.opened.has_text(first, last):
            first = first if first == 1 else blank.find(0, first - 1) + 1
            last = last if last == len(blank) else blank.rfind(0, 0, last) + 1
        return first, last


def mark(marks: bytearray, first: int, last: int) -> None:
    marks[first - 1 : last] = b"\1" * (last - first + 1)


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
