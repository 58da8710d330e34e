"""Compose a prompt within a token budget."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.monitor import get_monitor
from aggregate.base.task import Budget, Level
from aggregate.base.text import heading_text
from aggregate.project.index import Index
from aggregate.prompt.asking.request import Request
from aggregate.prompt.assemble import Composition
from aggregate.prompt.corpus.ranked_files import ReadFiles, rank_files
from aggregate.prompt.document import END, SEPARATOR, Cut, Section, Segment
from aggregate.prompt.files.layout import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    files_section,
    rendered_segment,
)
from aggregate.prompt.files.line_runs import ALL_LINES, Run
from aggregate.prompt.fit.candidates import Candidates
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.fitted_sections import (
    ALL,
    Fitted,
    FittedSection,
    Shares,
    changes_for,
    frame_of,
)
from aggregate.prompt.fit.sent_files import keep_sent_files
from aggregate.prompt.sections.not_shown import most_tokens, not_shown
from aggregate.ranking import WEIGHTS

_REMAINDER = (
    0.025  # part of the budget for the list of hidden files; the contract allows 0.03 (rule B-7)
)
_LEAST_REMAINDER = 64  # tokens of the list in any case (rule B-7)
_ROUNDS = 4  # of laying out a prompt that is a little over or has room; each leaves a fraction
NOTHING_ELSE = "Nothing else scores {:.2%} for the task. "
_NEXT = 0.1  # part of the budget by which the audit estimates the next level (rule A-1)
_HIDDEN = frozenset({Level.LEFT_OUT, Level.NAME, Level.NONE})
_MOST_DOUBLINGS = 16  # of a budget that shows no file
_OF_CHANGED = 0.5  # part of the room beside pins for changed definitions of a review (rule T-14)
_PINS_NAMED = 3  # largest pins in the error of a too small budget


@get_monitor().scope("compose_within_budget")
def compose_within_budget(
    request: Request,
    *,
    index: Index,
    weights: Mapping[str, float] = WEIGHTS,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    files: ReadFiles | None = None,
) -> Composition:
    """Rank a request's files, and compose its prompt.

    The prompt keeps the request's budget (rules B-1 to B-8).
    """
    ranked = rank_files(
        request, index=index, weights=weights, on_start=on_start, on_done=on_done, files=files
    )
    return fit_prompt(request, Candidates(request, ranked, index=index))


def fit_prompt(request: Request, files: Candidates) -> Composition:
    """Compose the prompt of ranked candidates within the request's budget."""
    try:
        composition = _fitted_prompt(request, files)
    except BudgetError as error:
        if files.has_pins or not files.in_rank_order:
            raise
        smallest = _smallest_budget(request, files, error.smallest - 1)
        if not smallest:
            raise
        reason = f"{error.reason}: allow --budget {smallest}, the smallest that shows a file"
        raise BudgetError(reason, smallest=error.smallest, reason=error.reason) from None
    if _shows_a_file(composition) or not files.in_rank_order:
        return composition
    low = request.budget.tokens if request.budget else 0
    return replace(composition, smallest=_smallest_budget(request, files, low))


def _shows_a_file(composition: Composition) -> bool:
    return any(choice.level not in _HIDDEN for choice in composition.choices)


def _smallest_budget(request: Request, files: Candidates, low: int) -> int:
    def shows(tokens: int) -> bool:
        budget = replace(request.budget or Budget(0), tokens=tokens)
        return _shows_a_file(_fitted_prompt(replace(request, budget=budget), files))

    high = 2 * low
    for _ in range(_MOST_DOUBLINGS):
        if shows(high):
            return low + 1 + bisect_left(range(low + 1, high), True, key=shows)
        low, high = high, 2 * high
    return 0


def _fitted_prompt(request: Request, files: Candidates) -> Composition:
    if request.budget is None:
        raise ValueError("a prompt without a budget is not fitted")
    changes = changes_for(request, files.in_rank_order, files.files.corpus.files)
    tree = files.tree() if request.is_structural else None
    shares = Shares(request, request.budget, files.count, changes, tree)
    guess = files.ranked.ranking.guess
    note = f"The choice of files is a guess: {heading_text(guess.sentence)}." if guess else ""
    frame = frame_of(request)
    guess_frame = frame_of(request, note=note) if note else frame
    return _Filling(request, request.budget, files, shares, frame, guess_frame).prompt()


