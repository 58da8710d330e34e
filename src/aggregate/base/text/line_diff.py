"""Unified diffs of two lists of lines, in time and room that grow with their length, and back again."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from aggregate.base.text.lines import common_prefix

_CONTEXT = 3
"""Equal lines around a change, as ``diff -u`` has them."""
_MOST_PAIRS = 250_000
"""Pairs of lines that are compared within one stretch: 500 lines with 500, some milliseconds. A longer stretch without
any line that both sides have just once is hardly the same text, and is replaced as a whole."""
_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
Edit = tuple[str, int, int, int, int]
"""As ``difflib`` names them: what happens, from and to which line of the older text, and of the newer one."""


def unified_diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a unified diff without names of files, none where the texts are equal."""
    first = common_prefix(older, newer)
    last = common_prefix(older[first:][::-1], newer[first:][::-1])
    old, new = older[first : len(older) - last], newer[first : len(newer) - last]
    if not old and not new:
        return
    for hunk in _hunks(_with_context(_edits(old, new), len(old), len(new), first, last)):
        (_, i, _, j, _), (_, _, i_end, _, j_end) = hunk[0], hunk[-1]
        yield f"@@ -{_range(i, i_end - i)} +{_range(j, j_end - j)} @@"
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                yield from (f" {line}" for line in older[a:b])
            else:
                yield from (f"-{line}" for line in older[a:b])
                yield from (f"+{line}" for line in newer[c:d])


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


def _edits(old: Sequence[str], new: Sequence[str]) -> Iterator[Edit]:
    """Yield what becomes of each run of lines, compared between the lines that both sides have just once."""
    i = j = 0
    for a, b in (*_unique_pairs(old, new), (len(old), len(new))):
        yield from _edits_between(old, new, i, a, j, b)
        if a < len(old):
            yield "equal", a, a + 1, b, b + 1
        i, j = a + 1, b + 1


def _edits_between(
    old: Sequence[str], new: Sequence[str], i: int, a: int, j: int, b: int
) -> Iterator[Edit]:
    if i == a and j == b:
        return
    if (a - i) * (b - j) > _MOST_PAIRS:
        yield "replace", i, a, j, b
        return
    matcher = SequenceMatcher(None, old[i:a], new[j:b], autojunk=False)
    for tag, start, end, to, to_end in matcher.get_opcodes():
        yield tag, i + start, i + end, j + to, j + to_end


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


def _with_context(
    edits: Iterable[Edit], old: int, new: int, first: int, last: int
) -> Iterator[Edit]:
    """Yield the edits of the lines that differ, between up to three lines of context on each side.

    Only what differs is compared: the lines around it could be matched to others that are alike, and programs that
    apply a diff want them as context.

    Args:
        edits: Of the lines that differ.
        old: How many older lines differ.
        new: How many stand there now.
        first: How many equal lines stand before them.
        last: How many equal lines stand behind them.
    """
    if before := min(first, _CONTEXT):
        yield "equal", first - before, first, first - before, first
    for tag, a, b, c, d in edits:
        yield tag, first + a, first + b, first + c, first + d
    if behind := min(last, _CONTEXT):
        a, c = first + old, first + new
        yield "equal", a, a + behind, c, c + behind


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    run: Edit | None = None
    for edit in edits:
        if run and edit[0] == run[0] == "equal":
            run = ("equal", run[1], edit[2], run[3], edit[4])
            continue
        if run:
            yield run
        run = edit
    if run:
        yield run


def _hunks(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """Yield the edits in groups, cut where many lines are equal."""
    hunk: list[Edit] = []
    for tag, a, b, c, d in _joined(edits):
        if tag == "equal" and b - a > 2 * _CONTEXT:
            yield [*hunk, (tag, a, a + _CONTEXT, c, c + _CONTEXT)]
            hunk = [(tag, b - _CONTEXT, b, d - _CONTEXT, d)]
        else:
            hunk.append((tag, a, b, c, d))
    yield hunk


def _range(start: int, length: int) -> str:
    """Return the lines of a hunk on one side; an empty one is named by the line before it."""
    return f"{start + bool(length)},{length}"
