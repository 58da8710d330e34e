"""Thousands of warnings of a few kinds."""

from aggregate.base.text import group_warnings
from aggregate.base.text.messages import MOST_LINES


def test_few_are_told_one_by_one() -> None:
    """Up to twenty of a kind stand as they are."""
    few = [f"a{number}.py: read as cp1252, not UTF-8" for number in range(20)]
    assert group_warnings(few) == few


def test_many_of_a_kind_are_one_sentence() -> None:
    """Whatever differs between them: paths, lines, numbers, hashes; the kinds keep the order of their first."""
    missing = [f"ERROR: file not found: a{number}.py" for number in range(10_000)]
    secrets = [
        f'a.py:{number}: redacted (x); allow = ["sha256:{number:064x}"]' for number in range(21)
    ]
    assert group_warnings([*missing, "one: alone", *secrets], more="--json") == [
        "ERROR: file not found: a0.py; and 9,999 more of this kind (--json lists them)",
        "one: alone",
        f'a.py:0: redacted (x); allow = ["sha256:{0:064x}"]; and 20 more of this kind (--json lists them)',
    ]


def test_names_that_look_like_reasons_do_not_flood() -> None:
    """A colon in a name makes a kind of its own, and there is still an end."""
    lines = group_warnings(
        [f"a: {chr(97 + number % 26) * number}.py: file not found" for number in range(1, 1000)]
    )
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"and {999 - MOST_LINES:,} more of other kinds"
