"""One prompt within a number of tokens: laid out, filled with lines, laid out again until it fits and is full."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aggregate.base.errors import BudgetError
from aggregate.base.monitor import get_monitor
from aggregate.base.request import Budget, Level
from aggregate.base.text import heading_text
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition, with_references
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.kept_levels import keep_levels
from aggregate.prompt.fit.steps import ALL_LINES, Run
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
from aggregate.prompt.turns import Omitted, discussion_segments
from aggregate.ranking import WEIGHTS

if TYPE_CHECKING:
    from aggregate.prompt.results import Results

_REMAINDER = 0.025  # Of the budget, for what is not shown; the contract allows 0.03 (rule B-7)
_LEAST_REMAINDER = 64  # Tokens for it in any case (rule B-7)
# How often a prompt is laid out again, that is a little over or has room: each round leaves a fraction of that.
_ROUNDS = 4
_NEXT = 0.1  # The part of the budget by which the audit says what more of it would buy (rule A-1)
_ALL = 1 << 62  # More tokens than there are
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
    if request.budget is None:
        raise ValueError("a prompt without a budget is not fitted")
    return _Filling(request, request.budget, files).prompt()


Count = Callable[[str], int]
_FOLDED = "shown by its summary and a reference"
_LEFT_OUT = "the results have no more of the budget; the first ones go first"


@dataclass(frozen=True, slots=True)
class FittedSection:
    """The last turns or results that are shown, what is left out before them, and the tokens.

    ``needed`` are those of the section with all of them whole; ``cuts`` is what the audit tells (rule A-4).
    """

    shown: tuple[Any, ...] = ()
    omitted: Omitted | None = None
    tokens: int = 0
    needed: int = 0
    cuts: tuple[Cut, ...] = ()


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedSection:
    """Return as many of the newest turns as have at most ``limit`` tokens more than the last one alone, a pin."""
    segments = discussion_segments(history)
    sizes = [count(segment.text + SEPARATOR) for segment in segments[1:]]
    needed = _tokens(segments, count)

    def without(number: int) -> FittedSection:
        """Return the discussion without so many of its first turns."""
        if not number:
            return FittedSection(tuple(history), None, needed, needed)
        omitted = Omitted(number, sum(sizes[:number]))
        turns = f"turns 1 to {number}" if number > 1 else "turn 1"
        reason = "the discussion has no more of the budget; the oldest turns go first"
        cut = Cut("history", turns, omitted.tokens, reason)
        shown = tuple(history[number:])
        tokens = _tokens(discussion_segments(shown, omitted), count)
        return FittedSection(shown, omitted, tokens, needed, (cut,))

    if len(history) < 2:
        return without(0)
    most = without(len(history) - 1).tokens + limit
    if needed <= most:
        return without(0)
    numbers = range(1, len(history))
    return without(1 + bisect_left(numbers, True, key=lambda each: without(each).tokens <= most))


def fit_results(request: Request, limit: int, count: Count) -> FittedSection:
    """Return the results within ``limit`` tokens: large ones fold to references first, then the first ones go."""
    if not request.results:
        return FittedSection()
    from aggregate.prompt.sections.subagent_results import (
        results_segments,  # few prompts have results
    )

    heading, *blocks = results_segments(request.results)
    whole = [_tokens((block,), count) for block in blocks]
    of_heading = _tokens((heading,), count)
    needed = of_heading + sum(whole)
    if needed <= limit:
        return FittedSection(request.results, None, needed, needed)
    shown, sizes = request.results, whole
    if request.results_dir is not None:
        shown, sizes = _folded(shown, whole, needed - limit, request.results_dir, count)
    left_out, omitted = _left_out(sizes, whole, limit - of_heading, count)
    shown = shown[left_out:]
    cuts = tuple(
        Cut("results", block.source, before - size, _FOLDED if size else _LEFT_OUT)
        for block, before, size in zip(
            blocks, whole, [0] * left_out + sizes[left_out:], strict=True
        )
        if size < before
    )
    tokens = _tokens(results_segments(shown, omitted), count)
    return FittedSection(shown, omitted, tokens, needed, cuts)


def _folded(
    results: "tuple[Results, ...]", whole: Sequence[int], over: int, folder: Path, count: Count
) -> "tuple[tuple[Results, ...], list[int]]":
    """Return the results, the largest by references until that saves ``over`` tokens, and the tokens of each."""
    from aggregate.prompt.sections.subagent_results import results_segments

    shown, sizes = list(results), list(whole)
    for number in sorted(range(len(shown)), key=lambda each: (-whole[each], each)):
        if over <= 0:
            break
        folded = with_references((shown[number],), folder, 0)
        saved = whole[number] - _tokens(results_segments(folded)[1:], count)
        if saved > 0 and len(folded) == 1:
            shown[number] = folded[0]
            sizes[number] -= saved
            over -= saved
    return tuple(shown), sizes


def _left_out(
    sizes: Sequence[int], whole: Sequence[int], limit: int, count: Count
) -> tuple[int, Omitted | None]:
    """Return how many of the first results go so that the others fit, and what is told of them if that fits.

    ``sizes`` are the tokens of the results as they would be shown, ``whole`` those before any was folded.
    """
    for number in range(len(sizes) + 1):
        left = sum(sizes[number:])
        if left <= limit:
            omitted = Omitted(number, sum(whole[:number])) if number else None
            note = count(omitted.sentence("more result") + SEPARATOR) if omitted else 0
            if left + note <= limit:
                return number, omitted
    return len(sizes), None


@dataclass(frozen=True, slots=True)
class OtherSections:
    """The sections beside the files, and the tokens that files do not get for them beyond the least that they have."""

    history: FittedSection
    results: FittedSection
    reserved: int = 0

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return (*self.history.cuts, *self.results.cuts)


def least_sections(request: Request, count: Count) -> OtherSections:
    return OtherSections(fit_history(request.history, 0, count), FittedSection())


def fit_sections(
    request: Request, budget: Budget, least: OtherSections, *, room: int, count: Count
) -> OtherSections:
    """Return the sections beside the files within their shares of ``room``, the tokens that the pins leave."""
    of_history, of_results = int(room * budget.history), int(room * budget.results)
    history = fit_history(request.history, of_history, count)
    results = fit_results(request, of_results, count)
    # The shares count, not what whole turns take of them: else a turn more would leave less for the files.
    reserved = min(of_history, history.needed - least.history.tokens)
    return OtherSections(history, results, reserved + min(of_results, results.needed))


def with_more(
    request: Request, others: OtherSections, least: OtherSections, *, left: int, count: Count
) -> OtherSections:
    shown = others.history.tokens
    history = fit_history(request.history, shown - least.history.tokens + left, count)
    left -= history.tokens - shown
    results = fit_results(request, others.results.tokens + left, count)
    return OtherSections(history, results, others.reserved)


def _tokens(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)


class _Fitted(NamedTuple):
    """A prompt that shows a fit and other sections: tokens by segment, what is left of the budget, names alone."""

    composition: Composition
    tokens: list[int]
    left: int
    fit: Fit
    others: OtherSections
    named: Set[str]

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

    def prompt(self) -> Composition:
        least = least_sections(self.request, self.files.count)
        fitted = self._whole(least) or self._filled(least)
        fit, shown = fitted.fit, _marks(fitted.fit)
        if not fit.is_exhausted:
            fit.advance(fit.spent + int(self.budget.tokens * _NEXT))
        choices = self.files.choices(shown, _marks(fit), fitted.file_tokens, fitted.named)
        ranking = self.files.ranked.ranking
        return replace(
            fitted.composition,
            choices=choices,
            cut=fitted.others.cuts,
            missing=ranking.missing,
            guess=ranking.guess,
        )

    def _whole(self, least: OtherSections) -> _Fitted | None:
        """Return the prompt that shows all (rule B-12), ``None`` where that, file by file, exceeds the budget."""
        fit = self.files.whole_fit(self.budget.tokens)
        if fit is None:
            return None
        others = with_more(self.request, least, least, left=_ALL, count=self.files.count)
        for with_notes in (True, False):
            fitted = self._laid_out(fit, others, with_notes=with_notes)
            if fitted.left >= 0:
                return fitted
        return None

    def _filled(self, least: OtherSections) -> _Fitted:
        pinned = self._laid_out(self.files.new_fit(), least)
        if pinned.left < 0:
            raise self._too_small(pinned)
        fitted = self._within(least, pinned.left, {})
        if fitted is None:  # not even a line fits beside the pins
            return pinned
        if self.request.kept:
            fitted = self._within(least, pinned.left, self._kept_lines(fitted)) or fitted
        if not (fitted.others.cuts and fitted.fit.is_exhausted):
            return fitted
        # The other sections get what the files leave, which are all shown: what is shown of the files stays, so that a
        # larger budget never shows less of them.
        count = self.files.count
        others = with_more(self.request, fitted.others, least, left=fitted.left, count=count)
        room = self._laid_out(fitted.fit, others).left
        more = self._laid_out(fitted.fit, others, remainder=max(min(room, self._reserve), 0))
        return fitted if more.left < 0 else more

    @property
    def _reserve(self) -> int:
        return max(_LEAST_REMAINDER, int(self.budget.tokens * _REMAINDER))

    def _within(
        self, least: OtherSections, room: int, kept: Mapping[int, tuple[Run, ...]]
    ) -> _Fitted | None:
        """Return the prompt with as much as fits into the ``room`` that pins leave, ``None`` where nothing does."""
        count = self.files.count
        others = fit_sections(self.request, self.budget, least, room=room, count=count)
        limit = room - others.reserved - count(f"{FILES_TIER3}{SEPARATOR}")
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

    def _advanced(self, fit: Fit, others: OtherSections, target: int, bare: int) -> _Fitted:
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
        hashes = {choice.path: choice.content_hash for choice in choices}
        sent = [file for file in self.request.kept if file.path in numbers]
        left = fitted.left if fitted.fit.is_exhausted else 0
        kept = {
            # Of a file that has changed nothing is known to be the same, unless all of it was shown.
            numbers[file.path]: file.lines
            if file.content_hash == hashes[file.path]
            else (ALL_LINES,) * (file.level is Level.FULL)
            for file in keep_levels(sent, choices, room=sum(tokens.values()) + left)
        }
        return {number: runs for number, runs in kept.items() if runs}

    def _laid_out(
        self, fit: Fit, others: OtherSections, *, remainder: int = 0, with_notes: bool = False
    ) -> _Fitted:
        """Return the prompt that shows what ``fit`` and ``others`` do, and notes as without a budget.

        ``remainder`` is the most tokens for what is not shown, ``0`` for no such list.
        """
        request = self.request
        files = self.files.shown_files(
            fit, self.budget.order, doubts=request.doubts, with_notes=with_notes
        )
        hidden = list(self.files.left_out(fit)) if remainder else []
        named, segments = not_shown(hidden, limit=remainder, count=self.files.count)
        title = FILES_SUMMARY if request.is_summary else FILES
        title = FILES_TIER3 if request.is_tier3 else title
        composition = Composition(
            replace(request, history=others.history.shown, results=others.results.shown),
            files,
            lay_out=lambda shown: files_section(
                title, chain(map(rendered_segment, shown), segments)
            ),
            omitted=(others.history.omitted, others.results.omitted),
        )
        texts = [segment.text for segment in composition.prompt.segments]
        tokens = [self.files.count(text + SEPARATOR) for text in texts[:-1]]
        tokens += [self.files.count(text) for text in texts[-1:]]
        names = {path for path, _ in hidden[:named]}
        return _Fitted(composition, tokens, self.budget.tokens - sum(tokens), fit, others, names)

    def _too_small(self, pinned: _Fitted) -> BudgetError:
        smallest = sum(pinned.tokens)
        names = [each.source or each.section.value for each in pinned.composition.prompt.segments]
        sizes = sorted(zip(pinned.tokens, names, strict=True), key=lambda each: (-each[0], each[1]))
        largest = ", ".join(
            f"{heading_text(name)} ({size:,})" for size, name in sizes[:_PINS_NAMED]
        )
        reason = (
            f"what must be shown has {smallest:,} tokens, more than the budget of {self.budget.tokens:,}; "
            f"the largest: {largest}"
        )
        remedy = f"pin less, or allow --budget {smallest}"
        return BudgetError(f"{reason}: {remedy}", smallest=smallest, reason=reason)


def _marks(fit: Fit) -> dict[int, bytes]:
    return {number: bytes(state.marks) for number, state in fit.shown.items()}
