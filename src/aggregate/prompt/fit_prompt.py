"""Compose prompts within a token budget, and several requests of one project.

The stages of a task and of an overview are the same: ``rank_files`` reads the corpus, asks the question and ranks it;
candidates say what may be shown; ``fit_prompt`` gives the sections their shares, fits lines of files, lays out segments
and writes the audit's rows. A ``Composer`` reuses the selection and the ranking of the last request.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.files import ALL_LINES, Entry, Run
from aggregate.base.monitor import timed
from aggregate.base.task_budget import Budget, Level
from aggregate.base.text import heading_text
from aggregate.project.files import FolderListing
from aggregate.project.index import Index
from aggregate.project.paths import Scope
from aggregate.prompt.asking import ALL_FILES, Request
from aggregate.prompt.assemble import Composition, assemble
from aggregate.prompt.corpus import FileCorpus, RankedFiles, rank_files, with_scores
from aggregate.prompt.document import END, SEPARATOR, Section, Segment
from aggregate.prompt.files import FILES_TIER3, File, Selection, render_files, select_files
from aggregate.prompt.fit import (
    ALL,
    Candidates,
    Fit,
    Fitted,
    Shares,
    called_definitions,
    changes_for,
    choices_of,
    frame_of,
    keep_sent_files,
    left_out,
    new_fit,
    shown_files,
    whole_fit,
)
from aggregate.prompt.sections import FittedSection, described_tree, most_tokens, not_shown
from aggregate.ranking import WEIGHTS

_REMAINDER = (
    0.025  # part of the budget for the list of hidden files; the contract allows 0.03 (rule B-7)
)
_LEAST_REMAINDER = 64  # tokens of the list in any case (rule B-7)
_ROUNDS = 4  # of laying out a prompt that is a little over or has room; each leaves a fraction
NOTHING_ELSE = "Nothing else scores {:.2%} for the task. "
_NEXT = 0.1  # part of the budget by which the audit estimates the next level (rule A-1)
_OF_CHANGED = 0.5  # part of the room beside pins for changed definitions of a review (rule T-14)
_PINS_NAMED = 3  # largest pins in the error of a too small budget
# All budgets rank files alike; without a budget others are selected.
_ANY_BUDGET = Budget(0)
_Question = tuple[int, Request]  # counter of the disk's changes, and a request without its budget


@timed("compose_within_budget")
def compose_within_budget(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: FileCorpus | None = None,
) -> Composition:
    """Rank a request's files, and compose its prompt.

    The prompt keeps the request's budget (rules B-1 to B-8).
    """
    ranked = rank_files(
        request, index=index, weights=weights, on_start=on_start, on_done=on_done, files=files
    )
    candidates = Candidates(request, ranked, index=index)
    return fit_prompt(request, candidates)


def fit_prompt(request: Request, candidates: Candidates) -> Composition:
    """Compose the prompt of ranked candidates within the request's budget.

    The stages are the sections' shares, the lines of files, the segments, and the audit's rows.
    """
    budget, ranking = request.budget, candidates.ranking
    if budget is None:
        raise ValueError("a prompt without a budget is not fitted")
    changes = changes_for(request, candidates.ranks, candidates.generated)
    tree = None
    if request.is_structural:
        tree = described_tree(candidates.numbers, candidates.corpus.text)
    shares = Shares(request, budget, candidates.count, changes, tree)
    filling = _Filling(request, budget, candidates, shares, frame_of(request))
    whole = filling.whole_prompt()
    note = ""
    if ranking.guess:
        note = f"The choice of files is a guess: {heading_text(ranking.guess.sentence)}."
    fitted = whole or replace(filling, frame=frame_of(request, note=note)).filled_prompt()
    fit, marks = fitted.fit, fitted.fit.marks()
    if not fit.is_exhausted:
        fit.advance(fit.spent + int(budget.tokens * _NEXT))
    choices = choices_of(
        candidates, fit, marks=marks, tokens=fitted.file_tokens, listed=fitted.listed
    )
    return replace(
        fitted.composition,
        choices=choices,
        cut=tuple(chain.from_iterable(section.cuts for section in fitted.sections.values())),
        missing=ranking.missing,
        guess=None if whole else ranking.guess,
    )


class _Fitted(NamedTuple):
    """A prompt with visible lines of files, and other sections."""

    composition: Composition
    tokens: list[int]  # by segment
    room: int  # tokens left of the budget
    fit: Fit
    sections: Fitted
    listed: Set[str]  # paths of hidden files that are listed by name

    @property
    def file_tokens(self) -> dict[str, int]:
        segments = self.composition.prompt.segments
        return {
            segment.source: tokens
            for segment, tokens in zip(segments, self.tokens, strict=True)
            if segment.section is Section.FILES and segment.source
        }


@dataclass(frozen=True, slots=True)
class _Filling:
    """Fills a budget with lines of files beside the other sections."""

    request: Request
    budget: Budget
    candidates: Candidates
    shares: Shares
    frame: Mapping[Section, Sequence[Segment]]  # the first and last sections

    def whole_prompt(self) -> _Fitted | None:
        """Return the prompt with all files in full (rule B-12), ``None`` if it exceeds the budget."""
        fit = whole_fit(self.candidates, self.budget.tokens)
        if fit is None:
            return None
        filling, sections = self, self.shares.with_more(self.shares.least, ALL)
        if self.request.is_structural and not self.request.is_overview:  # as without a budget
            sections = {**sections, Section.TREE: FittedSection()}
            filling = replace(self, frame={})
        for with_notes in (True, False):
            fitted = filling._laid_out(fit, sections, with_notes=with_notes)
            if fitted.room >= 0:
                return fitted
        return None

    def filled_prompt(self) -> _Fitted:
        """Return the prompt with as many lines as fit; raise ``BudgetError`` if the pins do not."""
        pinned = self._laid_out(new_fit(self.candidates), self.shares.least)
        if pinned.room < 0:
            raise self._too_small(pinned)
        fitted = self._within(pinned.room, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.is_review:
            changed = self.candidates.changed_definitions(int(pinned.room * _OF_CHANGED))
            fitted = self._within(pinned.room, changed) or fitted
        if self.request.kept:
            fitted = self._within(pinned.room, self._kept_lines(fitted)) or fitted
        is_cut = any(section.cuts for section in fitted.sections.values())
        if not (is_cut and fitted.fit.is_exhausted):
            return fitted
        # All files are shown: the other sections get the rest. The lines of the files stay the same, so that a larger
        # budget never shows fewer.
        sections = self.shares.with_more(fitted.sections, fitted.room)
        room = self._laid_out(fitted.fit, sections).room
        remainder = max(min(room, self._reserve), 0)
        more = self._laid_out(fitted.fit, sections, remainder=remainder)
        return fitted if more.room < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(self, room: int, runs: Mapping[int, tuple[Run, ...]]) -> _Fitted | None:
        """Return the prompt with the most lines in ``room`` tokens.

        Return ``None`` if none fits. The tokens of pinned files do not count. The lines in ``runs`` are always shown.
        """
        candidates, count = self.candidates, self.candidates.count
        sections = self.shares.within(room)
        limit = room - self.shares.reserved(room) - count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve
        if runs:
            pins_alone = self._laid_out(new_fit(candidates), sections)
            target -= pins_alone.room - self._laid_out(new_fit(candidates, runs), sections).room
        for _ in range(_ROUNDS):
            fit = new_fit(candidates, runs)
            initial_room = self._laid_out(fit, sections).room
            filled = self._advanced(fit, sections, target, initial_room)
            if self.request.is_structural and not runs:
                fit.drop_bare()
                filled = self._advanced(fit, sections, target, initial_room)
            # Not the actual room: a larger budget may have less of it, but must not show fewer lines.
            spare = reserve - most_tokens(left_out(candidates, fit), limit=reserve, count=count)
            if spare > 0:
                filled = self._advanced(fit, sections, target + spare, initial_room)
            remainder = max(min(filled.room, reserve), 0)
            prompt = self._laid_out(fit, sections, remainder=remainder)
            if prompt.room >= 0:
                return prompt
            target += prompt.room - _LEAST_REMAINDER
        return None

    def _advanced(self, fit: Fit, sections: Fitted, target: int, initial_room: int) -> _Fitted:
        """Show lines until the prompt has ``target`` tokens; return it without the list of hidden files."""
        fit.advance(max(target, 0))
        fitted = self._laid_out(fit, sections)
        for _ in range(_ROUNDS):
            # Adjacent lines have fewer tokens than the sum of their prices.
            slack = fit.spent - (initial_room - fitted.room)
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            fitted = self._laid_out(fit, sections)
        return fitted

    def _kept_lines(self, fitted: _Fitted) -> dict[int, tuple[Run, ...]]:
        """Return the last prompt's lines to show again.

        See rule B-9. ``fitted`` is a prompt for the new task alone.
        """
        candidates, fit, tokens = self.candidates, fitted.fit, fitted.file_tokens
        numbers = candidates.numbers
        choices = choices_of(
            candidates, fit, marks=fit.marks(), tokens=tokens, listed=fitted.listed
        )
        sent = [file for file in self.request.kept if file.path in numbers]
        room = fitted.room if fit.is_exhausted else 0
        runs: dict[int, tuple[Run, ...]] = {}
        for file in keep_sent_files(sent, choices, room=sum(tokens.values()) + room):
            number = numbers[file.path]
            if file.content_hash == candidates.corpus.content_hash(number).hex():
                runs[number] = file.lines
            elif file.level is Level.FULL:  # the lines of other changed files are unknown
                runs[number] = (ALL_LINES,)
        return {number: lines for number, lines in runs.items() if lines}

    def _laid_out(
        self, fit: Fit, sections: Fitted, *, remainder: int = 0, with_notes: bool = False
    ) -> _Fitted:
        """Return the prompt with the lines of a fit.

        ``remainder`` is the token limit of the list of hidden files, ``0`` for no list.
        """
        request, candidates, count = self.request, self.candidates, self.candidates.count
        files = shown_files(
            candidates, fit, request.file_order, doubts=request.doubts, with_notes=with_notes
        )
        hidden = list(left_out(candidates, fit)) if remainder else []
        is_end = fit.is_exhausted and candidates.has_least
        listed, segments = not_shown(
            hidden,
            limit=remainder,
            count=count,
            called=called_definitions(candidates, fit) if hidden else (),
            note=NOTHING_ELSE.format(candidates.relevant) if is_end else "",
        )
        composition = Composition(
            request,
            files,
            listed=segments,
            parts=dict(self.frame)
            | {section: fitted.segments for section, fitted in sections.items()},
        )
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [count(text + END) for text in texts[-1:]]
        paths = {path for path, *_ in hidden[:listed]}
        return _Fitted(composition, tokens, self.budget.tokens - sum(tokens), fit, sections, paths)

    def _too_small(self, pinned: _Fitted) -> BudgetError:
        smallest = sum(pinned.tokens)
        sizes: dict[str, int] = {}
        for segment, size in zip(pinned.composition.prompt.segments, pinned.tokens, strict=True):
            name = segment.source or segment.section.value
            sizes[name] = sizes.get(name, 0) + size
        largest_first = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))
        largest = ", ".join(
            f"{heading_text(name)} ({size:,})" for name, size in largest_first[:_PINS_NAMED]
        )
        reason = (
            f"the required parts have {smallest:,} tokens, more than the budget of {self.budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)


class _Ranked(NamedTuple):
    question: _Question
    ranked: RankedFiles
    candidates: Candidates | None


class Composer:
    """Composes prompts of one project, one after another, reusing unchanged files and rankings."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.lock = threading.Lock()
        self._selecting = threading.Lock()
        self._listing: tuple[int, Scope, FolderListing] | None = None
        self._selected: tuple[_Question, Selection] | None = None
        self._ranked: _Ranked | None = None

    def listed(self, request: Request) -> Mapping[str, File]:
        """Return all files of the project that git does not ignore, by path."""
        everything = replace(
            request,
            entries=(Entry.of(ALL_FILES),),
            exclude=(),
            task=None,
            focus_files=(),
            tier=None,
        )
        # An entry not by a glob is the pattern itself, without matches.
        return _by_path([file for file in select_files(everything).files if file.by_glob])

    def select(self, request: Request, *, disk: int) -> Mapping[str, File]:
        """Return a request's files by path; any thread may call this without the lock."""
        return _by_path(self._selection(request, disk).files if request.entries else ())

    def compose(self, request: Request, *, disk: int) -> tuple[Composition, Mapping[str, File]]:
        """Return a request's prompt, and its files by path.

        The caller must hold the lock.

        Args:
            request: A request of the same project as the last one.
            disk: A counter of changes on the disk; files are unchanged while it is equal.
        """
        if request.budget is None:
            selection = self._selection(request, disk)
            files = render_files(request, index=self.index, selection=selection)
            composition = assemble(request, files)
            if request.task is not None:
                composition = with_scores(composition, self._rank(request, disk).ranked)
        else:
            _, ranked, candidates = self._rank(request, disk)
            candidates = candidates or Candidates(request, ranked, index=self.index)
            composition = fit_prompt(request, candidates)
            selection = ranked.corpus.selection
        return composition, _by_path(selection.files)

    def _selection(self, request: Request, disk: int) -> Selection:
        """Return the files of a request; the files of the last request if no setting differs."""
        question = _question_of(request, disk)
        with self._selecting:
            if self._selected is None or self._selected[0] != question:
                if self._listing is None or self._listing[:2] != (disk, request.scope):
                    self._listing = disk, request.scope, FolderListing(request.scope)
                self._selected = question, select_files(request, listing=self._listing[2])
            return self._selected[1]

    def _rank(self, request: Request, disk: int) -> _Ranked:
        """Rank the files of a request; reuse the last ranking if only the budget differs."""
        question = _question_of(request, disk)
        if self._ranked is not None and self._ranked.question == question:
            return self._ranked
        self._ranked = None  # free memory before reading more
        ranked = rank_files(request, index=self.index)
        has_budget = request.budget is not None
        candidates = Candidates(request, ranked, index=self.index) if has_budget else None
        result = _Ranked(question, ranked, candidates)
        # New analyses are read from the index once before they are reused, so that answers never depend on earlier
        # questions.
        self._ranked = None if ranked.corpus.new_tables else result
        return result


def _question_of(request: Request, disk: int) -> _Question:
    """Drop the fields on which neither the files nor their ranking depend."""
    budget = None if request.budget is None else _ANY_BUDGET
    return disk, replace(request, budget=budget, history=(), results=(), kept=(), doubts=())


def _by_path(files: Iterable[File]) -> dict[str, File]:
    return {file.path: file for file in files}
