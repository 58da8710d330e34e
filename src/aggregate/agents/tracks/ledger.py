"""The account of a run: costs, files, report, the lines of ``events.jsonl``, and OpenTelemetry spans.

All lines follow from the database's records, so any process can write them: after a kill, beside another process, and
for workers on other machines. A line's ``id`` keeps it from being written twice.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, time
from typing import Any

from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks.assignment import RecordedStep, TicketOutcome, TicketStatus, ticket_of
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import ReportLine, RunFiles, TrackResult, report_text
from aggregate.agents.tracks.tickets import Ticket, parent_of
from aggregate.agents.tracks.track import Track
from aggregate.base.disk.reading import is_file
from aggregate.base.disk.writing import append_own, exclusive_access, private_folder

EventLine = dict[str, Any]
_PROVIDER_NAMES = {"gemini": "gcp.gemini"}  # of the GenAI conventions, where they differ


class EventFile:
    """The ``events.jsonl`` of a run, written by several processes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.jsonl"
        self._ids: set[object] = set()
        self._end = 0  # offset of the first unread byte

    def add(self, lines: Iterable[EventLine]) -> list[EventLine]:
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


def cancel_line(key: str) -> EventLine:
    about = {"id": f"{key}#cancel", "ticket": ticket_of(key), "event": "cancel"}
    return {"time": at(time()), **about}


def step_lines(key: str, steps: Sequence[RecordedStep]) -> Iterator[EventLine]:
    """Yield a line for each turn, call, check and retry of an assignment."""
    attempt, turn, reason = 1, 0, ""
    calls: list[Mapping[str, Any]] = []  # of the last turn, not made yet
    for number, (name, record, ended) in enumerate(steps):
        if not isinstance(record, Mapping):
            continue
        line: EventLine = {"time": at(ended), "id": f"{key}#{number}", "ticket": ticket_of(key)}
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


def _call(record: Mapping[str, Any], position: int, call: Mapping[str, Any]) -> EventLine:
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


def _outcome(record: Mapping[str, Any], fault: str) -> EventLine:
    outcome = "error" if fault else "ok"
    if record.get("timeout") or record.get("status") == TicketStatus.TIMED_OUT:
        outcome = "timeout"
    return {"outcome": outcome} | ({"detail": fault} if fault else {})


def record_spans(key: str, lines: Sequence[EventLine], end: EventLine, tracer: Any = None) -> None:  # noqa: ANN401 - of a package that may be missing
    """Record an ended ticket as OpenTelemetry spans, if that package is installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return

    def time_of(line: EventLine, seconds: float = 0.0) -> int:
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


def _attributes(line: EventLine) -> dict[str, Any]:
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


def _provider(lines: Iterable[EventLine]) -> dict[str, str]:
    """Return the lines' first provider as a span attribute."""
    providers = [line["provider"] for line in lines if line.get("provider")]
    if not providers:
        return {}
    return {"gen_ai.provider.name": _PROVIDER_NAMES.get(providers[0], providers[0])}


def _end(span: Any, line: EventLine, ended: int) -> None:  # noqa: ANN401 - of a package that may be missing
    outcome = line.get("outcome", "ok")
    if "state" in line and TicketStatus(line["state"]).has_failed:
        outcome = "error"
    if outcome != "ok":
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", outcome)
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended)


_ROUNDING = 1e-9
_FOLLOW_SECONDS = 2.0  # between two looks at workers' steps, each a query for each ticket


@dataclass(frozen=True, slots=True)
class TicketEvent:
    ticket: Ticket
    status: TicketStatus
    detail: str = ""


@dataclass(slots=True)
class Spending:
    """The cost of a run so far, and its limit.

    The limit decides how many more tickets may start. A ticket under way is assumed to cost as much as the dearest one
    so far; the first one runs alone.
    """

    limit: float | None = None
    spent: float = 0.0  # on failed attempts and earlier rounds too
    earlier: float = 0.0  # the part of earlier rounds
    dearest: float = 0.0
    unpriced: str = ""  # a ticket of unknown price, with which no limit can be kept
    _any: bool = False

    def add(self, outcome: TicketOutcome, *, is_earlier: bool = False) -> None:
        """Add the cost of a ticket, or of its earlier round."""
        if outcome.cost is None:
            # Without tokens and answer, perhaps no server was reached.
            if not self.unpriced and (outcome.tokens > 0 or outcome.failure is None):
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)
        if is_earlier:
            self.earlier += outcome.cost

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may start within the cost limit, at most ``most``."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        return min(most, self._affordable(self.limit) - under_way) if self.dearest else most

    @property
    def reason(self) -> str:
        """Why no further ticket may start, ``""`` if one may."""
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of "{self.unpriced}" is unknown, so max_cost cannot be enforced'
        if self.dearest and self._affordable(self.limit) < 1:
            return (
                f"of max_cost, ${self.limit:g}, ${self.spent:.4f} is spent, and the rest may not suffice for another "
                f"ticket: the most expensive one cost ${self.dearest:.4f}"
            )
        return ""

    def _affordable(self, limit: float) -> int:
        # Sums of cents have rounding errors.
        return int((limit - self.spent) / self.dearest + _ROUNDING)


