"""Measure how slices are found again across the real history of a git clone.

Truth needs no hand labels. The revisions of one file on the first-parent line are walked from an old one to one that is
``k`` revisions younger, and the hunks of each step (``git diff --histogram -w``) are composed into one map of lines:

- *located*: first and last line of the slice survive every step, so its new range is known;
- *deleted*: all its lines went in hunks that add nothing in their place, and no step adds their like elsewhere;
- *partial*: an edge was rewritten; a range is wrong if it misses most of what survives or is mostly other lines

Half of the slices lie anywhere, half within ten lines of a change. The map is that of a diff: a copied or moved block
may be told otherwise with as much right, so read what ``--show`` prints before trusting a figure.
"""

import random
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rapidfuzz.distance import LCSseq

from aggregate import AnchorState, FuzzyAnchor
from simulation.git_history import FileHistory, LineMap, histories

DISTANCES = (1, 5, 20, 100)
SLICES_PER_PAIR = 6
NEAR = 10
SEED = 20261120


@dataclass(frozen=True, slots=True)
class Case:
    """One slice of an old text, the new text, and what became of the slice: ``truth`` is ``None`` unless located."""

    where: str
    old: str
    new: str
    start: int
    end: int
    kind: str
    truth: tuple[int, int] | None
    mapped: LineMap
    direct: LineMap


@dataclass(slots=True)
class Tally:
    """Counts of one row of the table."""

    states: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)


def cases(history: FileHistory, distance: int, chance: random.Random) -> Iterator[Case]:
    """Yield slices of one random pair of revisions of a file."""
    at = chance.randrange(len(history.revisions) - distance)
    old, new = history.revisions[at], history.revisions[at + distance]
    if not 3 <= old.text.count("\n") <= 5000 or not new.text:
        return
    steps = history.steps[at : at + distance]
    mapped = LineMap.identity(old.text.count("\n") + 1)
    for step in steps:
        mapped = mapped.then(step)
    direct = history.direct(at, at + distance)
    total = old.text.count("\n")
    touched = mapped.touched(total)
    for turn in range(SLICES_PER_PAIR):
        size = chance.choice(
            (1, chance.randint(2, 5), chance.randint(6, 20), chance.randint(21, 60))
        )
        if turn % 2 and touched:
            start = chance.choice(touched) + chance.randint(-NEAR - size + 1, NEAR)
        else:
            start = chance.randint(1, total)
        start = max(1, min(start, total))
        end = min(start + size - 1, total)
        kind, truth = mapped.truth(start, end, old.text, [step.added for step in steps])
        yield Case(f"{history.path} {old.commit[:9]}..{new.commit[:9]} {start}-{end}", old.text, new.text, start, end,
                   kind, truth, mapped, direct)  # fmt: skip


def judge(tally: Tally, case: Case, show: bool) -> None:
    """Resolve one case, and both baselines, and count what came out."""
    piece = FuzzyAnchor.create_slice(case.old, case.start, case.end)
    begun = time.perf_counter()
    found = FuzzyAnchor.resolve(piece, case.new)
    tally.times.append((time.perf_counter() - begun) * 1000)
    span = (found.start_line, found.end_line) if found.found else None
    counts, sure = tally.counts, found.state in (AnchorState.FRESH, AnchorState.MOVED)
    tally.states[found.state.value] += 1
    counts["n"] += 1
    counts[case.kind] += 1
    counts["sure" if sure else found.state.value] += 1
    counts["judged"] += found.state is AnchorState.EDITED and case.kind != "partial"
    wrong = False
    if case.kind == "located":
        counts["exact"] += right(case, span)
        counts["same lines"] += right(case, (case.start, case.end))
        counts["diff"] += right(case, case.direct.span(case.start, case.end))
        wrong = span is not None and not right(case, span)
    elif case.kind == "deleted":
        counts["deleted seen"] += found.state is AnchorState.ORPHANED
        counts["deleted unshown"] += span is None
        wrong = span is not None
    elif case.kind == "partial":
        wrong = span is not None and not (
            case.mapped.agrees(case.start, case.end, *span, telling_lines(case.old))
            or right(case, span)
        )
        counts["partial shown"] += span is not None
    if wrong:
        counts["wrong sure" if sure else "wrong edited"] += 1
        counts[f"wrong {case.kind}"] += 1
        counts["off edited"] += not sure and (case.truth is None or overlap(span, case.truth) < 0.5)
    if show and (wrong or (case.kind == "located" and span is None)):
        print(f"{'WRONG' if wrong else 'missed'} {case.where} {case.kind} {case.truth} -> {found}")


