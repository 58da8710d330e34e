"""Map the lines of an anchor's window to the lines of a text: a diff that holds on to what is rare.

Seeds are lines, and runs of three, that stood once in the captured text and stand once in this one (patience diff). The
longest chain of seeds in order is kept, what lies between two seeds is filled by the longest common subsequence, and
lines that were changed are paired by their likeness at last.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Indel

from aggregate.anchors.fingerprints import REPEATED, REPEATED_TRIPLE, TRIVIAL, code_of
from aggregate.anchors.scoring import line_likeness
from aggregate.anchors.search_text import SearchText

Pairs = dict[int, int]
"""Index in the window to index in the text, rising on both sides."""

LARGEST_FILL = 1 << 21
"""Most cells (old lines times new lines) that filling a gap may take; beyond, only its two ends are compared."""
LARGEST_GAP = 40
"""Most lines on each side of a gap whose changed lines are paired by likeness."""
SLACK = 16
"""Lines beyond the window's own size that are read before the first seed and after the last."""
ALIKE = 0.5
"""Likeness from which a changed line is still that line."""


def align(target: SearchText, seeds: Pairs) -> Pairs:
    """Return the map that a chain of seeds gives: equal lines between, before and after them, then changed lines."""
    pairs = dict(seeds)
    for old, new in _gaps(target, pairs):
        pairs.update(_equal_lines(target, old, new))
    pairs = dict(sorted(pairs.items()))
    for old, new in _gaps(target, pairs):
        pairs.update(_changed_lines(target, old, new))
    return dict(sorted(pairs.items()))


def find_seeds(target: SearchText) -> Pairs:
    """Return every line of the window that stands once on both sides, alone or as the middle of three."""
    window, seeds = target.window, {}
    for i, (char, value) in enumerate(zip(window, target.anchor.window, strict=True)):
        if value & TRIVIAL:
            continue
        if not value & REPEATED and char in target.single_lines:
            seeds[i] = target.single_lines[char]
        elif not value & REPEATED_TRIPLE and i > 0 and window[i - 1 : i + 2] in target.single_triples:
            seeds[i] = target.single_triples[window[i - 1 : i + 2]] + 1
    return seeds


def longest_chain(seeds: Pairs) -> Pairs:
    """Return the longest part of ``seeds`` that rises on both sides (patience sorting)."""
    tails: list[int] = []
    heads: list[int] = []
    previous: dict[int, int | None] = {}
    for i, j in sorted(seeds.items()):
        rank = bisect_left(tails, j)
        previous[i] = heads[rank - 1] if rank else None
        tails[rank : rank + 1] = [j]
        heads[rank : rank + 1] = [i]
    chain = []
    at: int | None = heads[-1] if heads else None
    while at is not None:
        chain.append(at)
        at = previous[at]
    return {i: seeds[i] for i in reversed(chain)}


def _gaps(target: SearchText, pairs: Pairs) -> Iterator[tuple[range, range]]:
    """Yield the unpaired runs of the window with the runs of the text that face them; both may be empty."""
    if not pairs:
        return
    edges = sorted(pairs.items())
    (first, top), (last, bottom) = edges[0], edges[-1]
    size = len(target.window)
    yield range(first), range(max(top - first - SLACK, 0), top)
    for (i, j), (next_i, next_j) in itertools.pairwise(edges):
        yield range(i + 1, next_i), range(j + 1, next_j)
    yield range(last + 1, size), range(bottom + 1, min(bottom + size - last + SLACK, len(target.lines)))


def _equal_lines(target: SearchText, old: range, new: range) -> Pairs:
    """Pair the equal lines of a gap."""
    if not old or not new:
        return {}
    ours, theirs = target.window[old.start : old.stop], target.coded[new.start : new.stop]
    if len(old) * len(new) > LARGEST_FILL:
        return _equal_ends(ours, theirs, old, new)
    blocks = Indel.editops(ours, theirs).as_matching_blocks()
    return {old.start + b.a + k: new.start + b.b + k for b in blocks for k in range(b.size)}


def _equal_ends(ours: str, theirs: str, old: range, new: range) -> Pairs:
    """Pair the equal lines at the two ends of a gap that is too large for more."""
    least = min(len(ours), len(theirs))
    head = next((k for k in range(least) if ours[k] != theirs[k]), least)
    tail = next((k for k in range(least - head) if ours[-1 - k] != theirs[-1 - k]), least - head)
    pairs = {old.start + k: new.start + k for k in range(head)}
    return pairs | {old.stop - 1 - k: new.stop - 1 - k for k in range(tail)}


def _changed_lines(target: SearchText, old: range, new: range) -> Pairs:
    """Pair the lines of a gap that are alike, in order, so that the sum of their likeness is largest."""
    if not old or not new or len(old) > LARGEST_GAP or len(new) > LARGEST_GAP:
        return {}
    texts = target.anchor.texts
    ours = [texts.get(code_of(target.anchor.window[i])) for i in old]
    theirs = [target.lines[j] for j in new]
    gain = [[_gain(line, other) for other in theirs] for line in ours]
    return {old.start + i: new.start + j for i, j in best_pairs(gain)}


def _gain(old: str | None, new: str) -> float:
    """Return what pairing two changed lines is worth; 0.0 says that they are no pair."""
    if old is None or not old.strip() or not new.strip():
        return 0.0
    alike = line_likeness(old, new)
    return alike if alike >= ALIKE else 0.0


def best_pairs(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the rising pairs ``(row, column)`` of the largest sum; of equal sums the pairs that come first."""
    rows, columns = len(gain), len(gain[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], gain[i][j] + best[i + 1][j + 1] if gain[i][j] else 0.0)
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