class RunLedger:
    """Writes each change of a ticket to the run's files, and reports it to ``observe``."""

    def __init__(
        self,
        track: Track,
        files: RunFiles,
        outcomes: RunOutcomes,
        *,
        observe: Callable[[TicketEvent], None],
        max_cost: float | None = None,
    ) -> None:
        limits = [limit for limit in (max_cost, outcomes.run.max_cost) if limit is not None]
        self.spending = Spending(min(limits, default=None))
        self.files = files
        self.track = track
        self._outcomes = outcomes
        self._observe = observe
        self._events = EventFile(files.folder)
        self._followed = 0.0  # when, on the monotonic clock
        self._lines: dict[str, ReportLine] = {}

    def note(self, ticket: Ticket, status: TicketStatus, detail: str = "") -> None:
        """Report that a ticket has started or waits."""
        self._observe(TicketEvent(ticket, status, detail))
        self._add_line(ticket, status, detail)

    def end(self, ticket: Ticket, outcome: TicketOutcome, *, announce: bool = True) -> None:
        """Write a ticket's outcome and count its cost; ``announce`` also reports it to ``observe``."""
        line = self._lines[ticket.id] = ReportLine(ticket, outcome)
        detail = outcome.failure or outcome.last.warning
        if announce:
            self._observe(TicketEvent(ticket, outcome.status, detail))
        if not line.has_run:
            self._add_line(ticket, outcome.status, detail)
            return
        self.files.write_reply(outcome)  # again after a restart: a kill may have come before
        usage: EventLine = {"attempts": line.attempts, "tokens": outcome.tokens}
        usage |= {"cost": outcome.cost, "seconds": outcome.seconds}
        steps = self.note_steps(ticket)
        new = self._add_line(ticket, outcome.status, detail, usage)
        if ticket.asks:
            self.spending.add(outcome)
            if new:
                record_spans(self._outcomes.key(ticket.id), steps, new[0])

    def note_steps(self, ticket: Ticket) -> list[EventLine]:
        """Return the event lines of a ticket's steps; write new ones."""
        key = self._outcomes.key(ticket.id)
        lines = list(step_lines(key, self._outcomes.queue.steps(key))) if ticket.asks else []
        self._events.add(lines)
        return lines

    def follow(self, tickets: Iterable[Ticket]) -> None:
        """Write the new steps of tickets with tools, at most every two seconds."""
        if monotonic() - self._followed >= _FOLLOW_SECONDS:
            for ticket in tickets:
                if ticket.tools:
                    self.note_steps(ticket)
            self._followed = monotonic()

    def cancel(self, ticket: Ticket) -> None:
        self.note_steps(ticket)
        self._events.add([cancel_line(self._outcomes.key(ticket.id))])

    def close(self, warnings: Sequence[str], *, stopped: str, cancelled: bool) -> TrackResult:
        """Write the report of a run."""
        reason = f"not run: {self.spending.reason or 'cancelled'}"
        lines = []
        for ticket in self._outcomes.in_order():
            not_run = TicketOutcome.without_worker(ticket.id, TicketStatus.NOT_RUN, reason)
            lines.append(self._lines.get(ticket.id) or ReportLine(ticket, not_run))
        ids = [line.ticket.id for line in lines if line.has_run]
        ids = [ticket_id for ticket_id in ids if ticket_id == parent_of(ticket_id)]
        merged = self._outcomes.merge(ids, on_error=FailurePolicy.REPORT)
        text = report_text(
            self.track.description,
            lines,
            merged,
            warnings,
            names=self.files.names,
            earlier_cost=self.spending.earlier,
        )
        # Errors beyond those of failed tickets come from merging.
        unmerged = tuple(name for name, one in merged.items() if len(one.errors) > one.failed)
        report = self.files.write_report(text)
        result = TrackResult(report, tuple(lines), cancelled, unmerged, stopped)
        self.track.mark(result.checkbox)
        return result

    def _add_line(
        self, ticket: Ticket, status: TicketStatus, detail: str, usage: EventLine | None = None
    ) -> list[EventLine]:
        """Write an event line for a ticket; return it unless another process wrote it."""
        line: EventLine = {
            "time": at(time()),
            "id": f"{self._outcomes.key(ticket.id)}#{status.value}",
        }
        line |= {"ticket": ticket.id, "event": "ticket", "state": status.value}
        if detail:
            line["detail"] = detail
        return self._events.add([line | (usage or {})])
