"""``events.jsonl``: a line for each change, turn, call, retry and cancel, each once, and the spans of a ticket."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry import trace

from aggregate import RunOptions, WorkerError, conduct
from aggregate.agents.tracks import Assignment, WorkerReply
from aggregate.agents.tracks.assignment import RecordedStep
from aggregate.agents.tracks.ledger import EventFile, record_spans, step_lines
from aggregate.agents.tracks.run_control import cancel
from tests.agents.tracks.test_acting import edit, replace_reply, scripts
from tests.fakes.conducting import TRACK


def events_in(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "events.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_for_each_turn_call_and_retry(tmp_path: Path) -> None:
    """Turns, calls with sizes, time and outcome, and the retry between two attempts, each once (K-10)."""
    reply = replace_reply(edit("return 1", "return 10"), fail="no luck", failures=1)
    run = scripts(tmp_path, [{"id": "one", "retries": 1}], {"one": reply})
    folder = run.run().report.parent
    lines = events_in(folder)
    assert all(line["ticket"] == "one" for line in lines)
    shown = [
        (
            line["event"],
            line.get("state") or line.get("tool") or line.get("outcome"),
            line.get("attempt"),
        )
        for line in lines
    ]
    assert shown == [
        ("ticket", "started", None),
        ("turn", "error", 1),
        ("retry", None, 2),
        ("turn", "ok", 2),
        ("call", "replace_text", 2),
        ("turn", "ok", 2),
        ("ticket", "done", None),
    ]
    call = next(line for line in lines if line["event"] == "call")
    assert (call["outcome"], call["turn"]) == ("ok", 1)
    assert call["arguments"] > len("return 10")
    assert call["result"] > 0
    assert call["seconds"] >= 0
    assert lines[2]["detail"] == "no luck"
    assert max(Counter(line["id"] for line in lines).values()) == 1
    again = run.run(retry=("one",))
    assert again.report.parent == folder
    later = events_in(folder)
    assert later[: len(lines)] == lines
    assert max(Counter(line["id"] for line in later).values()) == 1
    assert len(later) == 2 * len(lines)


def test_several_processes_write_each_line_once(tmp_path: Path) -> None:
    """Writers that have the same lines write each once, whatever a killed one has left (K-10)."""
    lines = [{"id": f"run/t#{number}", "event": "turn"} for number in range(200)]
    (tmp_path / "events.jsonl").write_text(json.dumps(lines[0]) + "\n" + '{"id": "run/t#1", "ev')
    files = [EventFile(tmp_path) for _ in range(4)]

    def write(file: EventFile) -> None:
        for place in range(0, len(lines), 10):
            file.add(lines[: place + 10])

    threads = [Thread(target=write, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = (tmp_path / "events.jsonl").read_text().splitlines()
    texts.remove('{"id": "run/t#1", "ev')
    assert sorted(texts) == sorted(map(json.dumps, lines))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A project that puts a link in the place of the file has nothing written there."""
    (tmp_path / "events.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="cannot write"):
        EventFile(tmp_path).add([{"id": "a"}])
    assert not (tmp_path / "elsewhere").exists()


def test_a_cancelled_ticket_has_a_line(tmp_path: Path) -> None:
    """A ticket that is under way when its run is cancelled has one line that says so (K-10)."""
    run = scripts(tmp_path, [{"id": "one", "tools": []}], {})

    def worker(assignment: Assignment) -> WorkerReply:
        cancel(run.project, TRACK, database=run.database)
        raise WorkerError("too late")

    result = conduct(run.project, TRACK, worker, options=RunOptions(database=run.database))
    assert result.cancelled
    events = Counter(line["event"] for line in events_in(result.report.parent))
    assert events["cancel"] == 1


@dataclass
class Spans(trace.NoOpTracer):
    """Keeps the spans that are started, as an SDK would."""

    started: list["Kept"] = field(default_factory=list)

    def start_span(self, name: str, *arguments: Any, **named: Any) -> Any:
        kept = Kept(name, named.get("attributes") or arguments[2], named["start_time"])
        self.started.append(kept)
        return kept


@dataclass
class Kept(trace.NonRecordingSpan):
    name: str
    attributes: Mapping[str, Any]
    begun: int
    ended: int = 0
    events: list[str] = field(default_factory=list)

    def add_event(self, name: str, *_: Any, **__: Any) -> None:
        self.events.append(name)

    def end(self, end_time: int | None = None) -> None:
        self.ended = end_time or 0

    def set_attribute(self, key: str, value: Any) -> None:
        self.attributes = {**self.attributes, key: value}


CALL = {"name": "read_file", "arguments": {"path": "a.py"}}
STEPS = [
    RecordedStep("turn", {"calls": [CALL], "tokens": 110, "output_tokens": 10, "model": "m", "provider": "gemini", "seconds": 2.0}, 1_002.0),
    RecordedStep("calls", {"calls": ["read_file"], "results": ["error: no"], "took": [0.5], "seconds": 0.5}, 1_003.0),
    RecordedStep("attempt", {"status": "failed", "text": "no luck"}, 1_004.0),
    RecordedStep("turn", {"timeout": True, "seconds": 1.0}, 1_006.0),
]  # fmt: skip


def test_spans_have_the_names_of_the_conventions() -> None:
    """A ticket is a span with its chats, tool executions and retries, with their own times (K-10)."""
    tracer = Spans()
    end = {
        "time": "1970-01-01T00:16:50+00:00",
        "ticket": "one",
        "state": "failed",
        "event": "ticket",
    }
    record_spans("p/t/001/one", list(step_lines("p/t/001/one", STEPS)), end, tracer)
    parent, chat, tool, late = tracer.started
    assert [span.name for span in tracer.started] == [
        "invoke_agent one",
        "chat m",
        "execute_tool read_file",
        "chat",
    ]
    assert parent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert (parent.begun, parent.ended) == (1_000 * 10**9, 1_010 * 10**9)
    assert parent.events == ["retry"]
    assert chat.attributes["gen_ai.usage.input_tokens"] == 100
    assert chat.attributes["gen_ai.usage.output_tokens"] == 10
    assert chat.attributes["gen_ai.request.model"] == "m"
    providers = [span.attributes.get("gen_ai.provider.name") for span in tracer.started]
    assert providers == ["gcp.gemini", "gcp.gemini", None, None]
    assert tool.attributes["gen_ai.tool.name"] == "read_file"
    assert (tool.begun, tool.ended) == (1_002_500_000_000, 1_003 * 10**9)
    errors = [span.attributes.get("error.type") for span in tracer.started]
    assert errors == ["error", None, "error", "timeout"]
    lines = list(step_lines("p/t/001/one", STEPS))
    details = [line.get("detail") for line in lines if line["event"] != "retry"]
    assert details == [None, "error: no", None]
    assert late.attributes["gen_ai.operation.name"] == "chat"