def right(case: Case, span: tuple[int, int] | None) -> bool:
    """Tell whether a range is the true one, or one that an equally short diff would give.

    A diff may slide: of a block that was put in beside its like, it cannot be said which is the new one. So a range is
    as good if it is no longer than the true one, accounts for at least as many equal lines of the slice, and keeps all
    surviving lines around the slice outside, in order.
    """
    if span is None or span == case.truth:
        return span is not None
    if case.kind == "partial" and stands_once(case, span):
        return True
    survive = [at for at in case.mapped.places[case.start : case.end + 1] if at]
    longest = case.truth[1] - case.truth[0] if case.truth else case.end - case.start
    if (
        not survive
        or span[1] - span[0] > longest
        or not case.mapped.keeps_order(case.start, case.end, *span)
    ):
        return False
    old, new = (
        case.old.split("\n")[case.start - 1 : case.end],
        case.new.split("\n")[span[0] - 1 : span[1]],
    )
    return LCSseq.similarity(old, new) >= len(survive)


def telling_lines(text: str) -> frozenset[int]:
    """Return the numbers of the lines that are more than a brace or a blank."""
    return frozenset(n for n, line in enumerate(text.split("\n"), 1) if len(line.strip()) > 3)


def stands_once(case: Case, span: tuple[int, int]) -> bool:
    """Tell whether the very text stands at a range and nowhere else, before and after: a move that no diff shows."""
    old, new = ("\n" + text.replace("\r", "") + "\n" for text in (case.old, case.new))
    piece = "\n".join(["", *old.split("\n")[case.start : case.end + 1], ""])
    there = "\n".join(["", *new.split("\n")[span[0] : span[1] + 1], ""])
    return piece == there and old.count(piece) == new.count(piece) == 1


def overlap(one: tuple[int, int] | None, two: tuple[int, int]) -> float:
    """Return the share of common lines among all lines of two ranges."""
    if one is None:
        return 0.0
    common = max(0, min(one[1], two[1]) - max(one[0], two[0]) + 1)
    return common / (one[1] - one[0] + two[1] - two[0] + 2 - common)


def percent(part: int, whole: int) -> str:
    """Return a share in percent, or a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def row(name: str, tally: Tally) -> str:
    """Return one line of the table."""
    c, times = tally.counts, sorted(tally.times)
    states = "/".join(percent(tally.states[state.value], c["n"]) for state in AnchorState)
    return (
        f"{name:>16} {c['n']:5} {c['located']:5} {percent(c['exact'], c['located']):>6} "
        f"{percent(c['same lines'], c['located']):>6} {percent(c['diff'], c['located']):>6}  {states:27} "
        f"{c['wrong sure']:3}/{c['sure']:<5} {c['wrong edited']:3}({c['off edited']})/{c['edited']:<4} "
        f"{c['judged']:<4} {percent(c['deleted seen'], c['deleted']):>5}/"
        f"{percent(c['deleted unshown'], c['deleted'])} of {c['deleted']:<4} "
        f"{times[len(times) // 2]:6.2f} {times[int(len(times) * 0.95)]:6.2f}"
    )


HEADER = (
    f"{'set':>16} {'n':>5} {'loc.':>5} {'exact':>6} {'=lines':>6} {'diff':>6}  {'fresh/moved/edited/ambig/orph %':27} "
    "wrong sure  wrong(off) edited, judged  deleted orphaned/unshown %  ms median, p95"
)


def main(parser: ArgumentParser) -> None:
    """Print the table for one clone."""
    parser.add_argument("clone", type=Path)
    parser.add_argument(
        "--pairs", type=int, default=150, help="pairs of revisions for each distance"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", action="store_true", help="print every wrong or missed case")
    options = parser.parse_args()
    files = histories(options.clone, random.Random(options.seed))
    print(f"{options.clone}: {len(files)} files with a history, seed {options.seed}")
    print(HEADER)
    for distance in DISTANCES:
        chance, tally = random.Random(options.seed + distance), Tally()
        long_enough = [history for history in files if len(history.revisions) > distance]
        for _ in range(options.pairs if long_enough else 0):
            for case in cases(chance.choice(long_enough), distance, chance):
                judge(tally, case, options.show)
        if tally.times:
            print(row(f"k = {distance}", tally))
