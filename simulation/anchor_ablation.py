"""Measure what each number of the anchors is worth, over the histories of some git clones.

Run as ``python -m simulation.anchor_ablation CLONE... [--pairs N] [--seed N] [--only NAME]``. Each number of
``Thresholds`` is put to a value that switches it off, to its half and to its double, all others unchanged, and the same
slices as in ``simulation.anchors`` are captured and looked for again.

A slice is found *rightly* if its true lines are shown, or if it was deleted and nothing is shown; *wrongly* if other
lines are shown; else it is *lost*. All three are percentages, each history weighing the same, and each change stands
beside the number of slices that came out otherwise: its square root is about the noise.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from aggregate.code.anchors.anchor import THRESHOLDS, Thresholds
from aggregate.code.anchors.fuzzy_anchor import capture, relocate
from aggregate.code.anchors.search_text import IndexedText
from simulation.anchors import DISTANCES, SEED, Case, cases, right, telling_lines
from simulation.git_history import histories

PAIRS = 20
NEVER = 10**9
NEUTRAL: dict[str, tuple[float, ...]] = {
    "window_lines": (4,),
    "stored_characters": (NEVER,),
    "context_fade": (NEVER,),
    "context_drift": (NEVER,),
    "trivial_weight": (0, 1),
    "scored_places": (16, 1024),
    "kept_share": (2,),
    "fill_cells": (0,),
    "line_likeness": (0, 2),
    "compared_characters": (NEVER,),
}
"""What switches a number off; where nothing is said, zero does."""


@dataclass(slots=True)
class Score:
    """What came of all slices under one setting."""

    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    changed: int = 0

    def percent(self, verdict: str) -> float:
        """Return the mean of the histories' shares."""
        shares = [
            100 * counts[verdict] / counts.total() for counts in self.verdicts.values() if counts
        ]
        return sum(shares) / len(shares)


def settings(only: str) -> Iterator[tuple[str, Thresholds]]:
    """Yield the numbers as they are, then each of them at other values."""
    yield "as it is", THRESHOLDS
    for number in fields(Thresholds):
        value = getattr(THRESHOLDS, number.name)
        for other in (*NEUTRAL.get(number.name, (0,)), type(value)(value / 2), value * 2):
            if only in number.name:
                yield (
                    f"{number.name} {value} -> {other}",
                    replace(THRESHOLDS, **{number.name: other}),
                )


def sample(clone: Path, pairs: int, seed: int) -> Iterator[Case]:
    """Yield the slices that ``simulation.anchors`` draws from a clone."""
    files = histories(clone, random.Random(seed))
    for distance in DISTANCES:
        chance = random.Random(seed + distance)
        long_enough = [history for history in files if len(history.revisions) > distance]
        for _ in range(pairs if long_enough else 0):
            yield from cases(chance.choice(long_enough), distance, chance)


def verdict(case: Case, new: IndexedText, thresholds: Thresholds) -> str:
    """Return whether a slice is found rightly or wrongly, or lost."""
    piece = capture(case.old, case.start, case.end, thresholds=thresholds)
    resolution = relocate(piece, new, thresholds=thresholds)
    if not resolution.found:
        return "right" if case.kind == "deleted" else "lost"
    span = resolution.start_line, resolution.end_line
    if case.kind == "deleted":
        return "wrong"
    agrees = case.kind == "partial" and case.mapped.agrees(
        case.start, case.end, *span, telling_lines(case.old)
    )
    return "right" if agrees or right(case, span) else "wrong"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="Measure what each number of the anchors is worth."
    )
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument(
        "--pairs", type=int, default=PAIRS, help="pairs of revisions for each distance and clone"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="only numbers whose name holds this")
    options = parser.parse_args()
    tried = list(settings(options.only))
    scores = [Score() for _ in tried]
    for clone in options.clones:
        for case in sample(clone, options.pairs, options.seed):
            new = IndexedText(case.new)
            before = ""
            for score, (_, thresholds) in zip(scores, tried, strict=True):
                came_out = verdict(case, new, thresholds)
                before = before or came_out
                score.verdicts.setdefault(str(clone), Counter())[came_out] += 1
                score.changed += came_out != before
    print(f"{'':38} right  wrong   lost  changed")
    base = scores[0]
    for score, (name, _) in zip(scores, tried, strict=True):
        values = [
            score.percent(kind) - (score is not base) * base.percent(kind)
            for kind in ("right", "wrong", "lost")
        ]
        print(f"{name:38}", *(f"{value:+6.2f}" for value in values), f"{score.changed:8}")


if __name__ == "__main__":
    main()
