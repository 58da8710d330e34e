"""One prompt within a number of tokens: laid out, filled with lines, laid out again until it fits and is full."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.monitor import get_monitor
from aggregate.base.request import Budget, Level
from aggregate.base.text import heading_text
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition
from aggregate.prompt.candidates import RELEVANT, Candidates
from aggregate.prompt.changed_files import changes_for
from aggregate.prompt.document import END, SEPARATOR, Cut, Section, Segment
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.kept_levels import keep_levels
from aggregate.prompt.fit.steps import ALL_LINES, Run
from aggregate.prompt.fitted_sections import ALL, Fitted, FittedSection, Shares, frame_of, shares_of
from aggregate.prompt.layout import (
    FILES,
    FILES_SUMMARY,
    FILES_TIER3,
    files_section,
    rendered_segment,
)
from aggregate.prompt.ranked_files import ReadFiles, rank_files
from aggregate.prompt.request import Request
from aggregate.prompt.sections.not_shown import most_tokens, not_shown
from aggregate.ranking import WEIGHTS

_REMAINDER = 0.025  # Of the budget, for what is not shown; the contract allows 0.03 (rule B-7)
_LEAST_REMAINDER = 64  # Tokens for it in any case (rule B-7)
# How often a prompt is laid out again, that is a little over or has room: each round leaves a fraction of that.
_ROUNDS = 4
NOTHING_ELSE = f"Nothing else scores {RELEVANT:.2%} for the task. "
_NEXT = 0.1  # The part of the budget by which the audit says what more of it would buy (rule A-1)
_HIDDEN = frozenset({Level.LEFT_OUT, Level.NAME, Level.NONE})
_MOST_DOUBLINGS = 16  # of a budget that shows no file, until one does
_OF_CHANGED = 0.5  # The part of what pins leave for changed definitions of a review (rule T-14)
# The largest of the pins that a budget is too small for; one of these is what to shorten.
_PINS_NAMED = 3


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
    """Compose the prompt that ``request`` asks for within its budget (rules B-1 to B-8).

    Args and errors are those of ``rank_files``.
    """
    ranked = rank_files(
        request, index=index, weights=weights, on_start=on_start, on_done=on_done, files=files
    )
    return fit_prompt(request, Candidates(request, ranked, index=index))


def fit_prompt(request: Request, files: Candidates) -> Composition:
    """Compose the prompt that shows as much of the files as the request's budget allows."""
    try:
        composition = _fitted_prompt(request, files)
    except BudgetError as error:
        smallest = (
            _smallest_budget(request, files, error.smallest - 1) if files.in_rank_order else 0
        )
        if files.has_pins or not smallest:
            raise
        remedy = f"allow --budget {smallest}, the smallest that shows a file"
        raise BudgetError(
            f"{error.reason}: {remedy}", smallest=error.smallest, reason=error.reason
        ) from None
    if _shows_a_file(composition) or not files.in_rank_order:
        return composition
    low = request.budget.tokens if request.budget else 0
    return replace(composition, smallest=_smallest_budget(request, files, low))


def _shows_a_file(composition: Composition) -> bool:
    return any(choice.level not in _HIDDEN for choice in composition.choices)


def _smallest_budget(request: Request, files: Candidates, low: int) -> int:
    """Return the smallest budget above ``low`` that shows a file, ``0`` where none does; larger never show less."""

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
    shares = shares_of(request, request.budget, files.count, changes=changes, tree=tree)
    guess = files.ranked.ranking.guess
    note = f"The choice of files is a guess: {heading_text(guess.sentence)}." if guess else ""
    frame = frame_of(request)
    noted = frame_of(request, note=note) if note else frame
    return _Filling(request, request.budget, files, shares, frame, noted).prompt()


