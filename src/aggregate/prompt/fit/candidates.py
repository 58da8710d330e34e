"""Candidate files of a prompt with a budget: what each may show at most, and which lines must be shown.

Texts and views are made when a fit first needs them, and reused for the next budget.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

from aggregate.base.files import ALL_LINES, FOCUS_TIER, Run, Span, View, ViewMode
from aggregate.base.task_budget import Place
from aggregate.base.text import has_long_line, line_count, shorten_long_lines, split_lines
from aggregate.code.syntax import fence_tag, is_compact
from aggregate.code.views import focused, gap_line, is_the_text, render_all
from aggregate.project.index import Index
from aggregate.prompt.asking import Request, find_named, unknown_focus
from aggregate.prompt.corpus import RankedFiles
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.files import MORE_TOKENS, File, file_block
from aggregate.prompt.fit.entry_order import CHARACTERS_PER_TOKEN, SEEN_FILES
from aggregate.prompt.fit.fit import OpenedFile, ShownLines
from aggregate.prompt.token_counts import SavedCounts
from aggregate.ranking import RankedFile
from aggregate.ranking.files import DefinedName

# Files with a lower score are hidden (rule B-6), unless the task matches nothing, where breadth is worth more (rule
# T-9).
_RELEVANT = 0.0002
# The same relative to the likeliest file and piece: where one is nearly certain, the others are noise. With 0.01 for
# pieces prompts of 4,000 to 27,000 tokens show fewer changed lines (measured on commits).
_OF_BEST, _OF_BEST_PIECE = 0.005, 0.001
# Number of likeliest files that also show short bodies, the functions these call, and comments.
_LEADING = 5
_LONGEST = 60  # lines of a nested definition that a place pins whole
_CONTEXT: Final = 12  # lines on each side of a place in a longer one

# Views that are shown whole or not at all.
_WHOLE_VIEWS: Final = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
_MOST_SENTENCE, _LONGEST_LEAD = 3, 8  # lines of a leading sentence, and with whole statements
_COMMENT: Final = re.compile(r"[ \t]*(?://|/\*|\*|#(?!\[)|--|;|%)")
# A comment that begins with a tag, such as ``@inheritDoc``, describes nothing.
_TAG: Final = re.compile(r"[\s/*#;%!-]*[@\\:]\w")
_DOCSTRING: Final = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")


class Candidate(NamedTuple):
    """A ranked file which the prompt may show."""

    number: int  # in the corpus
    file: File
    mode: ViewMode  # its largest view
    ranked: RankedFile


class Pins(NamedTuple):
    """Files and lines shown always, since the user named them."""

    files: dict[str, tuple[Place, ...]]  # places by path, ``()`` for the whole file
    doubts: tuple[str, ...] = ()  # a sentence for each place outside of the prompt's files


def find_pins(request: Request, files: Sequence[File]) -> Pins:
    pinned: dict[str, tuple[Place, ...]] = {
        file.path: ()
        for file in files
        if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
    }
    doubts: list[str] = []
    focus = request.task.focus if request.task else ()
    focus_paths = {place.path for place in focus}
    wanted = (*focus, *(Place(path) for path in request.focus_files if path not in focus_paths))
    if not wanted:
        return Pins(pinned)
    pairs = [(file.path, file.item.path) for file in files]
    for place in wanted:
        paths = [files[number].path for number in find_named(pairs, place.path)]
        # A Tier 3 prompt reports its focus files itself.
        if not paths and place.path not in request.focus_files:
            doubts.append(unknown_focus(place.path, [file.path for file in files]))
        for path in paths:
            earlier = pinned.get(path)
            is_whole = not place.first or earlier == ()
            pinned[path] = () if is_whole else (*(earlier or ()), place)
    return Pins(pinned, tuple(doubts))


def pinned_runs(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
    """Yield for each place its lines, those of its innermost definition, and the signatures around it.

    A long definition with inner definitions is shown around the place, any other one whole. All lines are pinned
    without a place.
    """
    if not places:
        yield ALL_LINES
    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            definition = definitions[number]
            yield definition.signature_lines
            if number in outer:
                continue
            first, last = definition.first, definition.last
            inner = [inner for inner in definitions if inner.outer == number]
            if inner and last - first >= _LONGEST:
                above = [name.last + 1 for name in inner if name.last < place.first]
                below = [name.first - 1 for name in inner if name.first > place.last]
                first = max(first, place.first - _CONTEXT, *above)
                last = min(last, place.last + _CONTEXT, *below)
            yield first, last


class Candidates:
    """The ranked files of a request, for several budgets.

    Attributes:
        request: The budget alone may differ between prompts.
        in_rank_order: The likeliest first.
        numbers: Numbers in the corpus by path, the likeliest first.
        ranks: Positions in the ranking by path.
        estimates: Estimated tokens of all files, in the corpus's order.
        opened: Files with lines ready for a fit, ``None`` without a view.
        pinned: The lines that must be shown, by file.
        has_least: Whether files are hidden because their scores are too low.
        is_relative: Whether files and pieces far below the likeliest are hidden. After a pick they stay visible,
            because all unpicked files score little.
        relevant: The least score of a file shown in the prompt.
        least_piece: The least probability of a piece that is shown of a file far below the likeliest.
        leading: The likeliest files in the order of their scores; empty if the ranking is a guess.
    """

    def __init__(self, request: Request, ranked: RankedFiles, *, index: Index) -> None:
        self.corpus, self.question, self.ranking = ranked
        self.count: Callable[[str], int] = SavedCounts(index)
        self.pins = find_pins(request, self.corpus.selection.files)
        self.request = request
        self._shortens = True  # whether long lines are cut; not in a prompt with all files
        self.opened: dict[int, OpenedFile | None] = {}
        self._rendered: dict[int, tuple[bytes, File]] = {}
        sizes = (facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self.corpus.files)
        self.estimates: Sequence[int] = array("q", sizes)
        self.in_rank_order = self._in_rank_order(request)
        self.by_number = {candidate.number: candidate for candidate in self.in_rank_order}
        self.numbers = {file.path: number for number, file, _, _ in self.in_rank_order}
        self.ranks = {file.path: rank for rank, (_, file, _, _) in enumerate(self.in_rank_order)}
        self.pinned = self._pinned_lines()
        self.has_least = not self.question.is_empty and self.ranking.guess is None
        best = [candidate.ranked for candidate in self.in_rank_order[:SEEN_FILES]]
        is_picked = self.ranking.unpicked != 1.0
        self.is_relative = self.has_least and request.is_finished and bool(best) and not is_picked
        self.relevant, self.least_piece = self.least(_RELEVANT), 0.0
        if self.is_relative:
            self.relevant = max(_RELEVANT, _OF_BEST * best[0].score)
            likeliest = (max(file.pieces, default=0.0) for file in best)
            self.least_piece = _OF_BEST_PIECE * max(likeliest)
        leading = self.in_rank_order[:_LEADING] if self.has_least else []
        leading = self.in_rank_order if self.question.is_overview else leading
        self.leading = dict.fromkeys(candidate.number for candidate in leading)

    def _in_rank_order(self, request: Request) -> list[Candidate]:
        # One notebook can fill an overview.
        limit = request.budget.tokens if request.budget and request.is_structural else inf
        outlines_notebooks = sum(self.estimates) > limit
        candidates: list[Candidate] = []
        for entry in self.ranking.files:
            file = self.corpus.shown[entry.file]
            mode = ViewMode.SUMMARY if request.is_summary else file.entry.view_mode
            if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
                mode = ViewMode.NONE
            if file.path in self.pins.files:
                mode = ViewMode.FULL
            if mode is ViewMode.FULL and outlines_notebooks and file.path.endswith(".ipynb"):
                mode = ViewMode.OUTLINE
            if mode is not ViewMode.NONE:
                candidates.append(Candidate(entry.file, file, mode, entry))
        return candidates

    def _pinned_lines(self) -> Mapping[int, Sequence[Run]]:
        pins, pinned = self.pins.files, {}
        for number, candidate in sorted(self.by_number.items()):
            path = candidate.file.path
            if path in pins:
                definitions = self.corpus.analysis(number).definitions if pins[path] else ()
                pinned[number] = tuple(pinned_runs(pins[path], definitions))
        return pinned

    def least(self, score: float) -> float:
        # Scores before a second look: after it all other files together score little.
        return score / self.ranking.unpicked if self.has_least else 0.0

    def changed_definitions(self, room: int) -> dict[int, tuple[Run, ...]]:
        """Return changed definitions, the likeliest first, in about ``room`` tokens (rule T-14)."""
        changes: dict[str, list[Place]] = {}
        for change in self.question.changes:
            changes.setdefault(change.path, []).append(Place(*change))
        runs_by_number: dict[int, tuple[Run, ...]] = {}
        for number, file, mode, _ in self.in_rank_order:
            is_wanted = file.path in changes and mode is ViewMode.FULL
            opened = self.open(number) if is_wanted else None
            if opened is None or self.corpus.files[number].is_generated:
                continue
            hunks = changes[file.path]
            is_new = not all(hunk.first for hunk in hunks)
            for run in pinned_runs(
                () if is_new else hunks, self.corpus.analysis(number).definitions
            ):
                size = sum(map(len, opened.texts[max(run[0] - 1, 0) : run[1]]))
                if size // CHARACTERS_PER_TOKEN <= room:
                    room -= size // CHARACTERS_PER_TOKEN
                    runs_by_number[number] = (*runs_by_number.get(number, ()), run)
        return runs_by_number

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """For each built or vendored copy, the number of the likelier file with the same content."""
        firsts: dict[bytes, int] = {}
        numbers = [number for number, _, _, ranked in self.in_rank_order if ranked.pieces]
        pairs = ((n, firsts.setdefault(self.corpus.content_hash(n), n)) for n in numbers)
        return {number: first for number, first in pairs if number != first}

    def open(self, number: int) -> OpenedFile | None:
        """Return a file with its lines, ``None`` if its view fails."""
        if number not in self.opened:
            file = self.corpus.reading(number)
            analysis, is_code = self.corpus.analysis(number), self.corpus.files[number].is_code
            self.opened[number] = open_file(
                file,  # with slices resolved in its text
                self.by_number[number].mode,
                statements=analysis.statements,
                definitions=analysis.definitions if is_code else (),
                count=self.count,
                is_numbered=self.request.is_numbered,
                around=MORE_TOKENS if self.request.is_xml else 0,
                has_leads=number in self.leading,
                shortens=self._shortens and self.pins.files.get(file.path) != (),
            )
        return self.opened[number]

    def set_shortening(self, *, is_on: bool) -> None:
        """Turn the shortening of long lines on or off; affected files are opened again."""
        if self._shortens == is_on:
            return
        self._shortens = is_on
        for number, file in [*self.opened.items()]:
            if file and has_long_line(file.file.source.text):
                del self.opened[number]
                self._rendered.pop(number, None)

    def rendered(self, number: int, state: ShownLines) -> File:
        """Return a file with the shown lines, cached: a prompt is laid out several times."""
        marks = bytes(state.marks)
        cached = self._rendered.get(number)
        if cached is None or cached[0] != marks:
            opened, file = state.opened, state.opened.file
            if not state.is_complete:
                view = focused(file.view, opened.texts, state.runs(), ends=opened.ends)
                file = file._replace(view=view)
            cached = self._rendered[number] = marks, file
        return cached[1]


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
