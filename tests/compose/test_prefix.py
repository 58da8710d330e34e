"""What two prompts share, and the record of a run."""

from pathlib import Path

import pytest

from aggregate.chat.request_log import (
    LoggedRequest,
    SentRecord,
    find_prompt,
    read_request,
    read_segment,
    recent_requests,
    write_request,
)
from aggregate.compose.numbered_output import request_log_path, write_numbered
from aggregate.models.prompt import Prompt, Section, Segment, Stability
from aggregate.prompt_cache.fingerprint import PromptFingerprint
from aggregate.prompt_cache.prefix_diff import DivergenceCause, compare_prefixes
from tests.clients.prompts import State, state

FILES = {"a.py": ("A", 10), "b.py": ("B", 20), "c.py": ("C", 40)}
SAID = [("hello", 5)]
BASE = state(FILES, SAID)


def chain(of: State, system: str = "") -> PromptFingerprint:
    """Return a state's chain."""
    return PromptFingerprint.of(of.prompt, of.tokens, system=system, system_tokens=2 * bool(system))


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
)
def test_what_ends_the_prefix(later: State, kept: int, cause: DivergenceCause, where: str) -> None:
    """The tokens of the shared prefix, and the first segment that differs."""
    report = compare_prefixes(chain(BASE), chain(later))
    assert (report.kept, report.cause, report.where) == (kept, cause, where)


def test_a_diff_names_the_file_that_changed() -> None:
    """Where the section of changed files comes, goes, or has another diff, a file has changed, and that one is named."""
    diffs = [Segment(Section.CHANGED, f"### {name}", Stability.STABLE, name) for name in ("", "b.py", "c.py")]
    none, one, two = (
        PromptFingerprint.of(Prompt((*BASE.prompt.segments[:4], *diffs[:n], *BASE.prompt.segments[4:])), [5] * (6 + n))
        for n in (0, 2, 3)
    )
    for earlier, later, where in ((none, one, "b.py"), (one, two, "c.py"), (two, one, "c.py"), (one, none, "b.py")):
        report = compare_prefixes(earlier, later)
        assert (report.cause, report.where) == (DivergenceCause.CHANGED, where)


def test_other_instructions_keep_nothing() -> None:
    """The system prompt stands before everything."""
    assert compare_prefixes(chain(BASE), chain(BASE, "Be brief.")).sentence == (
        "0 of 82 tokens of the prefix are kept (changed: the system prompt)"
    )


def test_a_record_is_read_back(tmp_path: Path) -> None:
    """What is written is read, byte for byte the same each time; what is damaged counts as none."""
    path = write_numbered(tmp_path, "demo", BASE.prompt.markdown)
    run = LoggedRequest(path, chain(BASE), SentRecord("anthropic", "m", (1, 3), (3,), {"a.py": 0.5}, {"a.py": "00ff"}))
    write_request(run)
    first = request_log_path(path).read_bytes()
    write_request(run)
    assert request_log_path(path).read_bytes() == first
    assert read_request(path) == run
    assert list(recent_requests(tmp_path, "demo")) == [run]
    assert find_prompt(tmp_path, "demo", "1") == path
    for damage in (b"", b"[]", b'{"version": 1}', first[: len(first) // 2], first.replace(b'"links"', b'"lunks"')):
        request_log_path(path).write_bytes(damage)
        assert read_request(path) is None


def test_a_segment_is_read_back_from_its_prompt(tmp_path: Path) -> None:
    """Each one by its number, in any alphabet; ``None`` where the prompt was edited, cut or deleted."""
    texts = ["## Files", "### \u00e9\U0001f600", "### b", "### c"]
    prompt = Prompt(tuple(Segment(Section.FILES, text, Stability.STABLE, text) for text in texts))
    run = LoggedRequest(
        write_numbered(tmp_path, "demo", prompt.markdown), PromptFingerprint.of(prompt, [1] * 4, system="Be brief.")
    )
    assert [read_segment(run, number) for number in range(1, 5)] == texts
    run.path.write_bytes(prompt.markdown.replace("### b", "### B").encode()[:-1])
    assert [read_segment(run, number) for number in range(1, 5)] == [*texts[:2], None, None]
    run.path.write_bytes(b"\xff" * 99)
    assert read_segment(run, 1) is None
    run.path.unlink()
    assert read_segment(run, 1) is None
