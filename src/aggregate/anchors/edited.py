"""Find the place of a slice whose text was changed."""

from dataclasses import dataclass

from aggregate.anchors.align import Pairs, align, find_seeds, longest_chain
from aggregate.anchors.prints import code_of
from aggregate.anchors.score import likeness
from aggregate.anchors.target import Target

CUT = 0.6
"""Likeness that a place needs by itself."""
HELD_CUT = 0.4
"""Likeness that is enough between the very lines that stood above and below."""


@dataclass(frozen=True, slots=True)
class EditedPlace:
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


def edited_place(target: Target) -> EditedPlace | None:
    """Return the best place of a changed slice, ``None`` where no line of the slice or around it is left."""
    anchor, seeds = target.anchor, find_seeds(target)
    own = {i: j for i, j in seeds.items() if anchor.before <= i < anchor.after}
    places = [_place(target, align(target, longest_chain(chosen))) for chosen in (seeds, own) if chosen]
    found = [place for place in places if place is not None]
    return max(found, key=lambda place: (place.sure, place.alike + 0.1 * place.held), default=None)


def _place(target: Target, pairs: Pairs) -> EditedPlace | None:
    """Read the place of the slice off a map of lines."""
    if not pairs:
        return None
    span = _span(target, pairs)
    if span is None:
        return None
    start, end = span
    alike = _alike(target, pairs, start, end)
    anchor = target.anchor
    held = (pairs.get(anchor.before - 1, -2) == start - 1 or start == target.head_place) + (
        pairs.get(anchor.after, -2) == end or end == target.tail_end
    )
    return EditedPlace(
        start, end, alike, held, end > start and alike >= (HELD_CUT if held == 2 else CUT), start >= end and held == 2
    )


def _span(target: Target, pairs: Pairs) -> tuple[int, int] | None:
    """Return the lines that the slice has become; empty where it was taken out, ``None`` where nothing tells."""
    anchor = target.anchor
    own = [i for i in pairs if anchor.before <= i < anchor.after]
    above = max((i for i in pairs if i < anchor.before), default=None)
    below = min((i for i in pairs if i >= anchor.after), default=None)
    top = -1 if above is None else pairs[above]
    bottom = len(target.lines) if below is None else pairs[below]
    if own:
        first, last = min(own), max(own)
        lead = min(first - anchor.before, pairs[first] - top - 1)
        trail = min(anchor.after - 1 - last, bottom - pairs[last] - 1)
        return pairs[first] - lead, pairs[last] + 1 + trail
    if above is None or below is None:
        return None
    return top + 1, bottom


def _alike(target: Target, pairs: Pairs, start: int, end: int) -> float:
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
