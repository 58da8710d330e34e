"""Find where a slice may be in a text, by exact copies, then by scores of similar places."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from aggregate.base.text import common_prefix, longest_rising
from aggregate.code.anchors.anchor import REPEATED, THRESHOLDS, TRIVIAL, SearchText, code_of


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """Exact copies of a slice in a text."""

    chosen: int | None = None
    rivals: tuple[int, ...] = ()  # equally good or too poor places
    tied: bool = False  # whether ``rivals`` fit equally well
    total: int = 0


def exact_matches(target: SearchText) -> ExactMatches:
    """Find the exact copies of a slice in a text.

    One copy is chosen by the lines around it.
    """
    places, total = _places(target)
    ranked = [(fit, place) for fit, place in _ranked(target, places) if target.same_text(place)]
    if not ranked:
        return ExactMatches()
    best_score = ranked[0][0]
    too_near = best_score - THRESHOLDS.lead
    tied = sorted(place for fit, place in ranked if fit > too_near or place in target.unbroken)
    # More than the best copy scored at capture.
    needed = max(THRESHOLDS.copy_context, target.anchor.rival / 100 + THRESHOLDS.lead)
    if len(tied) == 1 and (not target.anchor.copies or best_score >= needed):
        return ExactMatches(chosen=tied[0], total=total)
    is_tie = len(tied) > 1
    rivals = tied if is_tie else sorted(place for _, place in ranked)
    # Choose the place between the two nearest unique lines; blank lines and braces up to them must be unchanged.
    lines_before = target.anchor.before
    sides = (range(lines_before - 1, -1, -1), range(target.anchor.after, len(target.window)))
    between = rivals
    for side in sides:
        between = [p for p in between if _leads_to_single(target, side, p - lines_before)]
    if len(between) == 1:
        return ExactMatches(chosen=between[0], total=total)
    return ExactMatches(
        rivals=tuple(rivals), tied=is_tie, total=len(tied) if is_tie else max(total, len(ranked))
    )


def rivalry(target: SearchText) -> tuple[int, int]:
    """Count further copies of a slice, and rate the best.

    The rating says in percent how similar the lines around the best copy are to those around the slice.
    """
    places, total = _places(target)
    current = target.anchor.start - 1
    best = max((fit for fit, place in _ranked(target, places) if place != current), default=0.0)
    return total - 1, min(round(best * 100), 100)


def _leads_to_single(target: SearchText, side: range, shift: int) -> bool:
    # The next nontrivial line must be unique, at capture and now.
    coded = target.text.coded
    for index in side:
        char, fingerprint = target.window[index], target.anchor.window[index]
        if not 0 <= index + shift < len(coded) or coded[index + shift] != char:
            return False
        if not fingerprint & TRIVIAL:
            return not fingerprint & REPEATED and char in target.text.single_lines
    return False


def _ranked(target: SearchText, places: Sequence[int]) -> list[tuple[float, int]]:
    size = target.anchor.size
    ranked = [(score_context(target, place, place + size), place) for place in places]
    return sorted(ranked, key=lambda pair: (-pair[0], pair[1]))


def _places(target: SearchText) -> tuple[Sequence[int], int]:
    # Neighbours narrow down too many places.
    anchor, most, reach = target.anchor, THRESHOLDS.scored_places, 0
    places = _find_all(target.text.coded, target.slice_window, most)
    total = len(places)
    while len(places) > most and reach < max(anchor.before, len(target.window) - anchor.after):
        reach = reach * 2 or 1
        low = max(anchor.before - reach, 0)
        with_neighbours = target.window[low : anchor.after + reach]
        starts = _find_all(target.text.coded, with_neighbours, most)
        places = [start + anchor.before - low for start in starts]
    return sorted({*places[:most], *target.unbroken}), total


def _find_all(coded: str, needle: str, most: int) -> list[int]:
    # One more than the limit shows an overflow.
    starts: list[int] = []
    start = coded.find(needle)
    while start != -1 and len(starts) <= most:
        starts.append(start)
        start = coded.find(needle, start + 1)
    return starts


def score_context(target: SearchText, start: int, end: int) -> float:
    """Compare the lines around a place with those at capture.

    The place is ``[start, end)``. The score is the mean of both sides, 0.0 to 1.0, plus a bonus for a side on which no
    line of the text changed. Near lines weigh more than far ones, and displaced lines weigh less.
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
    return mean + THRESHOLDS.unbroken_bonus * unbroken_sides


