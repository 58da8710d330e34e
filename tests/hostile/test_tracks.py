"""Tracks written to hang or crash whoever runs them: schemas, expressions, and items that name files."""

import json
from pathlib import Path
from typing import Any

import pytest

from aggregate import ConfigError, WorkerError
from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer
from aggregate.agents.tracks.tickets import load_tickets
from tests.fakes.conducting import TRACK, Says, conducted, track_project


def doubling(levels: int) -> dict[str, Any]:
    """Return a small schema each level of which names the next one twice."""
    parts: dict[str, Any] = {
        f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)
    }
    return {"$defs": {**parts, f"d{levels}": {"type": "integer"}}, "$ref": "#/$defs/d0"}


def test_a_schema_that_takes_years() -> None:
    """Its check ends when its time is over, with a failure that is not repeated."""
    with pytest.raises(WorkerError, match=r"takes more than 0\.3 s to check") as caught:
        checked_answer("1", doubling(40), seconds=0.3)
    assert not caught.value.again


def test_an_honest_schema_that_refers_to_itself() -> None:
    """It is held against answers as any other, and its faults say where they are."""
    tree = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#"}}}}
    answer = json.dumps({"below": [{"below": []}]})
    assert json.loads(checked_answer(answer, tree, seconds=60)) == json.loads(answer)
    with pytest.raises(AnswerSchemaError, match="below/0: 3 is not of type"):
        checked_answer(json.dumps({"below": [3]}), tree, seconds=60)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('answer = { "$ref" = "file:///etc/passwd" }', "Retrieval is disabled"),
        ('answer = { pattern = "(a)\\\\1" }', "is not a"),
        ('answer = { pattern = "((a{1,1000}){1,1000}){1,1000}" }', "is not a"),
        ('when = "1)}); (() => { throw 1 })(); ((results) => { return (1"', "evaluated: 1"),
        pytest.param(
            'when = "1)}); (() => { for (;;) {} })(); ((results) => { return (1"',
            "stopped (after 5 s|at the time limit)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_refused_before_a_run(tmp_path: Path, line: str, reason: str) -> None:
    """Schemas that would read a file, patterns that take time without bound, and expressions that run when read."""
    folder = track_project(tmp_path, f'[[tickets]]\nid = "a"\nprompt = "x"\n{line}\n')
    with pytest.raises(ConfigError, match=reason):
        load_tickets(folder / f"conductor/tracks/{TRACK}/tickets.toml")


def test_items_that_name_files_elsewhere(tmp_path: Path) -> None:
    """A child whose item leaves the project fails alone, and nothing of the file is in any prompt."""
    (tmp_path / "secret.py").write_text("TOP = 1\n", encoding="utf-8")
    tickets = """\
[[tickets]]
id = "list"
prompt = "x"
answer = { type = "array" }

[[tickets]]
id = "look"
prompt = "Look."
focus_files = ["{{item}}"]
depends_on = ["list"]
for_each = "results.list"
"""
    items = json.dumps(["../secret.py", "src/one.py", str(tmp_path / "secret.py")])
    run = conducted(
        track_project(tmp_path / "p", tickets),
        Says(lambda asked: items if asked.ticket == "list" else "ok"),
    )
    states = {line.ticket.id: line.state for line in run.result.lines}
    assert [states[f"look[{i}]"] for i in range(3)] == ["failed", "done", "failed"]
    assert "TOP = 1" not in "".join(asked.text for asked in run.worker.given)
