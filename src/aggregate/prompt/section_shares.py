"""The discussion and the results within their shares of a budget (rule B-5)."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aggregate.base.values import SEPARATOR, Budget, Cut, Segment
from aggregate.prompt.assemble import with_references
from aggregate.prompt.layout import Omitted, discussion_segments
from aggregate.prompt.request import Request

if TYPE_CHECKING:
    from aggregate.prompt.sections.subagent_results import Results

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
