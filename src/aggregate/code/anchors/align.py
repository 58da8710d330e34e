"""Map the lines of an anchor's window to the lines of a text: a diff that holds on to what is rare.

Seeds are lines that stood once in the captured text and stand once in this one (patience diff). The longest part of
the seeds that is in order is kept, what lies between two seeds is filled by the longest common subsequence, and lines
that were changed are paired by their likeness at last.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Indel

from aggregate.base.text import common_prefix
from aggregate.code.anchors.fingerprints import REPEATED, TRIVIAL, code_of
from aggregate.code.anchors.scoring import comparable, line_likeness
from aggregate.code.anchors.search_text import SearchText

Pairs = dict[int, int]
"""Index in the window to index in the text, rising on both sides."""


def align(target: SearchText, seeds: Pairs) -> Pairs:
    """Return the map that seeds in order give: equal lines between, before and after them, then changed lines."""
    pairs = dict(seeds)
    for old, new in _gaps(target, pairs):
        pairs.update(_equal_lines(target, old, new))
    pairs = dict(sorted(pairs.items()))
    cells_left = target.thresholds.compared_pairs
    for old, new in sorted(_gaps(target, pairs), key=lambda gap: len(gap[0]) * len(gap[1])):
        cells_left -= len(old) * len(new)
        if cells_left < 0:
            break
        pairs.update(_changed_lines(target, old, new))
    return dict(sorted(pairs.items()))


def find_seeds(target: SearchText) -> Pairs:
    """Return every telling line of the window that stood once at capture and stands once now."""
    return {
        index: target.text.single_lines[char]
        for index, (char, fingerprint) in enumerate(
            zip(target.window, target.anchor.window, strict=True)
        )
        if not fingerprint & (TRIVIAL | REPEATED) and char in target.text.single_lines
    }


def longest_rising_part(seeds: Pairs) -> Pairs:
    """Return the longest part of ``seeds`` that rises on both sides (patience sorting)."""
    tails: list[int] = []
    heads: list[int] = []
    previous: dict[int, int | None] = {}
    for old, new in sorted(seeds.items()):
        rank = bisect_left(tails, new)
        previous[old] = heads[rank - 1] if rank else None
        tails[rank : rank + 1] = [new]
        heads[rank : rank + 1] = [old]
    rising: list[int] = []
    last: int | None = heads[-1] if heads else None
    while last is not None:
        rising.append(last)
        last = previous[last]
    return {old: seeds[old] for old in reversed(rising)}


def _gaps(target: SearchText, pairs: Pairs) -> Iterator[tuple[range, range]]:
    """Yield the unpaired runs of the window with the runs of the text that face them; both may be empty."""
    if not pairs:
        return
    edges = sorted(pairs.items())
    (first_old, first_new), (last_old, last_new) = edges[0], edges[-1]
    yield range(first_old), range(first_new)
    for (old, new), (next_old, next_new) in itertools.pairwise(edges):
        yield range(old + 1, next_old), range(new + 1, next_new)
    yield range(last_old + 1, len(target.window)), range(last_new + 1, len(target.text.lines))


def _equal_lines(target: SearchText, old: range, new: range) -> Pairs:
    """Pair the equal lines of a gap."""
    if not old or not new:
        return {}
    old_coded, new_coded = (
        target.window[old.start : old.stop],
        target.text.coded[new.start : new.stop],
    )
    if len(old) * len(new) > target.thresholds.fill_cells:
        return _equal_ends(old_coded, new_coded, old, new)
    blocks = Indel.editops(old_coded, new_coded).as_matching_blocks()
    return {
        old.start + block.a + k: new.start + block.b + k
        for block in blocks
        for k in range(block.size)
    }


def _equal_ends(old_coded: str, new_coded: str, old: range, new: range) -> Pairs:
    """Pair the equal lines at the two ends of a gap that is too large for more."""
    least = min(len(old), len(new))
    head = common_prefix(old_coded, new_coded)
    tail = min(common_prefix(old_coded[::-1], new_coded[::-1]), least - head)
    pairs = {old.start + k: new.start + k for k in range(head)}
    return pairs | {old.stop - 1 - k: new.stop - 1 - k for k in range(tail)}


def _changed_lines(target: SearchText, old: range, new: range) -> Pairs:
    """Pair the lines of a gap that are alike, in order, so that the sum of their likeness is largest."""
    if not old or not new:
        return {}
    clip = target.thresholds.compared_characters
    texts = target.anchor.texts
    least = target.thresholds.line_likeness
    old_lines = [
        comparable(texts.get(code_of(target.anchor.window[index]), ""), clip) for index in old
    ]
    new_lines = [comparable(target.text.lines[index], clip) for index in new]
    gains = [[_gain(old_line, new_line, least) for new_line in new_lines] for old_line in old_lines]
    return {old.start + row: new.start + column for row, column in best_pairs(gains)}


def _gain(old: str, new: str, least: float) -> float:
    """Return what pairing two changed lines is worth; 0.0 says that they are no pair."""
    if not old or not new:
        return 0.0
    likeness = line_likeness(old, new)
    return likeness if likeness >= least else 0.0


def best_pairs(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the rising pairs ``(row, column)`` of the largest sum; of equal sums the pairs that come first."""
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
