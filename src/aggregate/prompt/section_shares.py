"""The discussion and the results within their shares of a budget (rule B-5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.values import SEPARATOR, Budget, Cut, Segment
from aggregate.prompt.assemble import with_references
from aggregate.prompt.request import Request
from aggregate.prompt.sections.discussion import OmittedTurns, discussion_segments

if TYPE_CHECKING:
    from aggregate.prompt.sections.subagent_results import OmittedResults, Results

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class FittedHistory:
    """The newest turns of a discussion.

    Attributes:
        turns: Those that are shown.
        omitted: What is left out before them, ``None`` for nothing.
        tokens: Of the section.
        needed: Of the section with all turns.
    """

    turns: tuple[object, ...]
    omitted: OmittedTurns | None
    tokens: int
    needed: int

    def cuts(self) -> tuple[Cut, ...]:
        """Return what the audit tells of it."""
        if self.omitted is None:
            return ()
        turns = f"turns 1 to {self.omitted.turns}" if self.omitted.turns > 1 else "turn 1"
        reason = "the discussion has no more of the budget; the oldest turns go first"
        return (Cut("history", turns, self.omitted.tokens, reason),)


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedHistory:
    """Return as many of the newest turns as have at most ``limit`` tokens more than the last one alone.

    The last turn is always shown: it is a pin.
    """
    tokens_of_all = _tokens(discussion_segments(history), count)
    if len(history) < 2:
        return FittedHistory(tuple(history), None, tokens_of_all, tokens_of_all)
    turn_tokens = _turn_tokens(history, count)
    last_alone = _fitted(history, len(history) - 1, turn_tokens, count, tokens_of_all)
    if tokens_of_all <= last_alone.tokens + limit:
        return FittedHistory(tuple(history), None, tokens_of_all, tokens_of_all)
    low, high = 0, len(history) - 1  # the fewest turns to leave out that fit, by bisection
    while low < high:
        middle = (low + high) // 2
        if (
            _fitted(history, middle, turn_tokens, count, tokens_of_all).tokens
            <= last_alone.tokens + limit
        ):
            high = middle
        else:
            low = middle + 1
    return _fitted(history, max(low, 1), turn_tokens, count, tokens_of_all)


def _fitted(
    history: Sequence[object],
    omitted: int,
    turn_tokens: Sequence[int],
    count: Count,
    tokens_of_all: int,
) -> FittedHistory:
    """Return the discussion without its first turns."""
    turns = tuple(history[omitted:])
    note = OmittedTurns(omitted, sum(turn_tokens[:omitted])) if omitted else None
    tokens = _tokens(discussion_segments(turns, note), count)
    return FittedHistory(turns, note, tokens, tokens_of_all)


def _turn_tokens(history: Sequence[object], count: Count) -> list[int]:
    """Return the tokens of each turn with all others shown."""
    segments = discussion_segments(history)[1:]
    return [count(segment.text + SEPARATOR) for segment in segments]


@dataclass(frozen=True, slots=True)
class FittedResults:
    """Sub-agents' results, folded and cut.

    Attributes:
        results: Those that are shown, some by a reference.
        omitted: What is left out before them, ``None`` for nothing, or where not even the line about it fits.
        cuts: What was folded or left out, in the order of the results.
        tokens: Of the section.
        needed: Of the section with all results whole.
    """

    results: "tuple[Results, ...]"
    omitted: "OmittedResults | None"
    cuts: tuple[Cut, ...]
    tokens: int
    needed: int


NO_RESULTS = FittedResults((), None, (), 0, 0)
_FOLDED = "shown by its summary and a reference"
_LEFT_OUT = "the results have no more of the budget; the first ones go first"


def fit_results(request: Request, limit: int, count: Count) -> FittedResults:
    """Return the results within ``limit`` tokens: large ones fold to references first, then the first ones go."""
    if not request.results:
        return NO_RESULTS
    from aggregate.prompt.sections.subagent_results import (
        results_segments,  # few prompts have results
    )

    heading, *blocks = results_segments(request.results)
    whole = [_tokens((block,), count) for block in blocks]
    limit_of_blocks = limit - _tokens((heading,), count)
    needed = limit - limit_of_blocks + sum(whole)
    if needed <= limit:
        return FittedResults(request.results, None, (), needed, needed)
    shown, sizes = request.results, whole
    if request.results_dir is not None:
        shown, sizes = _folded(shown, whole, needed - limit, request.results_dir, count)
    left_out, omitted = _left_out(sizes, whole, limit_of_blocks, count)
    shown = shown[left_out:]
    sizes = [0] * left_out + sizes[left_out:]
    cuts = tuple(
        Cut("results", block.source, before - size, _FOLDED if size else _LEFT_OUT)
        for block, before, size in zip(blocks, whole, sizes, strict=True)
        if size < before
    )
    tokens = _tokens(results_segments(shown, omitted), count)
    return FittedResults(shown, omitted, cuts, tokens, needed)


def _folded(
    results: "tuple[Results, ...]", whole: Sequence[int], over: int, folder: Path, count: Count
) -> "tuple[tuple[Results, ...], list[int]]":
    """Return the results, the largest by references until that saves ``over`` tokens, and the tokens of each."""
    from aggregate.prompt.sections.subagent_results import results_segments

    shown, sizes = list(results), list(whole)
    for place in sorted(range(len(shown)), key=lambda place: (-whole[place], place)):
        if over <= 0:
            break
        folded = with_references((shown[place],), folder, 0)
        _, *blocks = results_segments(folded)
        saved = whole[place] - _tokens(blocks, count)
        if saved > 0 and len(folded) == 1:
            shown[place] = folded[0]
            sizes[place] -= saved
            over -= saved
    return tuple(shown), sizes


def _left_out(
    sizes: Sequence[int], whole: Sequence[int], limit: int, count: Count
) -> "tuple[int, OmittedResults | None]":
    """Return how many of the first results go so that the others fit, and what is told of them if that fits.

    Args:
        sizes: Tokens of each result as it would be shown.
        whole: Tokens of each result before it was folded.
        limit: The most tokens of those that stay and of the line about those that go.
        count: Counts the tokens of a text.
    """
    from aggregate.prompt.sections.subagent_results import OmittedResults

    left = sum(sizes)
    for number in range(len(sizes) + 1):
        if left <= limit:
            omitted = OmittedResults(number, sum(whole[:number])) if number else None
            note = count(omitted.sentence + SEPARATOR) if omitted else 0
            if left + note <= limit:
                return number, omitted
        left -= sizes[number] if number < len(sizes) else 0
    return len(sizes), None


@dataclass(frozen=True, slots=True)
class OtherSections:
    """The sections beside the files.

    Attributes:
        history: The discussion.
        results: Sub-agents' results.
        reserved: Tokens that the files do not get for them, beyond the least that they have.
    """

    history: FittedHistory
    results: FittedResults
    reserved: int = 0

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """What the audit tells of them (rule A-4)."""
        return (*self.history.cuts(), *self.results.cuts)


def least_sections(request: Request, count: Count) -> OtherSections:
    """Return what is shown beside the files in any case: the last turn."""
    return OtherSections(fit_history(request.history, 0, count), NO_RESULTS)


def fit_sections(
    request: Request, budget: Budget, least: OtherSections, *, room: int, count: Count
) -> OtherSections:
    """Return the sections beside the files within their shares.

    Args:
        request: Whose sections.
        budget: What their shares are.
        least: What of them is shown in any case.
        room: The tokens that the pins leave.
        count: Counts the tokens of a text.
    """
    of_history, of_results = int(room * budget.history), int(room * budget.results)
    history = fit_history(request.history, of_history, count)
    results = fit_results(request, of_results, count)
    # The shares count, not what whole turns take of them: else a turn more would leave less for the files.
    reserved = min(of_history, history.needed - least.history.tokens)
    return OtherSections(history, results, reserved + min(of_results, results.needed))


def with_more(
    request: Request, others: OtherSections, least: OtherSections, *, left: int, count: Count
) -> OtherSections:
    """Return the sections with tokens that nobody uses, first for turns, then for results.

    Args:
        request: Whose sections.
        others: What they are within their shares.
        least: What of them is shown in any case.
        left: The tokens.
        count: Counts the tokens of a text.
    """
    shown = others.history.tokens
    history = fit_history(request.history, shown - least.history.tokens + left, count)
    left -= history.tokens - shown
    results = fit_results(request, others.results.tokens + left, count)
    return OtherSections(history, results, others.reserved)


def _tokens(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)
