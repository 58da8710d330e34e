"""What two prompts share, the record of a run, and the order of files for sending."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregate.compose.journal import Run, Sent, find_run, read_run, recent_runs, write_run
from aggregate.compose.numbering import journal_path, write_numbered
from aggregate.compose.prefix import Cause, compare
from aggregate.compose.settle import count_changes, settle
from aggregate.models.chain import Chain
from aggregate.models.prompt import Section
from tests.clients.prompts import State, state

FILES = {"a.py": ("A", 10), "b.py": ("B", 20), "c.py": ("C", 40)}
SAID = [("hello", 5)]
BASE = state(FILES, SAID)


def chain(of: State, system: str = "") -> Chain:
    """Return a state's chain."""
    return Chain.of(of.prompt, of.tokens, system=system, system_tokens=2 * bool(system))


def reordered() -> State:
    """Return the files in another order."""
    return state({"b.py": FILES["b.py"], "a.py": FILES["a.py"], "c.py": FILES["c.py"]}, SAID)


@pytest.mark.parametrize(
    ("later", "kept", "cause", "where"),
    [
        (BASE, 82, Cause.SAME, ""),
        (state(FILES, [*SAID, ("more", 7)]), 82, Cause.APPENDED, ""),
        (state(FILES, []), 73, Cause.CUT, "the heading of history"),
        (state({**FILES, "b.py": ("B2", 21)}, SAID), 13, Cause.CHANGED, "b.py"),
        (state({**FILES, "b.py": ("B2", 21), "c.py": ("C2", 1)}, SAID), 13, Cause.CHANGED, "b.py"),
        (state({"a.py": ("A", 10), "aa.py": ("N", 9), **FILES}, SAID), 13, Cause.ADDED, "aa.py"),
        (state({"a.py": ("A", 10), "c.py": ("C", 40)}, SAID), 13, Cause.REMOVED, "b.py"),
        (reordered(), 3, Cause.MOVED, "a.py"),
        (state(FILES, [("other", 5)]), 77, Cause.CHANGED, "Excerpt 1"),
    ],
)
def test_what_ends_the_prefix(later: State, kept: int, cause: Cause, where: str) -> None:
    """The tokens of the shared prefix, and the first segment that differs."""
    report = compare(chain(BASE), chain(later))
    assert (report.kept, report.cause, report.where) == (kept, cause, where)


def test_other_instructions_keep_nothing() -> None:
    """The system prompt stands before everything."""
    assert compare(chain(BASE), chain(BASE, "Be brief.")).sentence == (
        "0 of 82 tokens of the prefix are kept (changed: the system prompt)"
    )


def test_a_record_is_read_back(tmp_path: Path) -> None:
    """What is written is read, byte for byte the same each time; what is damaged counts as none."""
    path = write_numbered(tmp_path, "demo", BASE.prompt.markdown)
    run = Run(path, chain(BASE), Sent("anthropic", "m", (1, 3), (3,), {"a.py": 0.5}))
    write_run(run)
    first = journal_path(path).read_bytes()
    write_run(run)
    assert journal_path(path).read_bytes() == first
    assert read_run(path) == run
    assert list(recent_runs(tmp_path, "demo")) == [run]
    assert find_run(tmp_path, "demo", "1") == path
    for damage in (b"", b"[]", b'{"version": 2}', first[: len(first) // 2], first.replace(b'"links"', b'"lunks"')):
        journal_path(path).write_bytes(damage)
        assert read_run(path) is None


def order(of: State) -> list[str]:
    """Return the files in their order."""
    return [one.source for one in of.prompt.segments if one.section is Section.FILES and one.source]


def settled(of: State, earlier: State | None, changes: dict[str, float]) -> State:
    """Return a state in the order for sending."""
    return State(*settle(of.prompt, of.tokens, earlier=chain(earlier) if earlier else None, changes=changes))


def test_the_first_order_puts_what_changes_last() -> None:
    """By how often a file changes for each of its tokens; a large file goes before a small one that changes as often."""
    assert order(settled(BASE, None, {})) == ["c.py", "b.py", "a.py"]
    assert order(settled(BASE, None, {"c.py": 9.0})) == ["b.py", "a.py", "c.py"]


def test_what_is_cached_keeps_its_place() -> None:
    """Only files from the first changed one on are put in order."""
    before = settled(BASE, None, {})
    changed = state({**FILES, "b.py": ("B2", 21)}, SAID)
    assert order(settled(changed, before, {"b.py": 9.0})) == ["c.py", "a.py", "b.py"]
    assert order(settled(BASE, before, {"c.py": 9.0})) == ["c.py", "b.py", "a.py"]


@given(st.dictionaries(st.sampled_from(list(FILES)), st.floats(0, 50)), st.permutations(list(FILES)))
def test_settling_loses_nothing_and_is_stable(changes: dict[str, float], places: list[str]) -> None:
    """The same segments with the same tokens, history last; settled again behind itself nothing moves."""
    before = state({path: FILES[path] for path in places}, SAID)
    once = settled(before, None, changes)
    pairs = sorted(zip((one.text for one in before.prompt.segments), before.tokens, strict=True))
    assert sorted(zip((one.text for one in once.prompt.segments), once.tokens, strict=True)) == pairs
    assert once.prompt.segments[-2:] == before.prompt.segments[-2:]
    assert settled(before, once, changes) == once


def test_changes_fade() -> None:
    """A change counts 1, and a little less with each later change of another file; a quiet turn forgets nothing."""
    changed = state({**FILES, "b.py": ("B2", 21)}, SAID)
    assert count_changes(changed.prompt, earlier=chain(BASE), changes={"a.py": 1.0}) == {"a.py": 0.98, "b.py": 1.0}
    assert count_changes(BASE.prompt, earlier=chain(BASE), changes={"a.py": 1.0}) == {"a.py": 1.0}
