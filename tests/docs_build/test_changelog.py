"""CHANGELOG.md: one entry for each thing that a user notices."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
SAME_START = 40
"""Two entries that begin with as many equal characters tell of one thing; a sentence has more before it differs."""


def test_nothing_is_told_twice() -> None:
    """No two entries begin alike, as they do where two versions of one list were merged."""
    starts = Counter(line.strip()[:SAME_START] for line in LINES if line.lstrip().startswith("- "))
    assert len(starts) > 50
    assert [start for start, times in starts.items() if times > 1] == []


def test_headings_stand_alone() -> None:
    """A heading has an empty line before and behind it, so that no list runs into it."""
    joined = [
        line
        for before, line, behind in zip(LINES, LINES[1:], LINES[2:], strict=False)
        if line.startswith("#") and (before or behind)
    ]
    assert joined == []


def test_the_unreleased_part_is_short() -> None:
    """It has at most 2,500 words."""
    unreleased = "\n".join(LINES).partition("## Unreleased")[2].partition("\n## ")[0]
    assert len(unreleased.split()) <= 2_500
