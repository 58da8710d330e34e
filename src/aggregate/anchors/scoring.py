"""How well a place fits: by the lines around it and by the likeness of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from aggregate.anchors.search_text import SearchText

REACH = 16
"""Lines beyond the window that are read at a place, for what was inserted there."""
FADE = 6
"""Distance in lines at which a line of context weighs half as much as the nearest one."""
DRIFT = 16
"""Displacement in lines at which a line of context counts half."""
FAINT = 0.1
"""Weight of a trivial line beside a telling one."""
UNBROKEN = 0.5
"""Bonus of a place above or below which no line of the whole text has changed."""


MARGIN = 0.15
"""Lead in context that makes one of several places the right one."""


@dataclass(frozen=True, slots=True)
class ContextScore:
    """How far the lines around a place are those of the capture.

    Attributes:
        score: Mean of both sides, 0.0 to 1.0, above 1.0 with a bonus for a side on which no line of the text changed.
        above: The upper side alone, 0.0 to 1.0; ``None`` where no line stood there at capture.
        below: The lower side alone.
    """

    score: float
    above: float | None
    below: float | None


def score_context(target: SearchText, start: int, end: int) -> ContextScore:
    """Return how far the lines around ``[start, end)`` are those of the capture.

    Near lines weigh more than far ones, and lines at another distance than before weigh less.
    """
    anchor, size = target.anchor, len(target.window) - target.anchor.after
    old_above, old_below = target.window[: anchor.before][::-1], target.window[anchor.after :]
    new_above = target.coded[max(start - anchor.before - REACH, 0) : start][::-1]
    new_below = target.coded[end : end + size + REACH]
    above = _side_score(old_above, new_above, target.trivial) if old_above else None
    below = _side_score(old_below, new_below, target.trivial) if old_below else None
    sides = [side for side in (above, below) if side is not None]
    unbroken = (start == target.head_place) + (end == target.tail_end)
    return ContextScore((sum(sides) / len(sides) if sides else 0.0) + UNBROKEN * unbroken, above, below)


def _side_score(old: str, new: str, trivial: frozenset[str]) -> float:
    """Return the weighted share of ``old`` that stands in ``new``; both read away from the slice."""
    weights = [(FAINT if char in trivial else 1.0) * FADE / (FADE + i) for i, char in enumerate(old)]
    kept = 0.0
    for block in Indel.editops(old, new).as_matching_blocks():
        drift = DRIFT / (DRIFT + abs(block.a - block.b))
        kept += drift * sum(weights[block.a : block.a + block.size])
    return kept / sum(weights)


def likeness(old: Sequence[str | None], new: Sequence[str], pairs: Sequence[tuple[int, int]]) -> float:
    """Return how alike two runs of lines are, 0.0 to 1.0: the paired lines by their text, weighted by their length.

    ``None`` is a line whose text was not kept: paired with an equal line by its print, so alike where it is paired.
    """
    total = sum(_mass(line) for line in old if line is not None) + sum(map(_mass, new))
    shared = 0.0
    for i, j in pairs:
        line = old[i]
        if line is None:
            shared += 2 * _mass(new[j])
            total += _mass(new[j])
        else:
            shared += line_likeness(line, new[j]) * (_mass(line) + _mass(new[j]))
    unknown = sum(line is None for line in old) - sum(old[i] is None for i, _ in pairs)
    total += unknown * total / max(len(old) + len(new), 1)
    return min(shared / total, 1.0) if total else 1.0


def line_likeness(old: str, new: str) -> float:
    """Return how alike two lines are, 0.0 to 1.0; white space at their ends does not count, nor what lies far right."""
    return fuzz.ratio(old.strip()[:LONGEST], new.strip()[:LONGEST]) / 100


LONGEST = 240
"""Characters of a line that are compared: enough to tell, and a bound on the time."""


def _mass(line: str) -> float:
    return min(len(line.strip()), LONGEST) + 1.0