def _side_score(target: SearchText, old: str, new: str) -> float:
    # Both sides are read away from the slice.
    fade, drift = THRESHOLDS.context_fade, THRESHOLDS.context_drift
    weights = [
        (THRESHOLDS.trivial_weight if char in target.trivial else 1.0) * fade / (fade + distance)
        for distance, char in enumerate(old)
    ]
    fitting = 0.0
    for block in Indel.editops(old, new).as_matching_blocks():
        displaced = drift / (drift + abs(block.a - block.b))
        fitting += displaced * sum(weights[block.a : block.a + block.size])
    return fitting / sum(weights)


def likeness(
    old: Sequence[str | None], new: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> float:
    """Return how similar two sequences of lines are, 0.0 to 1.0; long lines weigh more."""
    clip = THRESHOLDS.compared_characters
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
    return line.strip()[:clip]


def line_likeness(old: str, new: str) -> float:
    return fuzz.ratio(old, new) / 100


def _weight(line: str) -> int:
    return len(line) + 1


Pairs = dict[int, int]


def align(target: SearchText, seeds: Pairs) -> Pairs:
    """Extend pairs of equal lines (``seeds``) by pairing neighbours: equal lines first, then changed lines."""
    pairs = dict(seeds)
    for old, new in _gaps(target, pairs):
        pairs.update(_equal_lines(target, old, new))
    pairs = dict(sorted(pairs.items()))
    cells_left = THRESHOLDS.compared_pairs
    for old, new in sorted(_gaps(target, pairs), key=lambda gap: len(gap[0]) * len(gap[1])):
        cells_left -= len(old) * len(new)
        if cells_left < 0:
            break
        pairs.update(_changed_lines(target, old, new))
    return dict(sorted(pairs.items()))


def _gaps(target: SearchText, pairs: Pairs) -> Iterator[tuple[range, range]]:
    # Unpaired runs of the window and the facing runs of the text; either may be empty.
    if not pairs:
        return
    edges = sorted(pairs.items())
    (first_old, first_new), (last_old, last_new) = edges[0], edges[-1]
    yield range(first_old), range(first_new)
    for (old, new), (next_old, next_new) in itertools.pairwise(edges):
        yield range(old + 1, next_old), range(new + 1, next_new)
    yield range(last_old + 1, len(target.window)), range(last_new + 1, len(target.text.lines))


def _equal_lines(target: SearchText, old: range, new: range) -> Pairs:
    if not old or not new:
        return {}
    old_coded, new_coded = (
        target.window[old.start : old.stop],
        target.text.coded[new.start : new.stop],
    )
    if len(old) * len(new) > THRESHOLDS.fill_cells:  # too large for more than its ends
        head = common_prefix(old_coded, new_coded)
        tail = common_prefix(old_coded[::-1], new_coded[::-1])
        tail = min(tail, min(len(old), len(new)) - head)
        pairs = {old.start + k: new.start + k for k in range(head)}
        return pairs | {old.stop - 1 - k: new.stop - 1 - k for k in range(tail)}
    blocks = Indel.editops(old_coded, new_coded).as_matching_blocks()
    return {
        old.start + block.a + k: new.start + block.b + k
        for block in blocks
        for k in range(block.size)
    }


def _changed_lines(target: SearchText, old: range, new: range) -> Pairs:
    # In order, with the largest sum of likeness.
    if not old or not new:
        return {}
    clip = THRESHOLDS.compared_characters
    texts = target.anchor.texts
    least = THRESHOLDS.line_likeness
    old_lines = [
        comparable(texts.get(code_of(target.anchor.window[index]), ""), clip) for index in old
    ]
    new_lines = [comparable(target.text.lines[index], clip) for index in new]
    gains: list[list[float]] = []
    for old_line in old_lines:
        row = [line_likeness(old_line, new) if old_line and new else 0.0 for new in new_lines]
        gains.append([score if score >= least else 0.0 for score in row])  # 0.0: different lines
    return {old.start + row: new.start + column for row, column in best_pairs(gains)}


def best_pairs(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs ``(row, column)`` with the largest total gain that do not cross each other."""
    rows, columns = len(gain), len(gain[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = gain[i][j] + best[i + 1][j + 1] if gain[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs, i, j = [], 0, 0
    while i < rows and j < columns:
        if gain[i][j] and best[i][j] == gain[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """The probable place of a changed slice, with its certainty."""

    start: int
    end: int
    alike: float
    sure: bool  # whether the match is certain enough to show its lines
    gone: bool = False  # whether both neighbours are still there with nothing between


def fuzzy_match(target: SearchText) -> FuzzyMatch | None:
    """Return where a changed slice probably is, ``None`` if no place is similar."""
    anchor, single_lines = target.anchor, target.text.single_lines
    # Lines that are unique in both texts, at capture and now; trivial lines do not count.
    seeds = {
        index: single_lines[char]
        for index, (char, fingerprint) in enumerate(zip(target.window, anchor.window, strict=True))
        if not fingerprint & (TRIVIAL | REPEATED) and char in single_lines
    }
    inner_seeds = {old: new for old, new in seeds.items() if anchor.before <= old < anchor.after}
    pairs = align(target, dict(longest_rising(sorted(seeds.items()))))
    span = _span(target, pairs)
    return _place(target, pairs, inner_seeds, *span) if span else None


def _place(target: SearchText, pairs: Pairs, seeds: Pairs, start: int, end: int) -> FuzzyMatch:
    anchor = target.anchor
    above_held = pairs.get(anchor.before - 1, -2) == start - 1 or start == target.head_place
    below_held = pairs.get(anchor.after, -2) == end or end == target.tail_end
    held = above_held + below_held  # sides beside their old neighbour
    if start >= end:
        return FuzzyMatch(start, end, 0.0, sure=False, gone=held == 2)
    inside = range(anchor.before, anchor.after)
    old_lines = [
        target.text.lines[pairs[index]]
        if _unchanged(target, pairs, index)
        else anchor.texts.get(code_of(anchor.window[index]))
        for index in inside
    ]
    inner_pairs = [(i - anchor.before, j - start) for i, j in pairs.items() if i in inside]
    alike = likeness(old_lines, target.text.lines[start:end], inner_pairs)
    if held == 2:
        indices = [index for index in inside if not anchor.window[index] & TRIVIAL]
        unchanged = sum(_unchanged(target, pairs, index) for index in indices)
        kept_share = unchanged / len(indices) if indices else 0.0
        sure = alike >= THRESHOLDS.held_likeness or kept_share >= THRESHOLDS.kept_share
        return FuzzyMatch(start, end, alike, sure)
    sure = alike >= THRESHOLDS.likeness
    if sure and not any(pairs.get(old) == new for old, new in seeds.items()):
        needed = THRESHOLDS.seedless_context
        if anchor.copies:
            needed = max(needed, anchor.rival / 100 + THRESHOLDS.lead)
        sure = score_context(target, start, end) >= needed
    return FuzzyMatch(start, end, alike, sure)


def _unchanged(target: SearchText, pairs: Pairs, index: int) -> bool:
    return index in pairs and target.window[index] == target.text.coded[pairs[index]]


def _span(target: SearchText, pairs: Pairs) -> tuple[int, int] | None:
    # Lines lost at an edge count as replaced one by one by the free lines there.
    anchor = target.anchor
    inner = [old for old in pairs if anchor.before <= old < anchor.after]
    above = max((old for old in pairs if old < anchor.before), default=None)
    below = min((old for old in pairs if old >= anchor.after), default=None)
    top = -1 if above is None else pairs[above]
    bottom = len(target.text.lines) if below is None else pairs[below]
    if inner:
        first, last = min(inner), max(inner)
        lead = min(first - anchor.before, pairs[first] - top - 1)
        trail = min(anchor.after - 1 - last, bottom - pairs[last] - 1)
        return pairs[first] - lead, pairs[last] + 1 + trail
    if above is None or below is None:
        return None
    return top + 1, bottom
