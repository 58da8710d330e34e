"""The lines of ``events.jsonl``, and OpenTelemetry spans of tickets.

All lines follow from the database's records, so any process can write them: after a kill, beside another process, and
for workers on other machines. A line's ``id`` keeps it from being written twice.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

from aggregate.agents.tracks.assignment import RecordedStep, TicketStatus, ticket_of
from aggregate.base.disk.reading import is_file
from aggregate.base.disk.writing import append_own, exclusive_access, private_folder

Line = dict[str, Any]
_PROVIDER_NAMES = {"gemini": "gcp.gemini"}  # of the GenAI conventions, where they differ


class EventFile:
    """The ``events.jsonl`` of a run, written by several processes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.jsonl"
        self._ids: set[object] = set()
        self._end = 0  # offset of the first unread byte

    def add(self, lines: Iterable[Line]) -> list[Line]:
        """Append the lines with new ids; return these lines."""
        wanted = [line for line in lines if line["id"] not in self._ids]
        if not wanted:
            return []
        private_folder(self._path.parent)  # which is locked
        with exclusive_access(self._path):
            is_torn = self._look()
            new = [line for line in wanted if line["id"] not in self._ids]
            text = "".join(json.dumps(line) + "\n" for line in new)
            append_own(self._path, "\n" * is_torn + text)
        return new

    def _look(self) -> bool:
        """Read lines of other processes; return whether the last one is incomplete."""
        if self._path.is_symlink() or not is_file(str(self._path)):
            return False
        with self._path.open("rb") as file:
            file.seek(self._end)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        self._end += len(complete)
        for text in complete.splitlines():
            try:
                self._ids.add(json.loads(text)["id"])
            except (ValueError, KeyError, TypeError):
                continue  # not a line of ours
        return len(complete) < len(data)


def at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def cancel_line(key: str) -> Line:
    about = {"id": f"{key}#cancel", "ticket": ticket_of(key), "event": "cancel"}
    return {"time": at(time()), **about}


def step_lines(key: str, steps: Sequence[RecordedStep]) -> Iterator[Line]:
    """Yield a line for each turn, call, check and retry of an assignment."""
    attempt, turn, reason = 1, 0, ""
    calls: list[Mapping[str, Any]] = []  # of the last turn, not made yet
    for number, (name, record, ended) in enumerate(steps):
        if not isinstance(record, Mapping):
            continue
        line: Line = {"time": at(ended), "id": f"{key}#{number}", "ticket": ticket_of(key)}
        if reason:
            detail = {"event": "retry", "attempt": attempt, "detail": reason}
            yield {**line, "id": f"{key}#{number}.retry", **detail}
            reason = ""
        line |= {"attempt": attempt, "seconds": record.get("seconds", 0.0)}
        if name == "turn" or (name == "attempt" and not turn):
            turn += 1
            fields = ("provider", "model", "tokens", "output_tokens", "cost")
            line |= {"event": "turn", "turn": turn, **{one: record.get(one) for one in fields}}
            yield line | _outcome(record, _failure(record))
        if name == "turn":
            calls = [*record.get("calls", ())]
        elif name == "attempt":
            attempt, turn = attempt + 1, 0
            reason = _failure(record)
        elif name == "check":
            fault = record.get("said", "").partition("\n")[0]
            yield line | {"event": "check"} | _outcome(record, fault)
        elif name in ("calls", "write"):
            count = len(record.get("calls", calls[:1] if name == "write" else calls))
            made, calls = calls[:count], calls[count:]
            for i, call in enumerate(made):
                yield line | {"id": f"{key}#{number}.{i}", "turn": turn} | _call(record, i, call)


def _call(record: Mapping[str, Any], position: int, call: Mapping[str, Any]) -> Line:
    text = next(iter(record.get("results", ())[position : position + 1]), "")
    took = record.get("took", ())[position : position + 1]
    fault = text.partition("\n")[0] if text.startswith("error: ") else ""
    return {
        "event": "call",
        "tool": call.get("name"),
        "arguments": len(json.dumps(call.get("arguments"), ensure_ascii=False)),
        "result": len(text),
        **_outcome(record, fault),
        **({"seconds": took[0]} if took else {}),
    }


def _failure(record: Mapping[str, Any]) -> str:
    """Return why a turn or an attempt has no answer, ``""`` if it has one."""
    has_answer = record.get("status") in (TicketStatus.DONE, TicketStatus.UNCHANGED)
    return "" if has_answer else str(record.get("text", ""))


def _outcome(record: Mapping[str, Any], fault: str) -> Line:
    outcome = "error" if fault else "ok"
    if record.get("timeout") or record.get("status") == TicketStatus.TIMED_OUT:
        outcome = "timeout"
    return {"outcome": outcome} | ({"detail": fault} if fault else {})


def record_spans(key: str, lines: Sequence[Line], end: Line, tracer: Any = None) -> None:  # noqa: ANN401 - of a package that may be missing
    """Record an ended ticket as OpenTelemetry spans, if that package is installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return

    def time_of(line: Line, seconds: float = 0.0) -> int:
        return int((datetime.fromisoformat(line["time"]).timestamp() - seconds) * 1e9)

    timed = [line for line in lines if "seconds" in line]
    begun = min((time_of(line, line["seconds"]) for line in timed), default=time_of(end))
    tracer = tracer or trace.get_tracer("aggregate")
    about = {"gen_ai.conversation.id": key, "gen_ai.agent.name": end["ticket"]}
    named = {**about, **_provider(lines), "gen_ai.operation.name": "invoke_agent"}
    parent = tracer.start_span(f"invoke_agent {end['ticket']}", start_time=begun, attributes=named)
    context = trace.set_span_in_context(parent)
    for line in lines:
        attributes = {**about, **_attributes(line)}
        if line["event"] == "retry":
            parent.add_event("retry", {"attempt": line["attempt"]}, timestamp=time_of(line))
            continue
        operation = attributes.get("gen_ai.operation.name", "check")
        subject = line.get("tool") or line.get("model") or ""
        start = time_of(line, line["seconds"])
        kind = trace.SpanKind.CLIENT if operation == "chat" else trace.SpanKind.INTERNAL
        span = tracer.start_span(
            f"{operation} {subject}".strip(), context, kind, attributes, start_time=start
        )
        _end(span, line, time_of(line))
    _end(parent, end, time_of(end))


def _attributes(line: Line) -> dict[str, Any]:
    if line["event"] == "call":
        return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": line["tool"]}
    if line["event"] != "turn":
        return {}
    output = line["output_tokens"] or 0
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": (line["tokens"] or 0) - output,
        "gen_ai.usage.output_tokens": output,
    }
    if line["model"]:
        attributes["gen_ai.request.model"] = line["model"]
    return attributes | _provider([line])


def _provider(lines: Iterable[Line]) -> dict[str, str]:
    """Return the lines' first provider as a span attribute."""
    providers = [line["provider"] for line in lines if line.get("provider")]
    if not providers:
        return {}
    return {"gen_ai.provider.name": _PROVIDER_NAMES.get(providers[0], providers[0])}


def _end(span: Any, line: Line, ended: int) -> None:  # noqa: ANN401 - of a package that may be missing
    outcome = line.get("outcome", "ok")
    if "state" in line and TicketStatus(line["state"]).has_failed:
        outcome = "error"
    if outcome != "ok":
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", outcome)
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended)
