"""How well a place fits: by the lines around it and by the likeness of its own."""

from collections.abc import Sequence

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from aggregate.code.anchors.search_text import SearchText
from aggregate.code.anchors.thresholds import Thresholds


def score_context(target: SearchText, start: int, end: int) -> float:
    """Return how far the lines around ``[start, end)`` are those of the capture.

    It is the mean of both sides, 0.0 to 1.0, and above 1.0 with a bonus for a side on which no line of the text
    changed. Near lines weigh more than far ones, and lines at another distance than before weigh less.
    """
    anchor = target.anchor
    size_below = len(target.window) - anchor.after
    old_above, old_below = target.window[: anchor.before][::-1], target.window[anchor.after :]
    new_above = target.text.coded[max(start - anchor.before, 0) : start][::-1]
    new_below = target.text.coded[end : end + size_below]
    sides = [
        _side_score(target, old, new)
        for old, new in ((old_above, new_above), (old_below, new_below))
        if old
    ]
    mean = sum(sides) / len(sides) if sides else 0.0
    unbroken_sides = (start == target.head_place) + (end == target.tail_end)
    return mean + target.thresholds.unbroken_bonus * unbroken_sides


def _side_score(target: SearchText, old: str, new: str) -> float:
    """Return the weighted share of ``old`` that stands in ``new``; both read away from the slice."""
    fade, drift = target.thresholds.context_fade, target.thresholds.context_drift
    weights = [
        (target.thresholds.trivial_weight if char in target.trivial else 1.0)
        * fade
        / (fade + distance)
        for distance, char in enumerate(old)
    ]
    fitting = 0.0
    for block in Indel.editops(old, new).as_matching_blocks():
        displaced = drift / (drift + abs(block.a - block.b))
        fitting += displaced * sum(weights[block.a : block.a + block.size])
    return fitting / sum(weights)


def likeness(
    old: Sequence[str | None],
    new: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    thresholds: Thresholds,
) -> float:
    """Return how alike two runs of lines are, 0.0 to 1.0: the paired lines by their text, weighted by their length.

    ``None`` is a line whose text was not kept: paired with an equal line by its fingerprint, so alike where it is.
    """
    clip = thresholds.compared_characters
    old_lines = [None if line is None else comparable(line, clip) for line in old]
    new_lines = [comparable(line, clip) for line in new]
    total = float(
        sum(_weight(line) for line in old_lines if line is not None) + sum(map(_weight, new_lines))
    )
    shared = 0.0
    for i, j in pairs:
        line = old_lines[i]
        if line is None:
            shared += 2 * _weight(new_lines[j])
            total += _weight(new_lines[j])
        else:
            shared += line_likeness(line, new_lines[j]) * (_weight(line) + _weight(new_lines[j]))
    unknown = sum(line is None for line in old) - sum(old[i] is None for i, _ in pairs)
    total += unknown * total / max(len(old) + len(new), 1)
    return min(shared / total, 1.0) if total else 1.0


def comparable(line: str, clip: int) -> str:
    """Return what is compared of a line: white space at its ends does not count, nor what lies far right."""
    return line.strip()[:clip]


def line_likeness(old: str, new: str) -> float:
    """Return how alike two comparable lines are, 0.0 to 1.0."""
    return fuzz.ratio(old, new) / 100


def _weight(line: str) -> int:
    return len(line) + 1
