"""Which records of sent requests are believed."""

import json
import shutil
from pathlib import Path

import pytest

from aggregate import load_config
from aggregate.base.disk import STATE_VARIABLE, state_folder
from aggregate.project.configuration import global_config_path
from aggregate.prompt import count_prompt, request_log_path
from aggregate.sending import ModelSelection, PreparedTurn, prepare_turn, send_turn
from aggregate.sending.request_log import own_hashes
from tests.projects import project

SCRIPTED = ModelSelection(provider="scripted")
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(400))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'


def prepared(folder: Path, message: str = "And now?") -> PreparedTurn:
    """Prepare a turn."""
    return prepare_turn(load_config(folder / "manual_slop.toml"), message, SCRIPTED)


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """Return a project that comes with a discussion, whose record says that everything has no tokens."""
    own = project(
        tmp_path / "own",
        {"manual_slop.toml": CONFIG, "src/a.py": f"# a\n{CODE}", "src/b.py": f"# b\n{CODE}"},
    )
    completed = send_turn(prepared(own, "First?"), load_config(own / "manual_slop.toml"))
    record = request_log_path(completed.path)
    data = json.loads(record.read_text(encoding="utf-8"))
    data["links"] = [[*link[:3], 0, link[4]] for link in data["links"]]
    data["sent"]["pauses"] = [1000] * 20
    record.write_text(json.dumps(data), encoding="utf-8")
    folder = tmp_path / "cloned"
    shutil.copytree(own, folder)
    (folder / "src/a.py").write_text(f"# a\n{CODE}# changed\n", encoding="utf-8")
    return folder


def test_a_record_that_came_with_a_project_is_not_believed(strangers: Path) -> None:
    """Nothing is expected of a cache, nothing is laid out, and no lifetime is chosen by it (C-6)."""
    turn = prepared(strangers)
    assert (turn.expected.cache_read, turn.ordered.older) == (0, ())
    assert turn.report is None
    assert turn.sent.pauses == ()
    assert turn.plan.total == count_prompt(turn.prompt).document
    send_turn(turn, load_config(strangers / "manual_slop.toml"))
    assert prepared(strangers).expected.cache_read > 0


def trust(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a configuration of the user's that trusts a project."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent / "xdg"))
    users = global_config_path()
    users.parent.mkdir(parents=True)
    users.write_text(f'[trust]\nprojects = ["{folder}"]\n', encoding="utf-8")


def test_a_trusted_projects_records_are_believed(
    strangers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those that another machine of the user has written; tokens are counted all the same (C-6)."""
    trust(strangers, monkeypatch)
    turn = prepared(strangers)
    assert turn.report is not None
    assert len(turn.sent.pauses) == 20
    assert turn.plan.total == count_prompt(turn.prompt).document


@pytest.mark.parametrize("damage", ["", "{}", "[[", "3", "null"])
def test_a_damaged_memory_costs_one_cold_turn(strangers: Path, damage: str) -> None:
    """What is remembered is written anew with the next request."""
    send_turn(prepared(strangers), load_config(strangers / "manual_slop.toml"))
    assert prepared(strangers).expected.cache_read > 0
    output = strangers / "md_gen"
    (state_folder(output) / "sent_requests.json").write_text(damage, encoding="utf-8")
    assert own_hashes(output) == ()
    send_turn(prepared(strangers), load_config(strangers / "manual_slop.toml"))
    assert prepared(strangers).expected.cache_read > 0


@pytest.mark.parametrize("is_trusted", [False, True])
def test_what_cannot_be_remembered_is_said(
    strangers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trusted: bool
) -> None:
    """Else the next request would be planned as the first one, and nobody would know why (C-6)."""
    if is_trusted:
        trust(strangers, monkeypatch)
    (tmp_path / "full").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "full"))
    done = send_turn(prepared(strangers), load_config(strangers / "manual_slop.toml"))
    sentence = "the next request is planned as if this one had not been sent: "
    assert [w for w in done.warnings if w.startswith(sentence)] == list(done.warnings)
    assert len(done.warnings) == (not is_trusted)
