"""The record of a request, which records are believed, and the account beside it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import Prompt, load_config
from aggregate.base.disk import state_folder
from aggregate.cli.explain_and_locate import find_prompt
from aggregate.prompt import count_prompt
from aggregate.prompt.audit import read_audit
from aggregate.prompt.output import audit_path, request_log_path, write_numbered
from aggregate.sending import (
    Exchange,
    LoggedRequest,
    ModelSelection,
    prepare_turn,
    read_request,
    recent_requests,
    send_turn,
)
from aggregate.sending.cache import BlockLayout
from aggregate.sending.request_log import own_hashes, read_segment, write_request
from tests.fakes.prompts import hashed, part
from tests.fakes.transports import scripted
from tests.projects import project

PROMPT = Prompt((part("files", "## Files"), part("files", "### `a.py`\n\nA", "a.py")))
HASHED = hashed(PROMPT, [3, 10])
LAYOUT = BlockLayout(HASHED.digests, (1, 3), (3,))


def test_the_form_of_a_record(tmp_path: Path) -> None:
    """Shown whole: records of earlier releases are read, and this one's by them."""
    path = tmp_path / "demo_001.md"
    write_request(LoggedRequest(path, HASHED, "anthropic", "m", LAYOUT))
    assert request_log_path(path).read_text(encoding="utf-8") == (
        '{"version":2,"encoding":"o200k_base","links":[["system","","e4a6a0577479b2b4",0,0],\n'
        '["files","","d2800ed9e0197ce7",3,8],\n["files","a.py","352a821f8a7b0128",10,13]],'
        '"sent":{"provider":"anthropic","model":"m","ends":[1,3],"marks":[3]}}\n'
    )


def test_a_record_is_read_back(tmp_path: Path) -> None:
    """What is written is read, byte for byte the same each time; what is damaged counts as none."""
    path = write_numbered(tmp_path, "demo", PROMPT.markdown)
    logged = LoggedRequest(path, HASHED, "anthropic", "m", LAYOUT)
    write_request(logged)
    first = request_log_path(path).read_bytes()
    write_request(logged)
    assert request_log_path(path).read_bytes() == first
    assert read_request(path) == logged
    assert list(recent_requests(tmp_path, "demo")) == [logged]
    assert find_prompt(tmp_path, "demo", "1") == path
    for damage in (
        b"",
        b"[]",
        b'{"version": 1}',
        first[: len(first) // 2],
        first.replace(b'"links"', b'"lunks"'),
    ):
        request_log_path(path).write_bytes(damage)
        assert read_request(path) is None


def test_a_segment_is_read_back_from_its_prompt(tmp_path: Path) -> None:
    """Each one by its number, in any alphabet; ``None`` where the prompt was edited, cut or deleted."""
    texts = ["## Files", "### \u00e9\U0001f600", "### b", "### c"]
    prompt = Prompt(tuple(part("files", text, text) for text in texts))
    logged = LoggedRequest(
        write_numbered(tmp_path, "demo", prompt.markdown),
        hashed(prompt, [1] * 4, system="Be brief."),
    )
    assert [read_segment(logged, number) for number in range(1, 5)] == texts
    logged.path.write_bytes(prompt.markdown.replace("### b", "### B").encode()[:-1])
    assert [read_segment(logged, number) for number in range(1, 5)] == [*texts[:2], None, None]
    logged.path.write_bytes(b"\xff" * 99)
    assert read_segment(logged, 1) is None
    logged.path.unlink()
    assert read_segment(logged, 1) is None


SCRIPTED = ModelSelection(provider="scripted")
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(400))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'


def prepared(folder: Path, message: str = "And now?") -> Exchange:
    return prepare_turn(load_config(folder / "manual_slop.toml"), message, SCRIPTED)


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """Return a project that comes with a discussion, whose record says that everything has no tokens."""
    own = project(
        tmp_path / "own",
        {"manual_slop.toml": CONFIG, "src/a.py": f"# a\n{CODE}", "src/b.py": f"# b\n{CODE}"},
    )
    completed = send_turn(prepared(own, "First?"))
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
    assert turn.prefix is None
    assert turn.record.pauses == ()
    assert turn.plan.total == count_prompt(turn.prompt).document
    send_turn(turn)
    assert prepared(strangers).expected.cache_read > 0


@pytest.mark.parametrize("damage", ["", "{}", "[[", "3", "null"])
def test_a_damaged_memory_costs_one_cold_turn(strangers: Path, damage: str) -> None:
    """What is remembered is written anew with the next request."""
    send_turn(prepared(strangers))
    assert prepared(strangers).expected.cache_read > 0
    output = strangers / "md_gen"
    (state_folder(output) / "sent_requests.json").write_text(damage, encoding="utf-8")
    assert own_hashes(output) == ()
    send_turn(prepared(strangers))
    assert prepared(strangers).expected.cache_read > 0


def test_what_cannot_be_remembered_is_said(
    strangers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next request would be planned as the first one, and nobody would know why (C-6)."""
    (tmp_path / "full").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "full"))
    done = send_turn(prepared(strangers))
    sentence = "the next request will be planned without this one: "
    assert [doubt.startswith(sentence) for doubt in done.doubts] == [True]


SHORT = "".join(f"def name_{n}(value):\n    return value + {n}\n\n\n" for n in range(40))


def sent_file(folder: Path, message: str, budget: int | None) -> Path:
    config = load_config(folder / "manual_slop.toml")
    made = prepare_turn(config, message, ModelSelection(provider="scripted", budget=budget))
    made = replace(made, client=scripted(["Yes."]))
    return send_turn(made).path


def test_a_send_with_a_budget_leaves_an_account(tmp_path: Path) -> None:
    """Its prompt is told line by line and token by token, also where older versions of files are sent again (A-1, L-1)."""
    folder = project(
        tmp_path, {"manual_slop.toml": CONFIG, "src/a.py": SHORT, "src/b.py": "X = 1\n"}
    )
    assert not audit_path(sent_file(folder, "why name_3?", None)).exists()
    for message in ("why name_3?", "and name_4?"):
        prompt = sent_file(folder, message, 6_000)
        audit = read_audit(prompt)
        assert audit is not None
        assert audit.task.text == message
        assert audit.source_map is not None
        text = prompt.read_text(encoding="utf-8")
        assert audit.size == len(text.encode())
        files = sum(audit.sections.get(name, 0) for name in ("files", "changed"))  # type: ignore[call-overload]
        assert sum(row.tokens for row in audit.rows) + audit.generated == files
        lines = text.split("\n")
        assert audit.source_map.lines == len(lines)
        for line, origin in zip(lines, audit.source_map.origins(), strict=True):
            if origin.is_verbatim:
                source = (folder / origin.source).read_text(encoding="utf-8").split("\n")
                assert source[origin.first - 1] == line
        with (folder / "src" / "a.py").open("a", encoding="utf-8") as file:
            file.write("Y = 2\n")
