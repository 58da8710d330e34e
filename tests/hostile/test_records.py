"""Records of runs that somebody else has written."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aggregate.prompt.output import request_log_path
from aggregate.sending import read_request, recent_requests
from aggregate.sending.request_log import read_segment
from tests.hostile.running import aggregate
from tests.projects import project

VALUES: list[Any] = [None, True, -1, 10**30, float("nan"), "", "\ud800", [], {}, [[]], [9, 1]]
RAW = ["", "[" * 100_000, '{"version":2,"links":' + "[" * 100_000, "null", "[]", "1" * 5_000, "\0"]


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    config = '[files]\npaths = ["a.py"]\n[output]\nnamespace = "p"\n'
    project(tmp_path, {"manual_slop.toml": config, "a.py": "x = 1\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".xdg"))
    assert command("send", "hi", "--provider", "scripted")[0] == 0
    return Path("md_gen/p_001.md")


def command(*arguments: str) -> tuple[int, str]:
    """Run a command in this process; return its code and what it said."""
    ended = aggregate(*arguments)
    return ended.code, ended.err


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in JSON data."""
    yield path
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield from places(data[key], (*path, key))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def test_a_forged_record_is_used_or_left_out(sent: Path) -> None:
    """Whatever stands anywhere in a record, reading it gives a run that is in itself right, or none."""
    record = request_log_path(sent)
    good = json.loads(record.read_text(encoding="utf-8"))
    changes = (changed(good, path, value) for path in places(good) for value in VALUES)
    for text in [*RAW, *map(json.dumps, changes)]:
        record.write_text(text, encoding="utf-8")
        run = read_request(sent)
        if run is not None:
            assert all(
                0 <= segment.tokens < 2**41 and 0 <= segment.size < 2**41
                for segment in run.prompt.segments
            )
            for number in range(1, len(run.prompt.segments)):
                read_segment(run, number)
        assert [*recent_requests(sent.parent, "p", is_own=True)] == []


@pytest.mark.parametrize(
    "value", ['{"version":2,"links":' + "[" * 100_000, '{"version":2,"links":[],"sent":null}', "\0"]
)
def test_sending_does_without_a_forged_record(sent: Path, value: str) -> None:
    """Sending goes on without it."""
    request_log_path(sent).write_text(value, encoding="utf-8")
    assert command("send", "more", "--provider", "scripted", "--dry-run")[0] == 0


@pytest.mark.parametrize("row", [1, 2])
@pytest.mark.parametrize(
    ("place", "value"),
    [(0, "bogus"), (0, "system"), (0, ""), (2, "\ud800"), (2, "../.."), (2, "00ff")],
)
def test_a_turn_goes_on_without_a_record_of_unknown_segments(
    sent: Path, row: int, place: int, value: str
) -> None:
    """A section that no prompt has, or what is no hash, makes a record unusable, and the send goes on without it."""
    record = request_log_path(sent)
    data = json.loads(record.read_text(encoding="utf-8"))
    data["links"][row][place] = value
    record.write_text(json.dumps(data), encoding="utf-8")
    Path("a.py").write_text("x = 2\n", encoding="utf-8")
    assert read_request(sent) is None
    assert command("send", "more", "--provider", "scripted")[0] == 0
