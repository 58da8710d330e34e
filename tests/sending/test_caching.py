"""How long a cache is to keep what is sent."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import Usage, load_config, plan_for, record
from aggregate.sending import Exchange, ModelSelection, prepare_turn, read_request, send_turn
from tests.fakes.transports import scripted
from tests.projects import project

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(600))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'


def project_with(folder: Path, send: str = "") -> Path:
    """Return the configuration of a project of two files."""
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "ab"}
    project(folder, {"manual_slop.toml": CONFIG + send} | files)
    return folder / "manual_slop.toml"


def grow_older(folder: Path, seconds: float) -> None:
    """Let time pass: the records of all requests become older."""
    for log in folder.rglob(".*.chain.json"):
        info = log.stat()
        os.utime(log, (info.st_atime, info.st_mtime - seconds))


def say(
    config: Path, message: str, *, age: float = 0.0, **selection: str | bool
) -> tuple[Exchange, Exchange]:
    """Send a message ``age`` seconds after the last one."""
    grow_older(config.parent, age)
    loaded = load_config(config)
    chosen = replace(ModelSelection(provider="scripted"), **selection)  # type: ignore[arg-type]
    turn = prepare_turn(loaded, message, chosen)
    return turn, send_turn(turn)


def lifetimes(turn: Exchange) -> set[int]:
    return {block.lifetime for block in turn.plan.blocks if block.has_breakpoint}


def test_a_discussion_teaches_its_pauses(tmp_path: Path) -> None:
    """They are recorded beside the prompts, and quick ones make the newest entries short-lived (rule C-2)."""
    config = project_with(tmp_path)
    turn, done = say(config, "First?")
    assert lifetimes(turn) == {3600}
    for number in range(8):
        turn, done = say(config, f"Question {number}?", age=60.0)
    logged = read_request(done.path)
    assert logged is not None
    # A busy machine takes a moment for each turn, which counts too.
    assert all(60 <= round(pause) < 90 for pause in logged.pauses)
    assert logged.layout == turn.plan.layout
    assert turn.plan.layout.lifetimes[-1] == 300
    assert lifetimes(turn) == {300, 3600}
    later, done = say(config, "Later?", age=1200.0)
    assert 0 < later.expected.cache_read < turn.plan.total
    assert done.reply.usage == replace(later.expected, output=done.reply.usage.output)


def test_a_cache_counts_from_the_request(tmp_path: Path) -> None:
    """How long an answer takes is part of the age of what it was asked with, for a host's own request too (C-2)."""
    config = project_with(tmp_path)

    def slowly() -> Iterator[str]:
        grow_older(tmp_path, 90)
        yield "An answer."

    loaded = load_config(config)
    for pauses in ([], [3630]):
        turn = prepare_turn(loaded, "Why?", ModelSelection("scripted", discussion="default"))
        assert (turn.expected.cache_read, [round(s) for s in turn.record.pauses]) == (0, pauses)
        send_turn(replace(turn, client=scripted(slowly())))
        grow_older(tmp_path, 3540)
    planned = plan_for(config, "claude-sonnet-5", "And?", provider="anthropic")
    record(replace(planned, begun=planned.begun - 90), None, "Yes.")
    grow_older(tmp_path, 240)
    then = plan_for(config, "claude-sonnet-5", "Then?", provider="anthropic")
    assert then.record.pauses == pytest.approx([3630, 3630, 330], abs=4)  # a price list is loaded


def test_a_question_that_nothing_follows_writes_nothing(tmp_path: Path) -> None:
    """An entry that is never read costs a quarter more than none; what a discussion has left is read (rule C-3)."""
    config = project_with(tmp_path)
    alone, done = say(config, "Only this?", discussion="none")
    assert not any(block.has_breakpoint for block in alone.plan.blocks)
    assert done.reply.usage == Usage(fresh=alone.plan.total, output=done.reply.usage.output)
    first, _ = say(config, "First?")
    assert first.expected.cache_write == first.plan.total
    beside, done = say(config, "Beside it?", discussion="none")
    usage = done.reply.usage
    assert (usage.cache_read, usage.cache_write) == (beside.expected.cache_read, 0)
    assert usage.cache_read > 0.95 * usage.input
    second, _ = say(config, "Second?")
    assert second.expected.cache_read >= first.plan.total - 1
