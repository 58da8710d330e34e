"""The files that may enter a prompt with a budget: the most of each, what a fit shows of them, what is told of it."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, repeat
from math import inf
from operator import gt
from typing import Final, NamedTuple

from aggregate.base.files import RenderedFile, ViewMode
from aggregate.base.request import FileChoice, FileOrder, Level, Place
from aggregate.base.text import has_long_line
from aggregate.base.values import row_maker
from aggregate.code.views import focused, is_the_text
from aggregate.project.index import Index
from aggregate.prompt.called_names import called_names
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.file_reading import Reading, encoding_note
from aggregate.prompt.file_rendering import RenderedFiles, error_sentence, noted_file, refusals
from aggregate.prompt.fit.fit import FileLines, Fit, ShownLines, marked_runs
from aggregate.prompt.fit.steps import (
    ALL_LINES,
    CHARACTERS_PER_TOKEN,
    DENSITY,
    SEEN_FILES,
    WITH_TASK,
    Fittable,
    Run,
    Share,
    StepOrder,
    signature_run,
)
from aggregate.prompt.layout import rendered_segment
from aggregate.prompt.opened_file import OpenedFile, open_file
from aggregate.prompt.overview import PART_BESIDE, overview_groups, overview_tree
from aggregate.prompt.ranked_files import Pins, RankedFiles, find_pins
from aggregate.prompt.request import ALL_FILES, Request
from aggregate.prompt.sections.not_shown import Called, Hidden
from aggregate.prompt.sections.tree import Tree
from aggregate.prompt.selection import ResolvedFile, omission_remark
from aggregate.prompt.token_counts import SavedCounts
from aggregate.ranking import RankedFile
from aggregate.ranking.files import Analysis, Piece

# Files that score less come behind all likelier ones, and those below the second score are not shown, since a prompt of
# them tells a reader less than its end (rule B-6); of all where nothing tells of a place, since breadth is worth more
# there (rule T-9).
_LIKELY, RELEVANT = 0.002, 0.0002
# The likeliest files show more of what they define: short bodies, what these call, what signatures are for.
_LEADING = 5
# The parts of tests and of documents that belong to what was chosen (rule T-11): with what unlikely files get some 0.15
# from 32,000 tokens. With 0.08 for tests 27,000 show a hundredth fewer of the lines that change in sources and tests.
_PARTS: Final = {"tests": 0.1, "documents": 0.02}
_OF_NEXT = 0.9  # Of an introduction's score, what the next one has
_OTHERS: Final = ("unlikely", "unread", "copy")  # Files behind all likely ones
# Further files that are put in order when all of those are shown, and twice as many each time.
_FIRST_OTHERS = 100
# The part of signatures where nobody says what for: breadth tells more of a project than some whole functions.
_WITHOUT_TASK = 0.65
_BROAD = 0.5  # The same where nothing tells of a place (rule T-9), but for what changes settings
_LONGEST_TOKEN = 128  # Characters of the longest token of o200k, which is blanks
# The level that each view stands for.
LEVELS: Final = {mode: Level(mode.value) for mode in ViewMode}
# Of an empty file: that there is nothing in it is told last.
_NOTHING: Final = Piece(1, 1, -1, characters=0)


class Candidate(NamedTuple):
    """A file of the corpus that may be shown: its number there, the most that is shown of it, and its score."""

    number: int
    file: ResolvedFile
    mode: ViewMode
    ranked: RankedFile


class Candidates:
    """The ranked files of a request, to be fitted to one budget after another.

    Texts are read and views made when fitting first asks for a file, and kept for the next budget.
    """

    def __init__(self, request: Request, ranked: RankedFiles, *, index: Index) -> None:
        self.ranked = ranked
        self.files = ranked.files
        self.count: Callable[[str], int] = SavedCounts(index)
        self._pins = find_pins(request, ranked.files.selection.files)
        self._is_scored = request.task is not None
        self._is_numbered = request.is_numbered
        self._corpus = ranked.files.corpus
        self._opened: dict[int, OpenedFile | None] = {}
        self._rendered: dict[int, tuple[bytes, RenderedFile]] = {}
        self._shortens = True  # long lines; not in a prompt that shows all
        shown, pinned = self._corpus.shown, self._pins.files
        # By the entries of the files, of which a glob has one for all; they live as long as the files.
        modes: dict[int, ViewMode | None] = {}
        # One notebook can fill an overview.
        most = request.budget.tokens if request.budget and request.is_structural else inf
        outlines_notebooks = sum(self._estimates) > most
        self.in_rank_order: list[Candidate] = []
        new_candidate = row_maker(Candidate)
        for entry in ranked.ranking.files:  # a loop for a hundred thousand files
            number = entry[0]
            file = shown[number]
            key = id(file.entry)
            if key not in modes:
                modes[key] = _most(file, is_summary=request.is_summary)
            mode = ViewMode.FULL if file.path in pinned else modes[key]
            if mode is ViewMode.FULL and outlines_notebooks and file.path.endswith(".ipynb"):
                mode = ViewMode.OUTLINE
            if mode is not None:
                self.in_rank_order.append(new_candidate((number, file, mode, entry)))
        self.by_number = {candidate[0]: candidate for candidate in self.in_rank_order}

    @property
    def has_pins(self) -> bool:
        """Whether the user named lines or files that must be shown."""
        return bool(self._pinned)

    @cached_property
    def _pinned(self) -> Mapping[int, tuple[Run, ...]]:
        pins = self._pins.files
        numbers = (
            [each.number for each in self.in_rank_order if each.file.path in pins] if pins else []
        )
        paths = {number: self.by_number[number].file.path for number in sorted(numbers)}
        return {
            number: self._pins.runs(path, self._analysis(number).definitions if pins[path] else ())
            for number, path in paths.items()
        }

    def new_fit(self, kept: Mapping[int, tuple[Run, ...]] | None = None) -> Fit:
        """Return a fit in which only the pins are shown, and what stays of a discussion's last prompt."""
        share = _BROAD if self.ranked.ranking.is_broad else WITH_TASK
        share = _WITHOUT_TASK if self.ranked.question.is_empty else share
        fit = Fit(StepOrder(self._shares(), share), self.lines, self.count)
        for number, runs in self._pinned.items():
            fit.pin(number, runs)
        fit.spent = 0
        for number, runs in (kept or {}).items():
            fit.keep(number, runs)
        return fit

    def changed_definitions(self, room: int) -> dict[int, tuple[Run, ...]]:
        """Return the lines of the changed definitions, the likeliest first, in about ``room`` tokens (rule T-14)."""
        changes: dict[str, list[Place]] = {}
        for change in self.ranked.question.changes:
            changes.setdefault(change.path, []).append(Place(*change))
        kept: dict[int, tuple[Run, ...]] = {}
        for number, file, mode, _ in self.in_rank_order:
            is_wanted = file.path in changes and mode is ViewMode.FULL
            lines = self.lines(number) if is_wanted else None
            if lines is None or self._corpus.files[number].is_generated:
                continue
            places = changes[file.path]
            is_new = not all(place.first for place in places)
            pins = Pins({file.path: () if is_new else tuple(places)})
            for run in pins.runs(file.path, self._analysis(number).definitions):
                size = sum(map(len, lines.texts[max(run[0] - 1, 0) : run[1]]))
                if size // CHARACTERS_PER_TOKEN <= room:
                    room -= size // CHARACTERS_PER_TOKEN
                    kept[number] = (*kept.get(number, ()), run)
        return kept

    def _shares(self) -> list[Share]:
        """Return the files by what of the budget they get: likely ones, tests and documents of these, all others."""
        if self.ranked.question.is_overview:
            return self._shares_of_overview()
        companions = self.ranked.ranking.companions
        by_kind: dict[str, list[int]] = {}
        for number, _, _, ranked in self.in_rank_order:
            kind = companions.get(number) or ("read" if ranked.pieces else "unread")
            kind = "copy" if number in self._copies else kind
            kind = "unlikely" if kind == "read" and ranked.score < self._least(_LIKELY) else kind
            is_copy = kind == "copy" and self.has_least  # its text is shown already
            if kind in _PARTS or (ranked.score >= self._least(RELEVANT) and not is_copy):
                by_kind.setdefault(kind, []).append(number)
        others = [number for kind in _OTHERS for number in by_kind.get(kind, [])]
        groups = self._groups(by_kind.get("read", []), others)
        return [
            Share(groups),
            *(
                Share([self._fittables(by_kind.get(kind, []))], part, first=0)
                for kind, part in _PARTS.items()
            ),
        ]

    def _shares_of_overview(self) -> list[Share]:
        """Return what a newcomer reads first, then each large folder in proportion to its code, then all others."""
        groups = overview_groups(self.in_rank_order, self._corpus, self.ranked.ranking.companions)
        first = 1 + SEEN_FILES // max(1, len(groups.folders))
        return [
            Share([self._fittables(groups.introductions)]),
            *(Share([self._fittables(files)], part, first=first) for files, part in groups.folders),
            Share([self._fittables(groups.beside)], PART_BESIDE),
            Share(self._groups([], groups.others)),
        ]

    def _least(self, score: float) -> float:
        """Return a least score, ``0`` for a prompt that is to show something of everything."""
        # Scores before a second look count: after it all others together score little.
        return score / self.ranked.ranking.unpicked if self.has_least else 0.0

    @cached_property
    def has_least(self) -> bool:
        """Whether files that score little are left out."""
        return not self.ranked.question.is_empty and self.ranked.ranking.guess is None

    @cached_property
    def _copies(self) -> Mapping[int, int]:
        """Files with the content of a likelier one, which is shown for both: as built or vendored files have it."""
        firsts: dict[bytes, int] = {}
        numbers = [number for number, _, _, ranked in self.in_rank_order if ranked.pieces]
        found = ((n, firsts.setdefault(self._corpus.content_hash(n), n)) for n in numbers)
        return {number: first for number, first in found if number != first}

    def _groups(self, ranked: Sequence[int], others: Sequence[int]) -> Iterator[Sequence[Fittable]]:
        if ranked:
            yield self._fittables(ranked)
        size = _FIRST_OTHERS
        while others:
            yield self._fittables(others[:size])
            others, size = others[size:], size * 2

    def _analysis(self, number: int) -> Analysis:
        return self._corpus.analyses([number])[0]

    def _fittables(self, numbers: Sequence[int]) -> list[Fittable]:
        return list(map(self._fittable, numbers, self._corpus.analyses(numbers)))

    def _fittable(self, number: int, analysis: Analysis) -> Fittable:
        ranked = self.by_number[number].ranked
        pieces = analysis.pieces or (_NOTHING,)
        chances = ranked.pieces
        if len(chances) != len(pieces):  # not looked at, or the file has changed meanwhile
            total = sum(piece.characters for piece in pieces) or 1
            chances = [ranked.score * piece.characters / total for piece in pieces]
        if self.ranked.question.is_empty:
            # The pieces of likelier files enter first, however long they are.
            best = max(chances, default=0.0) or 1.0
            sizes = [max(1, piece.characters / CHARACTERS_PER_TOKEN) ** DENSITY for piece in pieces]
            score = self._introductions.get(number, ranked.score)
            chances = [
                score * chance / best * size for chance, size in zip(chances, sizes, strict=True)
            ]
        is_prose = not self._corpus.files[number].is_code
        is_likely = self.has_least and number in self._leading
        calls = self._calls(number) if is_likely else {}
        is_notebook = self.by_number[number].file.path.endswith(".ipynb")
        return Fittable(
            number, analysis.definitions, pieces, chances, is_prose, is_notebook, is_likely, calls
        )

    @cached_property
    def _introductions(self) -> Mapping[int, float]:
        """What a newcomer reads first, each file before the next one."""
        if not self.ranked.question.is_overview:
            return {}
        files = self.ranked.ranking.companions
        return {number: _OF_NEXT**place for place, number in enumerate(files)}

    @cached_property
    def _leading(self) -> Sequence[int]:
        """The likeliest files, the likeliest first; none where nothing tells of a place."""
        leading = self.in_rank_order[:_LEADING] if self.has_least else ()
        leading = self.in_rank_order if self.ranked.question.is_overview else leading
        return [candidate.number for candidate in leading]

    def _calls(self, number: int) -> Mapping[int, Sequence[int]]:
        """Return the definitions of a file that each of them calls, by names that it defines once."""
        analysis = self._corpus.analyses([number], with_references=True)[0]
        calls: dict[int, list[int]] = {}
        for reference in analysis.references:
            definitions = analysis.named.get(reference.name, ())
            if reference.definition >= 0 and len(definitions) == 1:
                calls.setdefault(reference.definition, []).append(definitions[0])
        return calls

    def lines(self, number: int) -> FileLines | None:
        if number not in self._opened:
            reading = self._corpus.reading(number)
            analysis = self._analysis(number)
            is_code = self._corpus.files[number].is_code
            self._opened[number] = open_file(
                reading.file,  # with its slices as in its text
                self.by_number[number].mode,
                reading.source,
                statements=analysis.statements,
                definitions=analysis.definitions if is_code else (),
                count=self.count,
                is_numbered=self._is_numbered,
                has_leads=number in self._leading,
                shortens=self._shortens and self._pins.files.get(reading.file.path) != (),
            )
        opened = self._opened[number]
        return opened.lines if opened else None

    def tree(self) -> Tree:
        return overview_tree(self.in_rank_order, self._corpus)

    def content_hash(self, number: int) -> str:
        return self._corpus.content_hash(number).hex()

    @cached_property
    def _refused(self) -> tuple[str, ...]:
        return refusals(self.files.selection)

    @cached_property
    def _estimates(self) -> Sequence[int]:
        """About how many tokens each file of the corpus has, which is asked of all of them several times."""
        sizes = (facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self._corpus.files)
        return array("q", sizes)

    def whole_fit(self, most: int) -> Fit | None:
        """Return a fit that shows all of all files, ``None`` where these have more than ``most`` tokens."""
        self._set_shortening(is_on=False)
        fit = self._whole_fit(most)
        self._set_shortening(is_on=fit is None)
        return fit

    def _set_shortening(self, *, is_on: bool) -> None:
        """Decide whether long lines are shortened; files that were opened in the other way are opened again."""
        if self._shortens == is_on:
            return
        self._shortens = is_on
        opened = self._opened.items()
        for number in [each for each, file in opened if file and has_long_line(file.source.text)]:
            del self._opened[number]
            self._rendered.pop(number, None)

    def _whole_fit(self, most: int) -> Fit | None:
        room = most * _LONGEST_TOKEN // CHARACTERS_PER_TOKEN
        for number, file, mode, _ in self.in_rank_order:  # of a large project soon there is none
            if is_the_text(file.path, mode):
                room -= self._estimates[number]
            if room < 0:
                return None
        fit = self.new_fit()
        for candidate in self.in_rank_order:
            fit.keep(candidate.number, (ALL_LINES,))
            if state := fit.shown.get(candidate.number):
                block = rendered_segment(self.rendered(candidate.number, state)).text
                most -= self.count(block + SEPARATOR)
            if most < 0:
                return None
        fit.is_exhausted = True
        return fit

    def left_out(self, fit: Fit) -> Iterator[Hidden]:
        """Yield the candidates of which nothing is shown, the most relevant first."""
        shown = {number for number, state in fit.shown.items() if not state.is_empty}
        estimates = self._estimates
        of = {number: self.by_number[first].file.path for number, first in self._copies.items()}
        return (
            (file.path, estimates[number], of.get(number, ""))
            for number, file, _, _ in self.in_rank_order
            if number not in shown
        )

    def called(self, fit: Fit) -> list[Called]:
        """Return the definitions that shown code of the likeliest files calls and that are not shown."""
        marks = {
            number: bytes(fit.shown[number].marks)
            for number in (self._leading if self.has_least else ())
            if number in fit.shown and fit.shown[number].lines.ends  # a view has other lines
        }
        found: dict[str, list[str]] = {}
        for name in called_names(marks, self._corpus):
            files = self._corpus.files_defining(name)
            if (
                len(files) == 1
                and files[0] in self.by_number
                and not self._names(files[0], name, fit)
            ):
                found.setdefault(self._corpus.shown[files[0]].path, []).append(name)
        return [*found.items()]

    def _names(self, number: int, name: str, fit: Fit) -> bool:
        """Return whether a line that defines the name in a file is shown."""
        analysis = self._analysis(number)
        lines = [analysis.definitions[place].signature for place in analysis.named.get(name, ())]
        marks = fit.shown[number].marks if number in fit.shown else b""
        return any(any(marks[line - 1 : line]) for line in lines)

    def shown_files(
        self, fit: Fit, order: FileOrder, *, doubts: Sequence[str], with_notes: bool
    ) -> RenderedFiles:
        """Return the files that a fit shows, and what could not be read.

        ``with_notes`` adds what a prompt without a budget shows besides.
        """
        unreadable = (
            noted_file(other.file, other.source)
            for other in self._corpus.others
            if not other.file.is_remark and _is_asked_for(other)
        )
        files = self._in_order(fit, order, [*unreadable, *(self._notes() if with_notes else ())])
        return RenderedFiles(tuple(files), (*doubts, *self._warnings(files)), self._refused)

    def _notes(self) -> Sequence[RenderedFile]:
        """Return files that are excluded on purpose, and remarks, which a prompt without a budget shows besides."""
        corpus = self._corpus
        excluded = (
            noted_file(file, corpus.reading(number).source)
            for number, file in enumerate(corpus.shown)
            if number not in self.by_number and file.item.auto_aggregate
        )
        remarks = (each for each in corpus.others if each.file.is_remark and _is_asked_for(each))
        return (*excluded, *(noted_file(remark.file, remark.source) for remark in remarks))

    def _in_order(
        self, fit: Fit, order: FileOrder, notes: Iterable[RenderedFile]
    ) -> list[RenderedFile]:
        shown = {
            self.by_number[number].file.path: self.rendered(number, state)
            for number, state in fit.shown.items()
            if not state.is_empty or number in self._pinned
        }
        shown.update((file.path, file) for file in notes)
        configured = _sorted_by(shown, (file.path for file in self.files.selection.files))
        if order is FileOrder.CONFIGURED:
            return [*configured.values()]
        if order is FileOrder.RELEVANCE:
            return self._by_relevance(configured)
        # The most relevant one stands last, the next one first, and so on to the middle.
        ranked = [*_sorted_by(configured, self._places).values()]
        return [*ranked[1::2], *ranked[::2][::-1]]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Places of the candidates by score, which do not depend on the budget."""
        return {each.file.path: place for place, each in enumerate(self.in_rank_order)}

    @cached_property
    def _sources(self) -> Mapping[str, str]:
        """Sources that tests and documents belong to, by the paths of these."""
        companions = self.ranked.ranking.companions
        return {
            each.file.path: reason.matched
            for each in self.in_rank_order
            if each.number in companions
            for reason in each.ranked.reasons
            if reason.kind == companions[each.number]
        }

    def _by_relevance(self, files: Mapping[str, RenderedFile]) -> list[RenderedFile]:
        """Return files by score, each followed by its own tests and documents (rule B-8)."""
        if self.ranked.question.is_overview:  # from top to bottom, as a newcomer reads
            first = [self._corpus.shown[number].path for number in self.ranked.ranking.companions]
            return [*_sorted_by(files, first).values()]
        last = len(self._places)
        keys: dict[str, tuple[int, int]] = {}
        for path in files:
            place = self._places.get(path, last)
            source = self._sources.get(path, "")
            # A source stands before its companions, also before likelier ones.
            keys[path] = (self._places[source], place) if source in files else (place, -1)
        return [files[path] for path in sorted(files, key=keys.__getitem__)]

    def _warnings(self, files: Sequence[RenderedFile]) -> tuple[str, ...]:
        read = self.files
        remarks = [other.file for other in read.corpus.others if other.file.is_remark]
        unnamed = [
            other.file
            for other in read.corpus.others
            if not other.file.is_remark
            and not _is_asked_for(other)
            and other.file.path != ALL_FILES  # it matched nothing: there is no file at all
        ]
        if unnamed:
            paths_of_all = [file.path for file in unnamed]
            remarks.append(omission_remark(unnamed[0].entry, "unreadable", paths_of_all))
        told = {remark.path: f"{remark.path}: {remark.problem}" for remark in remarks}
        errors = (error_sentence(file) for file in files if file.error and file.path not in told)
        paths = (file.path for file in files)
        noted = read.reader.warnings(read.selection, errors, shown=paths)
        beyond = (
            f"focus {place}: there is no such line: the file ends with line {len(lines.texts):,}"
            for number in self._pinned
            if (lines := self.lines(number))
            for place in self._pins.files[self.by_number[number].file.path]
            if place.first > len(lines.texts)
        )
        return (*self._pins.doubts, *beyond, *noted, *told.values())

    def rendered(self, number: int, state: ShownLines) -> RenderedFile:
        # A prompt is laid out several times, with the same lines of most files.
        marks = bytes(state.marks)
        known = self._rendered.get(number)
        if known is None or known[0] != marks:
            known = self._rendered[number] = marks, self._render(number, state)
        return known[1]

    def _render(self, number: int, state: ShownLines) -> RenderedFile:
        opened, (_, file, mode, _) = self._opened[number], self.by_number[number]
        if opened is None:
            raise KeyError(number)
        source, view, lines = opened[:3]
        if not state.is_complete:
            view = focused(view, lines.texts, state.runs(), ends=lines.ends)
        return RenderedFile(
            path=file.path,
            entry=file.item.path,
            content=view.text,
            source=source.text,
            view_mode=mode,
            auto_aggregate=True,
            force_full=file.item.force_full,
            tier=file.entry.tier,
            language=view.language,
            spans=view.spans,
            secrets=source.secrets,
            redacted=source.redacted,
            note=encoding_note(source.encoding) if source.is_guess else "",
        )

    @cached_property
    def _hidden(self) -> Mapping[str, FileChoice]:
        """What is told by path of candidates of which nothing is shown, kept for later budgets."""
        # By columns, as a row at a time takes twice as long for a hundred thousand files.
        entries = [entry for _, _, _, entry in self.in_rank_order]
        numbers = [entry.file for entry in entries]
        paths = [file.path for _, file, _, _ in self.in_rank_order]
        sizes = self._estimates
        columns = (
            paths,
            [file.entry.item.path for _, file, _, _ in self.in_rank_order],
            repeat(Level.LEFT_OUT),
            [LEVELS[mode] for _, _, mode, _ in self.in_rank_order],
            repeat(False),  # pinned
            repeat(0),  # tokens
            [entry.score for entry in entries] if self._is_scored else repeat(None),
            range(1, len(entries) + 1) if self._is_scored else repeat(None),
            [entry.reasons for entry in entries],
            repeat(()),  # definitions
            repeat(None),  # next
            repeat(""),  # content_hash
            [sizes[number] for number in numbers],
            repeat(()),  # lines
        )
        rows = map(row_maker(FileChoice), zip(*columns, strict=False))
        return dict(zip(paths, rows, strict=True))

    def choices(
        self,
        shown: Mapping[int, bytes],
        later: Mapping[int, bytes],
        tokens: Mapping[str, int],
        named: Set[str],
    ) -> tuple[FileChoice, ...]:
        """Return what was decided about each file, by the lines that are shown and those that would be with more."""
        numbers = {self.by_number[number].file.path: number for number in later}
        choices: list[FileChoice] = []
        hidden = self._hidden
        for file in self.files.selection.files:
            path = file.path
            choice = hidden.get(path)  # of most nothing is shown, whatever the budget
            if choice is None:
                if file.is_remark or path == ALL_FILES:  # the glob itself, which matched nothing
                    continue
                choice = _unranked(file, tokens.get(path, 0))
            elif path in numbers:
                number = numbers[path]
                marks = shown.get(number, b"")
                choice = self.choice(number, marks, later[number], tokens=tokens.get(path, 0))
            choices.append(choice._replace(level=Level.NAME) if path in named else choice)
        return tuple(choices)

    def choice(self, number: int, marks: bytes, later: bytes, *, tokens: int) -> FileChoice:
        """Return what is told of a candidate that shows some lines, or does with some more of the budget."""
        return self._hidden[self.by_number[number].file.path]._replace(
            level=self.level(number, marks),
            pinned=number in self._pinned,
            tokens=tokens,
            definitions=self._definitions_in_full(number, marks),
            next=self.level(number, later) if sum(later) > sum(marks) else None,
            content_hash=self.content_hash(number) if any(marks) else "",
            lines=tuple(marked_runs(marks)),
        )

    def level(self, number: int, marks: bytes) -> Level:
        opened = self._opened.get(number)
        if opened is None or not any(marks):
            return Level.LEFT_OUT
        most = LEVELS[self.by_number[number].mode]
        if 0 not in opened.lines.shown_or_blank(marks):
            return Level.FOCUSED if opened.is_shortened else most
        if most is not Level.FULL:
            return Level.OUTLINE
        definitions = self._analysis(number).definitions
        signatures = chain.from_iterable(
            opened.lines.find(signature_run(definition)) for definition in definitions
        )
        has_body = any(map(gt, marks, opened.lines.whole(signatures)))
        return Level.FOCUSED if has_body else Level.OUTLINE

    def _definitions_in_full(self, number: int, marks: bytes) -> tuple[str, ...]:
        opened, mode = self._opened.get(number), self.by_number[number].mode
        is_text = is_the_text(self.by_number[number].file.path, mode)
        if opened is None or not any(marks) or not is_text:
            return ()
        told = opened.lines.shown_or_blank(marks)
        return tuple(
            dict.fromkeys(
                ".".join(definition.path)
                for definition in self._analysis(number).definitions
                if told.find(0, definition.signature - 1, definition.last) < 0
            )
        )


def _sorted_by(
    files: Mapping[str, RenderedFile], paths: Iterable[str]
) -> Mapping[str, RenderedFile]:
    """Return files in the order of ``paths``, the others as they are behind those."""
    places = {path: place for place, path in enumerate(paths) if path in files}
    return dict(sorted(files.items(), key=lambda each: places.get(each[0], inf)))


def _unranked(file: ResolvedFile, tokens: int) -> FileChoice:
    """Return what is told of a file that is excluded, unreadable or binary."""
    is_excluded = file.entry.view_mode is ViewMode.NONE or not file.item.auto_aggregate
    level = Level.NONE if is_excluded else Level.LEFT_OUT
    return FileChoice(file.path, file.item.path, level, LEVELS[file.entry.view_mode], tokens=tokens)


def _is_asked_for(file: Reading) -> bool:
    """Tell whether the user has named a file, or the glob that it belongs to."""
    return file.file.item.path != ALL_FILES


def _most(file: ResolvedFile, *, is_summary: bool) -> ViewMode | None:
    if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
        return None
    return ViewMode.SUMMARY if is_summary else file.entry.view_mode
