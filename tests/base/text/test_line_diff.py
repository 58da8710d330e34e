"""Diffs of lines: small ones for small changes, however long the text, and back again."""

import random

from hypothesis import given, strategies as st

from aggregate.base.text import patched, unified_diff

LINES = st.lists(
    st.sampled_from(["", "a", "b", "c", "-", "+x", "@@ -1,1 +1,1 @@", "}"]), max_size=30
)


@given(LINES, LINES)
def test_a_diff_leads_back(older: list[str], newer: list[str]) -> None:
    """What a diff makes of the older lines are the newer ones; equal lines need none."""
    diff = list(unified_diff(older, newer))
    assert patched(older, diff) == newer
    assert bool(diff) == (older != newer)


def test_far_changes_in_a_long_file_are_small() -> None:
    """Two lines that change 20,000 lines apart take two hunks, and no limit of length ends the comparison."""
    older = [f"line {n}" for n in range(30_000)]
    newer = [*older]
    newer[100], newer[20_100] = "new", "newer"
    expected: list[str] = []
    for place, word in ((100, "new"), (20_100, "newer")):
        expected += [f"@@ -{place - 2},7 +{place - 2},7 @@"]
        expected += [f" line {n}" for n in range(place - 3, place)]
        expected += [f"-line {place}", f"+{word}"]
        expected += [f" line {n}" for n in range(place + 1, place + 4)]
    assert list(unified_diff(older, newer)) == expected


def test_a_hostile_text_takes_no_time() -> None:
    """Lines that are all alike would take time by the square of their number; they are replaced as a whole."""
    chance = random.Random(1)
    older = [chance.choice("ab") for _ in range(20_000)]
    newer = [chance.choice("ab") for _ in range(20_000)]
    diff = list(unified_diff(older, newer))
    assert len(diff) <= 1 + len(older) + len(newer)
    assert patched(older, diff) == newer