class _Fitted(NamedTuple):
    """A prompt that shows a fit and other sections: tokens by segment, what is left of the budget, names alone."""

    composition: Composition
    tokens: list[int]
    left: int
    fit: Fit
    others: Fitted
    named: Set[str]

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return tuple(chain.from_iterable(each.cuts for each in self.others.values()))

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
    frame: dict[Section, Sequence[Segment]]  # of a prompt that shows all
    noted: dict[Section, Sequence[Segment]]  # of one that had to choose, which may be a guess

    def prompt(self) -> Composition:
        whole = self._whole()
        fitted = whole or self._filled()
        fit, shown = fitted.fit, _marks(fitted.fit)
        if not fit.is_exhausted:
            fit.advance(fit.spent + int(self.budget.tokens * _NEXT))
        choices = self.files.choices(shown, _marks(fit), fitted.file_tokens, fitted.named)
        ranking = self.files.ranked.ranking
        return replace(
            fitted.composition,
            choices=choices,
            cut=fitted.cuts,
            missing=ranking.missing,
            guess=None if whole else ranking.guess,
        )

    def _whole(self) -> _Fitted | None:
        """Return the prompt that shows all (rule B-12), ``None`` where that, file by file, exceeds the budget."""
        fit = self.files.whole_fit(self.budget.tokens)
        if fit is None:
            return None
        others, frame = self.shares.with_more(self.shares.least, ALL), self.frame
        if self.request.is_structural and not self.request.is_overview:  # as without a budget
            others, frame = {**others, Section.TREE: FittedSection()}, {}
        for with_notes in (True, False):
            fitted = self._laid_out(fit, others, with_notes=with_notes, frame=frame)
            if fitted.left >= 0:
                return fitted
        return None

    def _filled(self) -> _Fitted:
        pinned = self._laid_out(self.files.new_fit(), self.shares.least)
        if pinned.left < 0:
            raise self._too_small(pinned)
        fitted = self._within(pinned.left, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.is_review:
            changed = self.files.changed_definitions(int(pinned.left * _OF_CHANGED))
            fitted = self._within(pinned.left, changed) or fitted
        if self.request.kept:
            fitted = self._within(pinned.left, self._kept_lines(fitted)) or fitted
        if not (fitted.cuts and fitted.fit.is_exhausted):
            return fitted
        # The other sections get what the files leave, which are all shown: what is shown of the files stays, so that a
        # larger budget never shows less of them.
        others = self.shares.with_more(fitted.others, fitted.left)
        room = self._laid_out(fitted.fit, others).left
        more = self._laid_out(fitted.fit, others, remainder=max(min(room, self._reserve), 0))
        return fitted if more.left < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(self, room: int, kept: Mapping[int, tuple[Run, ...]]) -> _Fitted | None:
        """Return the prompt with as much as fits into the ``room`` that pins leave, ``None`` where nothing does."""
        count = self.files.count
        others = self.shares.within(room)
        limit = room - self.shares.reserved(room) - count(f"{FILES_TIER3}{SEPARATOR}")
        reserve = min(self._reserve, limit // 2)
        target = limit - reserve
        if kept:
            pins_alone = self._laid_out(self.files.new_fit(), others)
            target -= pins_alone.left - self._laid_out(self.files.new_fit(kept), others).left
        for _ in range(_ROUNDS):
            fit = self.files.new_fit(kept)
            bare = self._laid_out(fit, others).left
            filled = self._advanced(fit, others, target, bare)
            # Not what is left: that may be less with a larger budget, and the files must not have less then.
            spare = reserve - most_tokens(self.files.left_out(fit), limit=reserve, count=count)
            if spare > 0:
                filled = self._advanced(fit, others, target + spare, bare)
            prompt = self._laid_out(fit, others, remainder=max(min(filled.left, reserve), 0))
            if prompt.left >= 0:
                return prompt
            target += prompt.left - _LEAST_REMAINDER
        return None

    def _advanced(self, fit: Fit, others: Fitted, target: int, bare: int) -> _Fitted:
        """Take steps for ``target`` more tokens than what left ``bare``; return the prompt without the remainder."""
        fit.advance(max(target, 0))
        fitted = self._laid_out(fit, others)
        for _ in range(_ROUNDS):
            # Lines that stand together have fewer tokens than their prices add up to.
            slack = fit.spent - (bare - fitted.left)
            if slack <= 0 or fit.is_exhausted:
                break
            fit.advance(max(target + slack, 0))
            fitted = self._laid_out(fit, others)
        return fitted

    def _kept_lines(self, fitted: _Fitted) -> dict[int, tuple[Run, ...]]:
        """Return the lines that stay as they were sent, given what would be shown for this task alone (rule B-9)."""
        numbers = {each.file.path: each.number for each in self.files.in_rank_order}
        tokens, marks = fitted.file_tokens, _marks(fitted.fit)
        choices = self.files.choices(marks, marks, tokens, fitted.named)
        sent = [file for file in self.request.kept if file.path in numbers]
        left = fitted.left if fitted.fit.is_exhausted else 0
        kept = {
            # Of a file that has changed nothing is known to be the same, unless all of it was shown.
            numbers[file.path]: file.lines
            if file.content_hash == self.files.content_hash(numbers[file.path])
            else (ALL_LINES,) * (file.level is Level.FULL)
            for file in keep_levels(sent, choices, room=sum(tokens.values()) + left)
        }
        return {number: runs for number, runs in kept.items() if runs}

    def _laid_out(
        self,
        fit: Fit,
        others: Fitted,
        *,
        remainder: int = 0,
        with_notes: bool = False,
        frame: dict[Section, Sequence[Segment]] | None = None,
    ) -> _Fitted:
        """Return the prompt that shows what ``fit`` and ``others`` do, and notes as without a budget.

        ``remainder`` is the most tokens for what is not shown, ``0`` for no such list.
        """
        request = self.request
        files = self.files.shown_files(
            fit, request.file_order, doubts=request.doubts, with_notes=with_notes
        )
        hidden = list(self.files.left_out(fit)) if remainder else []
        is_end = fit.is_exhausted and self.files.has_least
        named, segments = not_shown(
            hidden,
            limit=remainder,
            count=self.files.count,
            called=self.files.called(fit) if hidden else (),
            note=NOTHING_ELSE if is_end else "",
        )
        title = FILES_SUMMARY if request.is_summary else FILES
        title = FILES_TIER3 if request.is_tier3 else title
        composition = Composition(
            request,
            files,
            lay_out=lambda shown: files_section(
                title, chain(map(rendered_segment, shown), segments)
            ),
            parts=(self.noted if frame is None else frame)
            | {section: each.segments for section, each in others.items()},
        )
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [self.files.count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [self.files.count(text + END) for text in texts[-1:]]
        names = {path for path, *_ in hidden[:named]}
        return _Fitted(composition, tokens, self.budget.tokens - sum(tokens), fit, others, names)

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
            f"what must be shown has {smallest:,} tokens, more than the budget of {self.budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)


def _marks(fit: Fit) -> dict[int, bytes]:
    return {number: bytes(state.marks) for number, state in fit.shown.items()}
