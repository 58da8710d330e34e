"""Find the place of a slice whose text was changed."""

from dataclasses import dataclass

from aggregate.code.anchors.align import Pairs, align, find_seeds, longest_rising_part
from aggregate.code.anchors.fingerprints import TRIVIAL, code_of
from aggregate.code.anchors.scoring import likeness, score_context
from aggregate.code.anchors.search_text import SearchText


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """Where a changed slice stands.

    Attributes:
        start: Index of its first line.
        end: Index behind its last line.
        alike: Likeness to the captured text, 0.0 to 1.0.
        held: How many of its two sides still touch the line that they touched before.
        sure: Whether this is enough to show the lines.
        gone: Whether both sides are there and nothing is left between them.
    """

    start: int
    end: int
    alike: float
    held: int
    sure: bool
    gone: bool = False


def fuzzy_matches(target: SearchText) -> list[FuzzyMatch]:
    """Return the places that a changed slice may have, the best first; none where nothing is left.

    The map of lines is made twice: from all that is rare around and in the slice, and from what is rare in it alone,
    which finds a slice that was moved away from its surroundings.
    """
    anchor, seeds = target.anchor, find_seeds(target)
    own_seeds = {old: new for old, new in seeds.items() if anchor.before <= old < anchor.after}
    places = set()
    for start_from in (seeds, own_seeds):
        pairs = align(target, longest_rising_part(start_from)) if start_from else {}
        span = _span(target, pairs)
        if span is not None:
            places.add(_place(target, pairs, own_seeds, *span))
    return sorted(
        places,
        key=lambda place: (not place.sure, -place.held, -place.alike, place.start, place.end),
    )


def _place(target: SearchText, pairs: Pairs, own_seeds: Pairs, start: int, end: int) -> FuzzyMatch:
    """Judge the place that a map of lines gives the slice."""
    anchor, thresholds = target.anchor, target.thresholds
    above_held = pairs.get(anchor.before - 1, -2) == start - 1 or start == target.head_place
    below_held = pairs.get(anchor.after, -2) == end or end == target.tail_end
    held = above_held + below_held
    if start >= end:
        return FuzzyMatch(start, end, 0.0, held, sure=False, gone=held == 2)
    alike = _likeness(target, pairs, start, end)
    if held == 2:
        sure = (
            alike >= thresholds.held_likeness or _kept_share(target, pairs) >= thresholds.kept_share
        )
        return FuzzyMatch(start, end, alike, held, sure)
    sure = alike >= thresholds.likeness
    if sure and not any(pairs.get(old) == new for old, new in own_seeds.items()):
        needed = thresholds.seedless_context
        if anchor.copies:
            needed = max(needed, anchor.rival / 100 + thresholds.lead)
        sure = score_context(target, start, end) >= needed
    return FuzzyMatch(start, end, alike, held, sure)


def _kept_share(target: SearchText, pairs: Pairs) -> float:
    """Return the share of the slice's telling lines that stand as they were; 0.0 where it had none."""
    anchor = target.anchor
    telling = [
        index for index in range(anchor.before, anchor.after) if not anchor.window[index] & TRIVIAL
    ]
    kept = sum(_unchanged(target, pairs, index) for index in telling)
    return kept / len(telling) if telling else 0.0


def _unchanged(target: SearchText, pairs: Pairs, index: int) -> bool:
    return index in pairs and target.window[index] == target.text.coded[pairs[index]]


def _span(target: SearchText, pairs: Pairs) -> tuple[int, int] | None:
    """Return the lines that the slice has become; empty where it was taken out, ``None`` where nothing tells.

    Lines that it lost at an edge are taken to be replaced by the free lines there, one by one.
    """
    anchor = target.anchor
    own = [old for old in pairs if anchor.before <= old < anchor.after]
    above = max((old for old in pairs if old < anchor.before), default=None)
    below = min((old for old in pairs if old >= anchor.after), default=None)
    top = -1 if above is None else pairs[above]
    bottom = len(target.text.lines) if below is None else pairs[below]
    if own:
        first, last = min(own), max(own)
        lead = min(first - anchor.before, pairs[first] - top - 1)
        trail = min(anchor.after - 1 - last, bottom - pairs[last] - 1)
        return pairs[first] - lead, pairs[last] + 1 + trail
    if above is None or below is None:
        return None
    return top + 1, bottom


def _likeness(target: SearchText, pairs: Pairs, start: int, end: int) -> float:
    anchor = target.anchor
    old = [
        target.text.lines[pairs[index]]
        if _unchanged(target, pairs, index)
        else anchor.texts.get(code_of(anchor.window[index]))
        for index in range(anchor.before, anchor.after)
    ]
    own = [
        (i - anchor.before, j - start)
        for i, j in pairs.items()
        if anchor.before <= i < anchor.after
    ]
    return likeness(old, target.text.lines[start:end], own, target.thresholds)