class _Fitted(NamedTuple):
    """A prompt with visible lines of files, and other sections."""

    composition: Composition
    tokens: list[int]  # by segment
    room: int  # tokens left of the budget
    fit: Fit
    sections: Fitted
    listed: Set[str]  # paths of hidden files that are listed by name

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return tuple(chain.from_iterable(section.cuts for section in self.sections.values()))

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
    request: Request
    budget: Budget
    files: Candidates
    shares: Shares
    frame: dict[Section, Sequence[Segment]]  # of a prompt with all files
    guess_frame: dict[Section, Sequence[Segment]]  # of one with a choice, which may be a guess

    def prompt(self) -> Composition:
        complete = self._complete()
        fitted = complete or self._filled()
        fit, marks = fitted.fit, _marks(fitted.fit)
        if not fit.is_exhausted:
            fit.advance(fit.spent + int(self.budget.tokens * _NEXT))
        choices = self.files.choices(marks, _marks(fit), fitted.file_tokens, fitted.listed)
        ranking = self.files.ranked.ranking
        return replace(
            fitted.composition,
            choices=choices,
            cut=fitted.cuts,
            missing=ranking.missing,
            guess=None if complete else ranking.guess,
        )

    def _complete(self) -> _Fitted | None:
        """Return the prompt with all files in full (rule B-12), ``None`` if it exceeds the budget."""
        fit = self.files.whole_fit(self.budget.tokens)
        if fit is None:
            return None
        sections, frame = self.shares.with_more(self.shares.least, ALL), self.frame
        if self.request.is_structural and not self.request.is_overview:  # as without a budget
            sections, frame = {**sections, Section.TREE: FittedSection()}, {}
        for with_notes in (True, False):
            fitted = self._laid_out(fit, sections, with_notes=with_notes, frame=frame)
            if fitted.room >= 0:
                return fitted
        return None

    def _filled(self) -> _Fitted:
        pinned = self._laid_out(self.files.new_fit(), self.shares.least)
        if pinned.room < 0:
            raise self._too_small(pinned)
        fitted = self._within(pinned.room, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.is_review:
            changed = self.files.changed_definitions(int(pinned.room * _OF_CHANGED))
            fitted = self._within(pinned.room, changed) or fitted
        if self.request.kept:
            fitted = self._within(pinned.room, self._kept_lines(fitted)) or fitted
        if not (fitted.cuts and fitted.fit.is_exhausted):
            return fitted
        # All files are shown: the other sections get the rest. The lines of the files stay the same, so that a larger
        # budget never shows fewer.
        sections = self.shares.with_more(fitted.sections, fitted.room)
        room = self._laid_out(fitted.fit, sections).room
        more = self._laid_out(fitted.fit, sections, remainder=max(min(room, self._reserve), 0))
        return fitted if more.room < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(self, room: int, runs: Mapping[int, tuple[Run, ...]]) -> _Fitted | None:
        """Return the prompt with the most lines in ``room`` tokens.

        Return ``None`` if none fits. The tokens of pinned files do not count. The lines in ``runs`` are always shown.
        """
        count = self.files.count
        sections = self.shares.within(room)
        limit = room - self.shares.reserved(room) - count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve
        if runs:
            pins_alone = self._laid_out(self.files.new_fit(), sections)
            target -= pins_alone.room - self._laid_out(self.files.new_fit(runs), sections).room
        for _ in range(_ROUNDS):
            fit = self.files.new_fit(runs)
            initial_room = self._laid_out(fit, sections).room
            filled = self._advanced(fit, sections, target, initial_room)
            if self.request.is_structural and not runs:
                fit.drop_bare()
                filled = self._advanced(fit, sections, target, initial_room)
            # Not the actual room: a larger budget may have less of it, but must not show fewer lines.
            spare = reserve - most_tokens(self.files.left_out(fit), limit=reserve, count=count)
            if spare > 0:
                filled = self._advanced(fit, sections, target + spare, initial_room)
            prompt = self._laid_out(fit, sections, remainder=max(min(filled.room, reserve), 0))
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
        numbers = {file.path: number for number, file, _, _ in self.files.in_rank_order}
        tokens, marks = fitted.file_tokens, _marks(fitted.fit)
        choices = self.files.choices(marks, marks, tokens, fitted.listed)
        sent = [file for file in self.request.kept if file.path in numbers]
        room = fitted.room if fitted.fit.is_exhausted else 0
        runs = {
            # The lines of a changed file are unknown, unless all of it was shown.
            numbers[file.path]: file.lines
            if file.content_hash == self.files.content_hash(numbers[file.path])
            else (ALL_LINES,) * (file.level is Level.FULL)
            for file in keep_sent_files(sent, choices, room=sum(tokens.values()) + room)
        }
        return {number: lines for number, lines in runs.items() if lines}

    def _laid_out(
        self,
        fit: Fit,
        sections: Fitted,
        *,
        remainder: int = 0,
        with_notes: bool = False,
        frame: dict[Section, Sequence[Segment]] | None = None,
    ) -> _Fitted:
        """Return the prompt with the lines of a fit.

        ``remainder`` is the token limit of the list of hidden files, ``0`` for no list.
        """
        request = self.request
        files = self.files.shown_files(
            fit, request.file_order, doubts=request.doubts, with_notes=with_notes
        )
        hidden = list(self.files.left_out(fit)) if remainder else []
        is_end = fit.is_exhausted and self.files.has_least
        listed, segments = not_shown(
            hidden,
            limit=remainder,
            count=self.files.count,
            called=self.files.called(fit) if hidden else (),
            note=NOTHING_ELSE.format(self.files.relevant) if is_end else "",
        )
        title = FILES_SUMMARY if request.is_summary else FILES
        title = FILES_TIER3 if request.is_tier3 else title
        composition = Composition(
            request,
            files,
            lay_out=lambda shown: files_section(
                title, chain(map(rendered_segment, shown), segments)
            ),
            parts=(self.guess_frame if frame is None else frame)
            | {section: fitted.segments for section, fitted in sections.items()},
        )
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [self.files.count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [self.files.count(text + END) for text in texts[-1:]]
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


def _marks(fit: Fit) -> dict[int, bytes]:
    return {number: bytes(state.marks) for number, state in fit.shown.items()}
