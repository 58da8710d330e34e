"""A project with a track, a queue without a database, and workers that do what a test says."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

from aggregate import Client, Prompt, RunOptions, open_project
from aggregate.agents.tracks import (
    Assignment,
    ModelWorker,
    Ticket,
    TicketOutcome,
    Worker,
    WorkerContexts,
    WorkerReply,
    attempt_assignment,
    complete_assignment,
    open_track,
)
from aggregate.agents.tracks.assignment import Ending, RecordedStep
from aggregate.agents.tracks.ledger import RunLedger, TicketEvent
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import RunFiles, TrackResult
from aggregate.agents.tracks.tickets import Tickets
from aggregate.agents.tracks.track_run import TrackRun
from tests.projects import project

TIME = datetime(2026, 1, 31, 10, 30, tzinfo=UTC)
TRACK = "demo_20260131"
FILES = {
    "manual_slop.toml": '[project]\nname = "demo"\n\n[files]\npaths = ["src/*.py"]\n',
    "src/one.py": "def one() -> int:\n    return 1\n",
    "src/two.py": "def two() -> int:\n    return 2\n",
    "conductor/tracks.md": f"# Project Tracks\n\n---\n\n- [ ] **Track: A demo**\n*Link: [./tracks/{TRACK}/](./tracks/{TRACK}/)*\n",
}  # fmt: skip


def track_project(folder: Path, tickets: str, **files: str) -> Path:
    return project(folder, {**FILES, f"conductor/tracks/{TRACK}/tickets.toml": tickets, **files})


@dataclass
class Says:
    """A worker that answers with what a function says, and keeps what it was given."""

    answer: Callable[[Assignment], str] = lambda assignment: f"answer of {assignment.ticket}"
    given: list[Assignment] = field(default_factory=list)

    def work(self, assignment: Assignment) -> WorkerReply:
        self.given.append(assignment)
        return WorkerReply(self.answer(assignment), 5)

    @property
    def order(self) -> list[str]:
        return [one.ticket for one in self.given]


def assigned(ticket: str = "a", message: str = "x", **fields: Any) -> Assignment:
    """Return what a worker is given for a ticket, by default nothing but its message."""
    return Assignment(f"r/{ticket}", ticket, fields.pop("prompt", Prompt(())), message, **fields)


def attempted(worker: Worker, asked: Assignment) -> WorkerReply:
    """Let a worker make its first attempt."""
    return attempt_assignment(worker, asked, 1)


def completed(worker: Worker, asked: Assignment) -> TicketOutcome:
    """Let a worker make all attempts, without the waits between them, and return the outcome as a database gives it."""
    outcome = complete_assignment(worker, asked, wait=lambda _: None)
    return TicketOutcome.from_json(outcome.to_json())


def asking(client: Client, **options: Any) -> ModelWorker:
    """Return the worker that asks a client."""
    return ModelWorker(client, **options)


def tickets_of(tickets: Sequence[Ticket]) -> Tickets:
    """Return the tickets of a track whose file names these."""
    return Tickets(tickets=tuple(tickets))


def run_files(folder: Path, *tickets: str) -> RunFiles:
    """Return where a run of these tickets writes."""
    return RunFiles(folder, {name: number for number, name in enumerate(tickets, 1)})


@dataclass
class MemoryQueue:
    """A queue whose worker works when it is looked at, one assignment at a time, the newest first."""

    worker: Worker
    waits: list[float] = field(default_factory=list)
    waiting: dict[str, Assignment] = field(default_factory=dict)
    ended: dict[str, TicketOutcome] = field(default_factory=dict)
    most: int = 0

    def known(self, keys: Collection[str]) -> set[str]:
        """Return which were put here."""
        return {*keys} & (self.waiting.keys() | self.ended.keys())

    def put(self, assignment: Assignment) -> None:
        assert assignment.key not in self.ended
        text = assignment.to_json()
        self.waiting[assignment.key] = Assignment.from_json(text, assignment.prompt)
        self.most = max(self.most, len(self.waiting))

    def outcomes(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        self.end_newest(keys)
        return {key: self.ended[key] for key in keys if key in self.ended}

    def end_newest(self, keys: Collection[str]) -> None:
        """Work on the last assignment of ``keys``."""
        if newest := next((key for key in reversed(self.waiting) if key in keys), None):
            assignment = self.waiting.pop(newest)
            outcome = complete_assignment(self.worker, assignment, wait=self.waits.append)
            self.ended[assignment.key] = TicketOutcome.from_json(outcome.to_json())

    def cancel(self, keys: Collection[str]) -> None:
        for key in keys:
            self.waiting.pop(key, None)

    def steps(self, key: str) -> list[RecordedStep]:
        """Return none: what a worker here does is not recorded."""
        return []


@dataclass
class MemoryRecord:
    there: dict[str, Ending] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    run_id = "demo/1"

    def endings(self) -> Mapping[str, Ending]:
        return self.there

    def record(self, key: str, ending: Ending) -> Ending:
        return self.there.setdefault(key, ending)

    def is_cancelled(self) -> bool:
        return self.cancelled()


@dataclass
class Conducted:
    result: TrackResult
    worker: Says
    queue: MemoryQueue
    events: list[str]
    folder: Path

    @property
    def report(self) -> str:
        return self.result.report.read_text(encoding="utf-8")

    def prompt(self, ticket: str) -> str:
        return next(one.text for one in self.worker.given if one.ticket == ticket)


def conducted(
    folder: Path,
    worker: Says | None = None,
    *,
    queue: MemoryQueue | None = None,
    options: RunOptions | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    changed: Event | None = None,
    endings: MemoryRecord | None = None,
    max_cost: float | None = None,
) -> Conducted:
    loaded = open_project(folder / "manual_slop.toml")
    track = open_track(folder, TRACK)
    tickets = track.tickets()
    who = worker or Says()
    in_memory = queue or MemoryQueue(who)
    events: list[TicketEvent] = []
    files = RunFiles(folder / "out", {one.id: i for i, one in enumerate(tickets.tickets, 1)})
    record = endings or MemoryRecord()
    record.cancelled = cancelled
    outcomes = RunOutcomes(tickets, in_memory, record, changed)
    ledger = RunLedger(track, files, outcomes, observe=events.append, max_cost=max_cost)
    options = options or RunOptions(poll=0.001)
    result = TrackRun(outcomes, WorkerContexts(loaded), ledger, None, options).run()
    return Conducted(
        result, who, in_memory, [f"{one.status.value} {one.ticket.id}" for one in events], folder
    )
