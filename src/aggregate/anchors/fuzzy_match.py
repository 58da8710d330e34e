"""Find the place of a slice whose text was changed."""

from dataclasses import dataclass

from aggregate.anchors.align import Pairs, align, find_seeds, longest_chain
from aggregate.anchors.fingerprints import TRIVIAL, code_of
from aggregate.anchors.scoring import MARGIN, likeness, score_context
from aggregate.anchors.search_text import SearchText

CUT = 0.5
"""Likeness that a place needs by itself."""
HELD_CUT = 0.4
"""Likeness that is enough between the very lines that stood above and below."""
KEPT_CUT = 0.7
"""Share of its telling lines that a slice must have kept where it grew so much that it is no longer like itself."""
CONTEXT = 0.35
"""Context that a place needs of whose slice no line is left that stood alone."""


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
    """Return the places that a changed slice may have, the best first; none where nothing is left."""
    anchor, seeds = target.anchor, find_seeds(target)
    own = {i: j for i, j in seeds.items() if anchor.before <= i < anchor.after}
    places = [_place(target, align(target, longest_chain(chosen)), own) for chosen in (seeds, own) if chosen]
    found = {place for place in places if place is not None}
    return sorted(found, key=lambda place: (not place.sure, -place.alike - 0.1 * place.held, place.start, place.end))


def _place(target: SearchText, pairs: Pairs, seeds: Pairs) -> FuzzyMatch | None:
    """Read the place of the slice off a map of lines."""
    span = _span(target, pairs)
    if span is None:
        return None
    anchor, (start, end) = target.anchor, span
    held = (pairs.get(anchor.before - 1, -2) == start - 1 or start == target.head_place) + (
        pairs.get(anchor.after, -2) == end or end == target.tail_end
    )
    if start >= end:
        return FuzzyMatch(start, end, 0.0, held, sure=False, gone=held == 2)
    alike = _alike(target, pairs, start, end)
    enough = alike >= (HELD_CUT if held == 2 else CUT) or (held == 2 and _kept(target, pairs) >= KEPT_CUT)
    if not any(pairs.get(i) == j for i, j in seeds.items()) and held < 2:
        needed = max(CONTEXT, anchor.rival / 100 + MARGIN) if anchor.copies else CONTEXT
        enough = enough and score_context(target, start, end).score >= needed
    return FuzzyMatch(start, end, alike, held, sure=enough)


def _kept(target: SearchText, pairs: Pairs) -> float:
    """Return the share of the slice's telling lines that stand as they were; 0.0 where it had none."""
    anchor = target.anchor
    telling = [i for i in range(anchor.before, anchor.after) if not anchor.window[i] & TRIVIAL]
    kept = [i for i in telling if i in pairs and target.window[i] == target.coded[pairs[i]]]
    return len(kept) / len(telling) if telling else 0.0


def _span(target: SearchText, pairs: Pairs) -> tuple[int, int] | None:
    """Return the lines that the slice has become; empty where it was taken out, ``None`` where nothing tells."""
    anchor = target.anchor
    own = [i for i in pairs if anchor.before <= i < anchor.after]
    above = max((i for i in pairs if i < anchor.before), default=None)
    below = min((i for i in pairs if i >= anchor.after), default=None)
    top = -1 if above is None else pairs[above]
    bottom = len(target.lines) if below is None else pairs[below]
    if own:
        first, last = min(own), max(own)
        lead = _edge(first - anchor.before, pairs[first] - top - 1)
        trail = _edge(anchor.after - 1 - last, bottom - pairs[last] - 1)
        return pairs[first] - lead, pairs[last] + 1 + trail
    if above is None or below is None:
        return None
    return top + 1, bottom


def _edge(lost: int, free: int) -> int:
    """Return how many of the free lines beside the slice have taken the place of those that it lost at that edge."""
    return min(lost, free) if free <= 2 * lost else 0


def _alike(target: SearchText, pairs: Pairs, start: int, end: int) -> float:
    anchor = target.anchor
    texts = anchor.texts
    old = [
        target.lines[pairs[i]]
        if i in pairs and target.window[i] == target.coded[pairs[i]]
        else texts.get(code_of(value))
        for i, value in enumerate(anchor.window)
    ][anchor.before : anchor.after]
    own = [(i - anchor.before, j - start) for i, j in pairs.items() if anchor.before <= i < anchor.after]
    return likeness(old, target.lines[start:end], own)
