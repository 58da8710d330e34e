"""How long a cache is to keep what is sent, and how it is kept while nobody asks."""

import os
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from aggregate import load_config
from aggregate.base.errors import ProviderError
from aggregate.base.values import Usage
from aggregate.project.configuration import global_config_path
from aggregate.prompt import request_log_path
from aggregate.sending import (
    CompletedTurn,
    KeepAlive,
    ModelSelection,
    PreparedTurn,
    cache_settings,
    prepare_turn,
    read_request,
    renew_until,
    send_turn,
)
from aggregate.sending.cache.lifetimes import CacheLifetime
from aggregate.sending.cache_settings import CacheSettings
from aggregate.sending.clients import Client, Effort, cost
from aggregate.sending.clients.gemini_caches import Action, CacheDecision
from aggregate.sending.clients.retry import Retry
from aggregate.sending.clients.scripted_client import ScriptedTransport, scripted_client
from aggregate.sending.host_requests import plan_for, record
from tests.fakes.transports import TakesTextAlone
from tests.projects import project

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(600))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'


def project_with(folder: Path, send: str = "") -> Path:
    """Return the configuration of a project of two files."""
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "ab"}
    project(folder, {"manual_slop.toml": CONFIG + send} | files)
    return folder / "manual_slop.toml"


def users(text: str) -> None:
    """Write the user's own configuration."""
    path = global_config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def grow_older(folder: Path, seconds: float) -> None:
    """Let time pass: the records of all requests become older."""
    for log in folder.rglob(".*.chain.json"):
        info = log.stat()
        os.utime(log, (info.st_atime, info.st_mtime - seconds))


def say(
    config: Path, message: str, *, age: float = 0.0, **selection: str | bool
) -> tuple[PreparedTurn, CompletedTurn]:
    """Send a message ``age`` seconds after the last one."""
    grow_older(config.parent, age)
    loaded = load_config(config)
    chosen = replace(ModelSelection(provider="scripted"), **selection)  # type: ignore[arg-type]
    turn = prepare_turn(loaded, message, chosen)
    return turn, send_turn(turn, loaded)


def lifetimes(turn: PreparedTurn) -> set[int]:
    """Return how long the entries of a turn live."""
    return {block.lifetime for block in turn.plan.blocks if block.has_breakpoint}


