"""The files that may enter a prompt with a budget: what each may show at most, and what fitting needs to know of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import gt
from typing import Final, NamedTuple

from aggregate.base.text import split_lines
from aggregate.base.values import (
    SEPARATOR,
    FileChoice,
    Level,
    RenderedFile,
    View,
    ViewMode,
    ViewRequest,
    row_maker,
)
from aggregate.code.syntax import fence_tag
from aggregate.code.views import focused, is_the_text
from aggregate.project.files import SourceFile
from aggregate.prompt.file_corpus import FileCorpus
from aggregate.prompt.fit.fittable import Fittable
from aggregate.prompt.fit.lines import FileLines, Run, ShownLines
from aggregate.prompt.fit.steps import CHARACTERS_PER_TOKEN, DENSITY, signature_run
from aggregate.prompt.sections.files import file_block
from aggregate.prompt.selection import ResolvedFile
from aggregate.prompt.view_pool import render_all
from aggregate.ranking import FileAnalysis, Piece, RankedFile

_ON_DEMAND = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
"""Views that are shown as a whole: their lines were picked by the user, or are a digest."""
LEVELS = {mode: Level(mode.value) for mode in ViewMode}
"""The level that each view stands for."""


class Candidate(NamedTuple):
    """A file of the corpus that may be shown.

    Attributes:
        number: Its number in the corpus.
        file: What it is.
        mode: The most that is shown of it.
        ranked: Its score.
    """

    number: int
    file: ResolvedFile
    mode: ViewMode
    ranked: RankedFile

    @property
    def is_whole(self) -> bool:
        """Whether it is shown as a whole or not at all."""
        is_cells = self.mode is ViewMode.FULL and not is_the_text(self.file.path, self.mode)
        return self.mode in _ON_DEMAND or is_cells

    @property
    def most(self) -> Level:
        """The level that ``mode`` stands for."""
        return LEVELS[self.mode]


@dataclass(frozen=True, slots=True)
class OpenCandidate:
    """A candidate whose text was read.

    Attributes:
        candidate: The file.
        source: Its text.
        view: The most that is shown of it.
        lines: The lines of that.
    """

    candidate: Candidate
    source: SourceFile
    view: View
    lines: FileLines


def open_candidate(
    candidate: Candidate, source: SourceFile, count: Callable[[str], int]
) -> OpenCandidate | None:
    """Return a file with the most that is shown of it, ``None`` where its view cannot be made.

    Args:
        candidate: The file.
        source: What was read of it.
        count: Returns the tokens of a text.
    """
    view = _view(candidate, source.text)
    if view is None:
        return None
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    is_text = is_the_text(candidate.file.path, candidate.mode)
    place = _itself if is_text else _PlacesInView(view, len(texts))
    frame = count(_frame(candidate.file.path, view))
    lines = FileLines(texts, place, frame, is_whole=candidate.is_whole)
    return OpenCandidate(candidate, source, view, lines)


def _view(candidate: Candidate, text: str) -> View | None:
    path, mode, item = candidate.file.path, candidate.mode, candidate.file.item
    if is_the_text(path, mode):
        return View(text, (), fence_tag(path, text))
    request = ViewRequest(path, text, mode, item.ast_mask, tuple(item.custom_slices))
    view = next(iter(render_all([request], workers=1)))
    return view if isinstance(view, View) else None


def _frame(path: str, view: View) -> str:
    """Return what stands around the lines of a file, with as long a fence as any part of its text needs."""
    whole = file_block(path, view.text, language=view.language)
    empty = file_block(path, "", language=view.language)
    ticks = "`" * (len(whole) - len(whole.rstrip("`")))
    return empty.replace("```", ticks or "```") + SEPARATOR


class _PlacesInView:
    """Finds the lines of a view that lines of its file stand behind; those that come from nowhere are always shown."""

    def __init__(self, view: View, lines: int) -> None:
        self._spans = sorted(view.spans)
        covered = bytearray(lines)
        for span in self._spans:
            covered[span.start - 1 : span.end] = b"\1" * (span.end - span.start + 1)
        self._always = [(line, line) for line, mark in enumerate(covered, start=1) if not mark]

    def __call__(self, run: Run) -> Iterable[Run]:
        first, last = run
        places = list(self._always)
        for span in self._spans:
            if span.source_end < first or span.source_start > last:
                continue
            if span.end - span.start == span.source_end - span.source_start:
                start = max(first, span.source_start) - span.source_start
                end = min(last, span.source_end) - span.source_start
                places.append((span.start + start, span.start + end))
            else:
                places.append((span.start, span.end))
        return places


def _itself(run: Run) -> Iterable[Run]:
    return (run,)


_NOTHING: Final = Piece(1, 1, -1, terms=0, characters=0)
"""Of an empty file: that there is nothing in it is told last."""


class Candidates:
    """The candidates of a prompt; texts are read and views made when fitting first asks for a file.

    Args:
        corpus: All readable files.
        ranked: Their scores, the likeliest first.
        mode_of: Returns the most that may be shown of a file, ``None`` for a file that is no candidate.
        count: Returns the tokens of a text.
        by_structure: Whether nothing is asked, so that files enter by their own scores and not by their pieces'.
        before: Candidates with the same texts and scores, some of which may be shown in another way now; what was
            made of the others is kept.
    """

    def __init__(
        self,
        corpus: FileCorpus,
        ranked: Sequence[RankedFile],
        *,
        by_structure: bool = False,
        mode_of: Callable[[ResolvedFile], ViewMode | None],
        count: Callable[[str], int],
        before: "Candidates | None" = None,
    ) -> None:
        self._corpus = corpus
        self._count = count
        self._by_structure = by_structure
        self._open: dict[int, OpenCandidate | None] = {}
        self._rendered: dict[int, tuple[bytes, RenderedFile]] = {}
        shown = corpus.shown
        self.in_rank_order: list[Candidate] = []
        new_candidate = row_maker(Candidate)
        for entry in ranked:  # a loop for a hundred thousand files
            number = entry[0]
            file = shown[number]
            mode = mode_of(file)
            if mode is not None:
                self.in_rank_order.append(new_candidate((number, file, mode, entry)))
        self.by_number = {candidate[0]: candidate for candidate in self.in_rank_order}
        if before is not None:
            self._keep(before)

    def _keep(self, before: "Candidates") -> None:
        """Keep what was made of the candidates that are as they were."""
        by_number = self.by_number
        for number, opened in before._open.items():
            if opened is not None and by_number.get(number) == opened.candidate:
                self._open[number] = opened
                if number in before._rendered:
                    self._rendered[number] = before._rendered[number]

    def analysis(self, number: int) -> FileAnalysis:
        """Return what is known of a file's text."""
        return self._corpus.analyses([number])[0]

    def fittables(self, numbers: Sequence[int]) -> list[Fittable]:
        """Return files as fitting orders them."""
        analyses = self._corpus.analyses(numbers)
        return [
            self._fittable(self.by_number[number], analysis)
            for number, analysis in zip(numbers, analyses, strict=True)
        ]

    def _fittable(self, candidate: Candidate, analysis: FileAnalysis) -> Fittable:
        ranked = candidate.ranked
        pieces = analysis.pieces or (_NOTHING,)
        chances = ranked.pieces
        if len(chances) != len(pieces):  # not looked at, or the file has changed meanwhile
            total = sum(piece.characters for piece in pieces) or 1
            chances = [ranked.score * piece.characters / total for piece in pieces]
        if self._by_structure:
            chances = _by_file(ranked.score, pieces, chances)
        is_prose = not self._corpus.files[candidate.number].is_code
        return Fittable(
            candidate.number, ranked.score, analysis.definitions, pieces, chances, is_prose
        )

    def lines(self, number: int) -> FileLines | None:
        """Return the lines that a file may show, ``None`` where its view cannot be made."""
        opened = self.open(number)
        return opened.lines if opened else None

    def open(self, number: int) -> OpenCandidate | None:
        """Return a file with its text, ``None`` where its view cannot be made."""
        if number not in self._open:
            self._open[number] = open_candidate(
                self.by_number[number], self._corpus.source(number), self._count
            )
        return self._open[number]

    def content_hash(self, number: int) -> str:
        """Return the SHA-256 of a file's bytes in hexadecimal digits."""
        return self._corpus.content_hash(number).hex()

    @cached_property
    def hidden_choices(self) -> dict[bool, Mapping[str, FileChoice]]:
        """What ``choices_of`` tells of hidden candidates by path, with scores and without, kept for later budgets."""
        return {}

    @cached_property
    def estimates(self) -> Sequence[int]:
        """About how many tokens each file of the corpus has, which is asked of all of them several times."""
        return [facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self._corpus.files]

    def rendered(self, number: int, state: ShownLines) -> RenderedFile:
        """Return a file as the prompt shows it: the lines of ``state``, in full where these are all."""
        # A prompt is laid out several times, with the same lines of most files.
        marks = bytes(state.marks)
        known = self._rendered.get(number)
        if known is None or known[0] != marks:
            known = self._rendered[number] = marks, self._render(number, state)
        return known[1]

    def _render(self, number: int, state: ShownLines) -> RenderedFile:
        opened = self._open[number]
        if opened is None:
            raise KeyError(number)
        view = opened.view
        runs = state.runs()
        if not state.is_complete:
            view = focused(view, opened.lines.texts, runs)
        file = opened.candidate.file
        return RenderedFile(
            path=file.path,
            entry=file.item.path,
            content=view.text,
            source=opened.source.text,
            view_mode=opened.candidate.mode,
            auto_aggregate=True,
            force_full=file.item.force_full,
            tier=file.entry.tier,
            language=view.language,
            spans=view.spans,
            secrets=opened.source.secrets,
            redacted=opened.source.redacted,
        )

    def level(self, number: int, marks: bytes) -> Level:
        """Return the level that showing these lines of a file stands for (rule B-2)."""
        opened = self._open.get(number)
        if opened is None or not any(marks):
            return Level.LEFT_OUT
        most = opened.candidate.most
        if 0 not in opened.lines.shown_or_blank(marks):
            return most
        if most is not Level.FULL:
            return Level.OUTLINE
        signatures = bytearray(len(marks) + 1)
        for definition in self.analysis(number).definitions:
            first, last = signature_run(definition)
            signatures[first - 1 : last] = b"\1" * (last - first + 1)
        is_signature_only = not any(map(gt, marks, signatures))
        return Level.OUTLINE if is_signature_only else Level.FOCUSED

    def definitions_in_full(self, number: int, marks: bytes) -> tuple[str, ...]:
        """Return the names of definitions of which all lines but blank ones are shown, each once."""
        opened = self._open.get(number)
        if opened is None or not any(marks):
            return ()
        if opened.candidate.mode is not ViewMode.FULL or opened.lines.is_whole:
            return ()
        told = opened.lines.shown_or_blank(marks)
        names: dict[str, None] = {}
        for definition in self.analysis(number).definitions:
            if told.find(0, definition.signature - 1, definition.last) < 0:
                names[".".join(definition.path)] = None
        return tuple(names)


def _by_file(score: float, pieces: Sequence[Piece], chances: Sequence[float]) -> Sequence[float]:
    """Return chances by which the pieces of likelier files enter first, however long they are."""
    best = max(chances, default=0.0) or 1.0
    return [
        score * chance / best * max(1, piece.characters / CHARACTERS_PER_TOKEN) ** DENSITY
        for piece, chance in zip(pieces, chances, strict=True)
    ]
