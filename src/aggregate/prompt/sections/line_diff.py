"""Unified diffs of two lists of lines, in time and room that grow with their length, and back again."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from aggregate.base.text import common_prefix

_CONTEXT = 3  # equal lines around a change, as ``diff -u`` has them


# Pairs of lines that are compared within one stretch: 500 lines with 500, some milliseconds. A longer stretch without
# any line that both sides have just once is hardly the same text, and is replaced as a whole.
_MOST_PAIRS = 250_000


_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


Block = tuple[
    int, int, int
]  # where equal lines begin in the older text and in the newer one, and how many


def unified_diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    blocks = _joined(_equal(older, newer))
    hunk: list[str] = []
    i = j = equal = start = to = 0
    for number, (a, b, size) in enumerate(blocks, 1):
        if i < a or j < b:
            if not hunk:
                before = min(equal, _CONTEXT)
                start, to = i - before, j - before
                hunk = [f" {line}" for line in older[start:i]]
            hunk += [f"-{line}" for line in older[i:a]]
            hunk += [f"+{line}" for line in newer[j:b]]
        i, j, equal = a + size, b + size, size
        if not hunk:
            continue
        is_over = size > 2 * _CONTEXT or number == len(blocks)
        behind = min(size, _CONTEXT) if is_over else size
        hunk += [f" {line}" for line in older[a : a + behind]]
        if is_over:
            yield f"@@ -{_range(start, a + behind)} +{_range(to, b + behind)} @@"
            yield from hunk
            hunk = []


def patched(older: Sequence[str], diff: Iterable[str]) -> list[str] | None:
    """Return what a diff of ``unified_diff`` makes of the older lines, ``None`` where it does not fit them."""
    newer: list[str] = []
    place = 0
    for line in diff:
        if match := _HUNK.fullmatch(line):
            start = int(match[1]) - bool(int(match[2]))
            if not place <= start <= len(older):
                return None
            newer += older[place:start]
            place = start
            continue
        if line[:1] in (" ", "-"):
            if older[place : place + 1] != [line[1:]]:
                return None
            place += 1
        if line[:1] in (" ", "+"):
            newer.append(line[1:])
    return [*newer, *older[place:]]


def _equal(older: Sequence[str], newer: Sequence[str]) -> Iterator[Block]:
    """Yield what is equal in order, and at last what both end with, which may be nothing.

    Only what differs is compared, between the lines that both sides have just once: those before and behind could be
    matched to others that are alike, and programs that apply a diff want them as context.
    """
    first = common_prefix(older, newer)
    last = common_prefix(older[first:][::-1], newer[first:][::-1])
    old, new = older[first : len(older) - last], newer[first : len(newer) - last]
    yield 0, 0, first
    i = j = 0
    for a, b in (*_unique_pairs(old, new), (len(old), len(new))):
        if 0 < (a - i) * (b - j) <= _MOST_PAIRS:
            matcher = SequenceMatcher(None, old[i:a], new[j:b], autojunk=False)
            for start, to, size in matcher.get_matching_blocks():
                yield first + i + start, first + j + to, size
        is_end = a == len(old)
        yield first + a, first + b, last if is_end else 1
        i, j = a + 1, b + 1


def _unique_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest run of pairs, in both orders, of lines that stand just once on either side."""
    counts, newer_counts = Counter(old), Counter(new)
    places = {line: number for number, line in enumerate(new) if newer_counts[line] == 1}
    pairs = [
        (number, places[line])
        for number, line in enumerate(old)
        if counts[line] == 1 and line in places
    ]
    # Patience sorting: the smallest end of a rising run of each length, and which pair stood before each.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def _joined(blocks: Iterable[Block]) -> list[Block]:
    # Of empty ones only the last is kept: behind it both texts end.
    joined: list[Block] = []
    for a, b, size in blocks:
        i, j, before = joined[-1] if joined else (0, 0, 0)
        if joined and (i + before, j + before) == (a, b):
            joined[-1] = (i, j, before + size)
        elif joined and not before:
            joined[-1] = (a, b, size)
        else:
            joined.append((a, b, size))
    return joined


def _range(start: int, end: int) -> str:
    # An empty range is named by the line before it.
    return f"{start + (end > start)},{end - start}"