@pytest.mark.parametrize(
    ("own", "of_project", "wanted", "expected"),
    [
        ("", "", "", CacheSettings()),
        ("", 'cache = "5m"', "", CacheSettings(CacheLifetime.SHORT)),
        (
            "",
            'cache = "off"',
            "",
            CacheSettings(CacheLifetime.OFF, notes=('cache = "off" by [send] of the project',)),
        ),
        ('cache = "5m"', 'cache = "1h"', "", CacheSettings(CacheLifetime.SHORT)),
        ('cache = "5m"\nkeep_alive = 30', "", "1h", CacheSettings(CacheLifetime.LONG, 30)),
        (
            "",
            "keep_alive = 60",
            "",
            CacheSettings(
                notes=(
                    "keep_alive in [send] of the project is not used, since it costs money: set it in your own "
                    "configuration",
                )
            ),
        ),
    ],
)
def test_who_decides(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own: str,
    of_project: str,
    wanted: str,
    expected: CacheSettings,
) -> None:
    """The caller, then the user, then the project, which cannot switch on what costs money unseen (rule C-3)."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    users(f"[send]\n{own}\n")
    loaded = load_config(project_with(tmp_path, f"[send]\n{of_project}\n"))
    assert cache_settings(loaded, wanted=wanted) == expected
    assert not cache_settings(loaded, wanted=wanted, once=True).writes


def test_a_discussion_teaches_its_pauses(tmp_path: Path) -> None:
    """They are recorded beside the prompts, and quick ones make the newest entries short-lived (rule C-2)."""
    config = project_with(tmp_path)
    turn, done = say(config, "First?")
    assert lifetimes(turn) == {3600}
    for number in range(8):
        turn, done = say(config, f"Question {number}?", age=60.0)
    logged = read_request(done.path)
    assert logged is not None
    assert logged.sent is not None
    assert {round(pause) for pause in logged.sent.pauses} == {60}
    assert logged.sent.lifetimes == turn.plan.layout.lifetimes
    assert logged.sent.lifetimes[-1] == 300
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
    for pauses in ([], [330]):
        turn = prepare_turn(
            loaded, "Why?", ModelSelection("scripted", cache="5m", discussion="default")
        )
        assert (turn.expected.cache_read, [round(s) for s in turn.sent.pauses]) == (0, pauses)
        send_turn(replace(turn, client=scripted_client(slowly())), loaded)
        grow_older(tmp_path, 240)
    planned = plan_for(config, "claude-sonnet-5", "And?", provider="anthropic")
    record(replace(planned, begun=planned.begun - 90), None, "Yes.")
    grow_older(tmp_path, 240)
    then = plan_for(config, "claude-sonnet-5", "Then?", provider="anthropic").turn
    assert then is not None
    assert [round(s) for s in then.sent.pauses] == [330, 330, 330]


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


def test_a_cache_is_kept_alive(tmp_path: Path) -> None:
    """Shortly before its entries die the last request is sent again, for as long as the user wants (rule C-4)."""
    turn, done = say(project_with(tmp_path), "First?", cache="5m")
    kept = KeepAlive(turn, done.path, minutes=12)
    assert (kept.period, kept.renewals) == (270.0, 2)
    reading = Usage(cache_read=turn.plan.total, output=1)
    price = cost(reading, turn.client.model)
    assert price is not None
    assert kept.price in (None, Decimal(2) * price)
    assert [kept.due_in(seconds) for seconds in (0, 200, 280, 296, 300)] == [270, 70, 0, 0, None]
    asked_later = replace(kept, sent=1000.0, used=1000.0)
    assert [asked_later.due_in(now) for now in (1090, 1240, 1300)] == [180, 30, None]
    old = request_log_path(done.path).stat().st_mtime - 270
    os.utime(request_log_path(done.path), (old, old))
    kept, usage = kept.renew(270.0)
    assert (usage.cache_read, usage.cache_write) == (turn.plan.total, 0)
    assert request_log_path(done.path).stat().st_mtime > old + 200
    assert [kept.due_in(seconds) for seconds in (270, 540)] == [270, 0]
    kept, _ = kept.renew(540.0)
    assert kept.due_in(540.0) is None  # the twelve minutes would be over
    transport = turn.client.transport
    assert isinstance(transport, ScriptedTransport)
    assert [asked.max_output for asked in transport.requests] == [16_000, 1, 1]


def test_it_is_renewed_until_the_user_answers(tmp_path: Path) -> None:
    """Whoever waits decides when it ends; each renewal is told, and none comes after the minutes (rule C-4)."""
    turn, done = say(project_with(tmp_path), "First?", cache="5m")
    for minutes, answers_after, renewals in ((60, 2, 2), (12, 99, 2)):
        now, waits, paid = [0.0], [0], list[Usage]()

        def wait(seconds: float, now: list[float] = now, waits: list[int] = waits) -> bool:
            now[0] += seconds
            waits[0] += 1
            return waits[0] > answers_after  # noqa: B023 - called within the loop's turn

        renew_until(
            KeepAlive(turn, done.path, minutes),
            wait,
            lambda now=now: now[0],  # type: ignore[misc]
            lambda _, usage, paid=paid: paid.append(usage),  # type: ignore[misc]
        )
        assert [usage.cache_read for usage in paid] == [turn.plan.total] * renewals


def test_nothing_is_kept_alive_where_nothing_is_saved(tmp_path: Path) -> None:
    """Without breakpoints, and once a renewal has found nothing to read."""
    turn, done = say(project_with(tmp_path), "First?", cache="off")
    assert KeepAlive(turn, done.path, minutes=60).due_in(0.0) is None
    turn, done = say(project_with(tmp_path / "other"), "First?", cache="5m")
    transport = turn.client.transport
    assert isinstance(transport, ScriptedTransport)
    transport.cache = replace(transport.cache, entries={})
    kept, usage = KeepAlive(turn, done.path, minutes=60).renew(270.0)
    assert usage.cache_read == 0
    assert kept.due_in(300.0) is None


def test_a_renewal_that_fails_says_so(tmp_path: Path) -> None:
    """The caller learns of it, and nothing of the discussion is touched."""
    turn, done = say(project_with(tmp_path), "First?")
    transport = turn.client.transport
    assert isinstance(transport, ScriptedTransport)
    transport.answers = iter([ProviderError("the network is down")])
    assert done.history is not None
    before = done.history.read_bytes()
    with pytest.raises(ProviderError, match="down"):
        KeepAlive(turn, done.path, minutes=60).renew(3000.0)
    assert done.history.read_bytes() == before


def test_a_renewal_asks_as_the_turn_did(tmp_path: Path) -> None:
    """With the same effort: another one ends what a cache finds of the messages (C-4)."""
    turn, done = say(project_with(tmp_path), "First?")
    transport = TakesTextAlone(status=503)
    asked = Client("anthropic", transport, "claude-opus-5", retry=Retry(attempts=1))
    turn = replace(turn, client=asked, effort=Effort.LOW)
    with pytest.raises(ProviderError):
        KeepAlive(turn, done.path, minutes=60).renew(270.0)
    [sent] = transport.requests
    assert (sent.effort, sent.max_output) == (Effort.LOW, 1)


def test_what_lives_in_an_explicit_cache_is_not_renewed(tmp_path: Path) -> None:
    """It is paid for until it ends, and a request without it would pay for all of it once more (C-4)."""
    turn, done = say(project_with(tmp_path), "First?")
    decided = CacheDecision(Action.USE, "gemini-3.5-flash", "", 0)
    assert KeepAlive(replace(turn, explicit_cache=decided), done.path, minutes=60).period is None
