"""The discussion and the results within their shares of a budget (rule B-5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aggregate.compose.assemble import with_references
from aggregate.compose.request import Request
from aggregate.models.choice import Cut
from aggregate.models.prompt import SEPARATOR, Segment
from aggregate.sections.discussion import OmittedTurns, discussion_segments

if TYPE_CHECKING:
    from aggregate.sections.subagent_results import Results

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
    everything = _tokens(discussion_segments(history), count)
    if len(history) < 2:
        return FittedHistory(tuple(history), None, everything, everything)
    own = _turn_tokens(history, count)
    least = _fitted(history, len(history) - 1, own, count, everything)
    if everything <= least.tokens + limit:
        return FittedHistory(tuple(history), None, everything, everything)
    low, high = 0, len(history) - 1  # the fewest turns to leave out that fit, by bisection
    while low < high:
        middle = (low + high) // 2
        if _fitted(history, middle, own, count, everything).tokens <= least.tokens + limit:
            high = middle
        else:
            low = middle + 1
    return _fitted(history, max(low, 1), own, count, everything)


def _fitted(
    history: Sequence[object], omitted: int, own: Sequence[int], count: Count, needed: int
) -> FittedHistory:
    """Return the discussion without its first turns."""
    turns = tuple(history[omitted:])
    note = OmittedTurns(omitted, sum(own[:omitted])) if omitted else None
    tokens = _tokens(discussion_segments(turns, note), count)
    return FittedHistory(turns, note, tokens, needed)


def _turn_tokens(history: Sequence[object], count: Count) -> list[int]:
    """Return the tokens of each turn with all others shown."""
    segments = discussion_segments(history)[1:]
    return [count(segment.text + SEPARATOR) for segment in segments]


@dataclass(frozen=True, slots=True)
class FittedResults:
    """Sub-agents' results, folded and cut.

    Attributes:
        results: Those that are shown, some by a reference.
        cut: What was folded or left out.
        tokens: Of the section.
        needed: Of the section with all results whole.
    """

    results: "tuple[Results, ...]"
    cut: tuple[Cut, ...]
    tokens: int
    needed: int


NO_RESULTS = FittedResults((), (), 0, 0)


def fit_results(request: Request, limit: int, count: Count) -> FittedResults:
    """Return the results within ``limit`` tokens: large ones fold to references first, then the first ones go."""
    if not request.results:
        return NO_RESULTS
    from aggregate.sections.subagent_results import results_segments  # few prompts have results

    def tokens_of(results: "Sequence[Results]") -> int:
        return _tokens(results_segments(tuple(results)), count)

    shown = list(request.results)
    needed = tokens_of(shown)
    if needed <= limit:
        return FittedResults(tuple(shown), (), needed, needed)
    cuts: list[Cut] = []
    names = [segment.source for segment in results_segments(tuple(shown))[1:]]
    sizes = [tokens_of([result]) for result in shown]
    total = needed
    for place in sorted(range(len(shown)), key=lambda place: (-sizes[place], place)):
        if total <= limit or request.results_dir is None:
            break
        folded = with_references((shown[place],), request.results_dir, 0)
        saved = sizes[place] - tokens_of(folded)
        if saved > 0 and len(folded) == 1:
            shown[place] = folded[0]
            sizes[place] -= saved
            cuts.append(Cut("results", names[place], saved, "shown by its summary and a reference"))
            total = tokens_of(shown)
    while shown and total > limit:
        reason = "the results have no more of the budget; the first ones go first"
        remaining = tokens_of(shown[1:]) if len(shown) > 1 else 0
        cuts.append(Cut("results", names[len(names) - len(shown)], total - remaining, reason))
        shown, total = shown[1:], remaining
    return FittedResults(tuple(shown), tuple(cuts), total, needed)


def _tokens(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)
