"""The sections of a prompt beside its files within a budget: of what pins leave each has its share (rule B-5)."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.request import Budget
from aggregate.prompt.assemble import with_references
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment
from aggregate.prompt.request import Request
from aggregate.prompt.turns import Omitted, discussion_segments

if TYPE_CHECKING:
    from aggregate.prompt.results import Results

Count = Callable[[str], int]
ALL = 1 << 62  # More tokens than there are
_FOLDED = "shown by its summary and a reference"
_LEFT_OUT = "the results have no more of the budget; the first ones go first"


@dataclass(frozen=True, slots=True)
class FittedSection:
    """What a section shows within a number of tokens, and its own.

    ``needed`` are those of the section with all of it; ``cuts`` is what the audit tells (rule A-4).
    """

    segments: tuple[Segment, ...] = ()
    tokens: int = 0
    needed: int = 0
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """The part of what pins leave that a section has at most, and what it shows with so many tokens more than least."""

    section: Section
    part: float
    fit: Callable[[int], FittedSection]


@dataclass(frozen=True, slots=True)
class OtherSections:
    """The sections beside the files, and the tokens that files do not get for them beyond the least that they have."""

    fitted: Mapping[Section, FittedSection]
    reserved: int = 0

    @property
    def segments(self) -> dict[Section, Sequence[Segment]]:
        return {section: fitted.segments for section, fitted in self.fitted.items()}

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return tuple(chain.from_iterable(fitted.cuts for fitted in self.fitted.values()))


@dataclass(frozen=True, slots=True)
class Shares:
    shares: Sequence[Share]
    least: OtherSections

    @classmethod
    def of(cls, shares: Sequence[Share]) -> "Shares":
        return cls(shares, OtherSections({each.section: each.fit(0) for each in shares}))

    def within(self, room: int) -> OtherSections:
        """Return each section within its share of ``room``, the tokens that the pins leave."""
        fitted, reserved = {}, 0
        for section, part, fit in ((each.section, each.part, each.fit) for each in self.shares):
            limit = int(room * part)
            fitted[section] = fit(limit)
            # The share counts, not what whole turns take of it: else a turn more would leave less for the files.
            reserved += min(limit, fitted[section].needed - self.least.fitted[section].tokens)
        return OtherSections(fitted, reserved)

    def with_more(self, others: OtherSections, left: int) -> OtherSections:
        """Return the sections with what is ``left`` too, the first ones first."""
        fitted = {}
        for section, fit in ((each.section, each.fit) for each in self.shares):
            shown = others.fitted[section].tokens
            fitted[section] = fit(shown - self.least.fitted[section].tokens + left)
            left -= fitted[section].tokens - shown
        return OtherSections(fitted, others.reserved)


def shares_of(request: Request, budget: Budget, count: Count) -> Shares:
    history, results = request.history, request.results
    return Shares.of(
        (
            Share(
                Section.HISTORY, budget.history, lambda limit: fit_history(history, limit, count)
            ),
            Share(
                Section.RESULTS,
                budget.results,
                lambda limit: fit_results(results, limit, count, folder=request.results_dir),
            ),
        )
    )


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedSection:
    """Return as many of the newest turns as have at most ``limit`` tokens more than the last one alone, a pin."""
    segments = discussion_segments(history)
    sizes = [count(segment.text + SEPARATOR) for segment in segments[1:]]
    needed = tokens_of(segments, count)

    def without(number: int) -> FittedSection:
        """Return the discussion without so many of its first turns."""
        if not number:
            return FittedSection(segments, needed, needed)
        omitted = Omitted(number, sum(sizes[:number]))
        turns = f"turns 1 to {number}" if number > 1 else "turn 1"
        reason = "the discussion has no more of the budget; the oldest turns go first"
        cut = Cut("history", turns, omitted.tokens, reason)
        shown = discussion_segments(history[number:], omitted)
        return FittedSection(shown, tokens_of(shown, count), needed, (cut,))

    if len(history) < 2:
        return without(0)
    most = without(len(history) - 1).tokens + limit
    if needed <= most:
        return without(0)
    numbers = range(1, len(history))
    return without(1 + bisect_left(numbers, True, key=lambda each: without(each).tokens <= most))


def fit_results(
    results: "tuple[Results, ...]", limit: int, count: Count, *, folder: Path | None
) -> FittedSection:
    """Return the results within ``limit`` tokens: large ones fold to references first, then the first ones go.

    ``folder`` is where the values of those are kept that fold, ``None`` where none may.
    """
    if not results:
        return FittedSection()
    from aggregate.prompt.sections.subagent_results import (
        results_segments,  # few prompts have results
    )

    segments = results_segments(results)
    heading, *blocks = segments
    whole = [tokens_of((block,), count) for block in blocks]
    of_heading = tokens_of((heading,), count)
    needed = of_heading + sum(whole)
    if needed <= limit:
        return FittedSection(segments, needed, needed)
    shown, sizes = results, whole
    if folder is not None:
        shown, sizes = _folded(shown, whole, needed - limit, folder, count)
    left_out, omitted = _left_out(sizes, whole, limit - of_heading, count)
    cuts = tuple(
        Cut("results", block.source, before - size, _FOLDED if size else _LEFT_OUT)
        for block, before, size in zip(
            blocks, whole, [0] * left_out + sizes[left_out:], strict=True
        )
        if size < before
    )
    segments = results_segments(shown[left_out:], omitted)
    return FittedSection(segments, tokens_of(segments, count), needed, cuts)


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
        saved = whole[number] - tokens_of(results_segments(folded)[1:], count)
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


def tokens_of(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)
