"""What two prompts share."""

import pytest

from aggregate import Prompt, Segment
from aggregate.base.values import Section, Stability
from aggregate.sending.cache import HashedPrompt, compare_prefixes
from aggregate.sending.cache.fingerprint import DivergenceCause, PromptFingerprint
from tests.sending.cache.prompts import State, state

FILES = {"a.py": ("A", 10), "b.py": ("B", 20), "c.py": ("C", 40)}
SAID = [("hello", 5)]
BASE = state(FILES, SAID)


def fingerprint(of: State, system: str = "") -> PromptFingerprint:
    """Return a state's fingerprint."""
    return HashedPrompt.of(
        of.prompt, of.tokens, system=system, system_tokens=2 * bool(system)
    ).fingerprint


def reordered() -> State:
    """Return the files in another order."""
    return state({"b.py": FILES["b.py"], "a.py": FILES["a.py"], "c.py": FILES["c.py"]}, SAID)


@pytest.mark.parametrize(
    ("later", "kept", "cause", "where"),
    [
        (BASE, 82, DivergenceCause.SAME, ""),
        (state(FILES, [*SAID, ("more", 7)]), 82, DivergenceCause.APPENDED, ""),
        (state(FILES, []), 73, DivergenceCause.CUT, "the heading of history"),
        (state({**FILES, "b.py": ("B2", 21)}, SAID), 13, DivergenceCause.CHANGED, "b.py"),
        (state({**FILES, "b.py": ("B2", 21), "c.py": ("C2", 1)}, SAID), 13, DivergenceCause.CHANGED, "b.py"),
        (state({"a.py": ("A", 10), "aa.py": ("N", 9), **FILES}, SAID), 13, DivergenceCause.ADDED, "aa.py"),
        (state({"a.py": ("A", 10), "c.py": ("C", 40)}, SAID), 13, DivergenceCause.REMOVED, "b.py"),
        (reordered(), 3, DivergenceCause.MOVED, "a.py"),
        (state(FILES, [("other", 5)]), 77, DivergenceCause.CHANGED, "Excerpt 1"),
    ],
)  # fmt: skip
def test_what_ends_the_prefix(later: State, kept: int, cause: DivergenceCause, where: str) -> None:
    """The tokens of the shared prefix, and the first segment that differs."""
    report = compare_prefixes(fingerprint(BASE), fingerprint(later))
    assert (report.kept, report.cause, report.where) == (kept, cause, where)


def test_a_diff_names_the_file_that_changed() -> None:
    """Where the section of changed files comes, goes, or has another diff, a file has changed, and that one is named."""
    diffs = [
        Segment(Section.CHANGED, f"### {name}", Stability.STABLE, name)
        for name in ("", "b.py", "c.py")
    ]
    none, one, two = (
        HashedPrompt.of(
            Prompt((*BASE.prompt.segments[:4], *diffs[:n], *BASE.prompt.segments[4:])),
            [5] * (6 + n),
        ).fingerprint
        for n in (0, 2, 3)
    )
    for earlier, later, where in (
        (none, one, "b.py"),
        (one, two, "c.py"),
        (two, one, "c.py"),
        (one, none, "b.py"),
    ):
        report = compare_prefixes(earlier, later)
        assert (report.cause, report.where) == (DivergenceCause.CHANGED, where)
