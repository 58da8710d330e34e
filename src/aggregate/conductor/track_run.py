"""One run of a track: enqueue ready tickets, collect their outcomes, until all have ended."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from threading import Event
from time import monotonic

from aggregate.conductor.assignment import TicketOutcome
from aggregate.conductor.checkboxes import Checkbox
from aggregate.conductor.merge_outcomes import merge_outcomes
from aggregate.conductor.metadata_file import TrackStatus
from aggregate.conductor.report import ReportLine, report_text
from aggregate.conductor.run_files import RunFiles
from aggregate.conductor.schedule import Schedule
from aggregate.conductor.task_queue import TaskQueue
from aggregate.conductor.tickets import Ticket, Tickets
from aggregate.conductor.track import Track
from aggregate.conductor.worker_context import WorkerContexts
from aggregate.models.group import FailurePolicy, RunStatus
from aggregate.models.result import AggregatedResult

CHUNK = 200
"""Outcomes that are read from the queue at one time: an answer may have megabytes, and all of them need not be held at
once."""
LOOK_SECONDS = 0.05
"""Between two looks at the queue while tickets are laid down: a look costs about as much as laying one down."""
RECORDING_SECONDS = 0.002
"""How soon the queue is looked at again when something has just ended: it takes about so long to be recorded."""
MARK_SECONDS = 0.5
"""The plan's checkboxes are written at most this often, for a person looks at them; the last ones always."""


class TicketState(StrEnum):
    """What an observer hears of a ticket."""

    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "not run"


@dataclass(frozen=True, slots=True)
class TicketEvent:
    """A change in a ticket's state, with one line of detail."""

    ticket: Ticket
    state: TicketState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PollingOptions:
    """How a run goes about its tickets.

    Attributes:
        window: Assignments in the queue at one time; it bounds memory and must exceed what all workers together work
            on at one time.
        poll: Seconds between two looks at the queue when nothing has ended, as far as is known.
        warm_up: Send one worker ahead of others that share its prefix.
    """

    window: int = 256  # 32 workers of the default concurrency
    poll: float = 0.02
    warm_up: bool = True


@dataclass(frozen=True, slots=True)
class TrackResult:
    """What a run came to.

    Attributes:
        report: The report's file.
        lines: One for each ticket, in order.
        cancelled: It was stopped before its end.
        unmerged: Variables that could not be merged; the report says why.
    """

    report: Path
    lines: tuple[ReportLine, ...]
    cancelled: bool = False
    unmerged: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether every ticket has an answer, and every variable a value."""
        return not self.unmerged and all(line.status is RunStatus.SUCCESS for line in self.lines)


class TrackRun:
    """A run of a track's tickets over a queue.

    It keeps no state that the queue does not have: started again after a kill it finds what has ended and what was
    enqueued, and goes on. Prompts are written before they are enqueued and replies when they are collected, under names
    that a second writing repeats, so each ticket is in the files exactly once.

    Args:
        run_id: Names the run; keys of assignments begin with it.
        track: Whose checkboxes and metadata follow the run.
        tickets: What is run.
        contexts: Composes the workers' contexts.
        queue: Takes assignments and gives outcomes.
        files: Where prompts, replies and the report are written.
        polling: How many assignments are in the queue at one time, and how often it is looked at.
        observe: Hears of every change.
        cancelled: Asked before each ticket and between two looks at the queue.
        changed: Set when an answer has ended or begun in this process; what other processes do is seen by looking.
        seconds: The time that looks at the queue go by.
        clock: Gives the time that is written into ``metadata.json``.
    """

    def __init__(
        self,
        run_id: str,
        track: Track,
        tickets: Tickets,
        *,
        contexts: WorkerContexts,
        queue: TaskQueue,
        files: RunFiles,
        polling: PollingOptions = PollingOptions(),
        observe: Callable[[TicketEvent], None] = lambda _event: None,
        cancelled: Callable[[], bool] = lambda: False,
        changed: Event | None = None,
        seconds: Callable[[], float] = monotonic,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._run_id = run_id
        self._track = track
        self._tickets = tickets
        self._contexts = contexts
        self._queue = queue
        self._files = files
        self._polling = polling
        self._observe = observe
        self._cancelled = cancelled
        self._changed = changed or Event()
        self._pause = polling.poll
        self._seconds = seconds
        self._looked_at = seconds()
        self._clock = clock
        self._schedule = Schedule(
            tickets.tickets,
            on_error=tickets.on_error,
            warm_up=polling.warm_up,
            any_focus=contexts.share(tickets.tickets),
            alone=contexts.alone(tickets.tickets),
            prefix=contexts.prefix,
        )
        self._lines: dict[str, ReportLine] = {}
        self._plan = _PlanCheckboxes(track)

    def run(self) -> TrackResult:
        """Run what has not ended, and write the report."""
        self._track.set_status(TrackStatus.IN_PROGRESS, self._clock())
        enqueued_before = self._collect_earlier()
        while not self._schedule.finished:
            if self._cancelled():
                return self._close(cancelled=True)
            started = self._start_next(enqueued_before)
            if not started or self._seconds() - self._looked_at >= LOOK_SECONDS:
                collected = self._collect()
                if not started and not collected:
                    self._wait()
            self._plan.write()
        return self._close(cancelled=False)

    def _collect_earlier(self) -> set[str]:
        """Collect what ended before a restart, which nobody hears of again; return the tickets that were enqueued."""
        enqueued: set[str] = set()
        for ids in _chunks([ticket.id for ticket in self._tickets.tickets]):
            enqueued |= self._notice_begun(ids)
            for outcome in self._outcomes(ids):
                if not self._files.has_reply(outcome.ticket):
                    self._files.write_reply(outcome)
                self._end(outcome, announce=False)
        return enqueued

    def _start_next(self, enqueued_before: Collection[str]) -> bool:
        """Start one ticket, if one is ready and the window has room; what was enqueued before is only waited for."""
        room = self._polling.window - len(self._schedule.under_way)
        for ticket in self._schedule.start(min(room, 1)):
            if ticket.id not in enqueued_before:
                self._enqueue(ticket)
            self._plan.set(ticket, Checkbox.STARTED)
            self._observe(TicketEvent(ticket, TicketState.STARTED))
            return True
        return False

    def _enqueue(self, ticket: Ticket) -> None:
        """Compose a ticket's assignment from the results that it waits for, and put it into the queue."""
        waits_for = self._schedule.waits_for[ticket.id]
        results = self._merge(waits_for, on_error=self._tickets.on_error)
        assignment = self._contexts.assignment(ticket, results, self._key(ticket.id))
        self._contexts.write_account(self._files.write_prompt(assignment), assignment)
        ahead = ticket.id in self._schedule.warming_up
        self._queue.put(replace(assignment, ahead=ahead, urgent=ahead or bool(waits_for)))

    def _wait(self) -> None:
        """Wait until something has ended or begun here, or it is time to look what other processes did."""
        if self._changed.wait(self._pause):
            self._pause = min(RECORDING_SECONDS, self._polling.poll)
        else:
            self._pause = min(2 * self._pause, self._polling.poll)

    def _collect(self) -> bool:
        """Collect what has ended; tell whether anything has happened."""
        self._changed.clear()
        self._looked_at = self._seconds()
        warming_up = self._schedule.warming_up
        if warming_up:
            self._notice_begun(warming_up)
        if self._schedule.warming_up != warming_up:
            return True  # those that waited are enqueued before anything else is looked at
        outcomes = self._outcomes(self._schedule.under_way)
        for outcome in outcomes:
            self._files.write_reply(outcome)
            self._end(outcome, announce=True)
        return bool(outcomes)

    def _notice_begun(self, ids: Collection[str]) -> set[str]:
        """Tell the schedule whose answer has begun to come; return which of the tickets were enqueued."""
        known = self._queue.known([self._key(ticket_id) for ticket_id in ids])
        begun_by_id = {key.removeprefix(f"{self._run_id}/"): begun for key, begun in known.items()}
        for ticket_id, begun in begun_by_id.items():
            if begun:
                self._schedule.answer_begun(ticket_id)
        return set(begun_by_id)

    def _end(self, outcome: TicketOutcome, *, announce: bool) -> None:
        """Note how a ticket ended, and which others are not run because of it."""
        ticket = self._schedule.tickets[outcome.ticket]
        failed = outcome.failure is not None
        self._lines[ticket.id] = ReportLine.of(ticket, outcome)
        self._plan.set(ticket, Checkbox.OPEN if failed else Checkbox.DONE)
        skipped_before = len(self._schedule.skipped)
        self._schedule.end(ticket.id, failed=failed)
        if announce:
            state = TicketState.FAILED if failed else TicketState.DONE
            self._observe(TicketEvent(ticket, state, outcome.failure or ""))
        for skipped_id, reason in list(self._schedule.skipped.items())[skipped_before:]:
            skipped = self._schedule.tickets[skipped_id]
            self._lines[skipped_id] = ReportLine(skipped, errors=(reason,))
            self._observe(TicketEvent(skipped, TicketState.SKIPPED, reason))

    def _close(self, *, cancelled: bool) -> TrackResult:
        """Take back what is under way, and write the report, the last checkboxes and the status."""
        under_way = self._schedule.under_way
        self._queue.cancel([self._key(ticket_id) for ticket_id in under_way])
        lines = tuple(map(self._line, self._tickets.tickets))
        ended = [line.ticket.id for line in lines if line.status is not None]
        results = self._merge(ended, on_error=FailurePolicy.REPORT)
        text = report_text(self._track.description, lines, results, self._contexts.warnings)
        report = self._files.write_report(text)
        for ticket_id in under_way:
            self._plan.set(self._schedule.tickets[ticket_id], Checkbox.OPEN)
        self._plan.write(last=True)
        # A result's errors beyond those of its failed tickets are the merging's own.
        unmerged = [name for name, merged in results.items() if len(merged.errors) > merged.failed]
        result = TrackResult(report, lines, cancelled, tuple(unmerged))
        self._track.set_status(_status(result), self._clock())
        return result

    def _line(self, ticket: Ticket) -> ReportLine:
        return self._lines.get(ticket.id) or ReportLine(ticket, errors=("not run: cancelled",))

    def _merge(self, ids: Sequence[str], *, on_error: FailurePolicy) -> dict[str, AggregatedResult]:
        """Return the variables that the outcomes of these tickets make up."""
        outcomes = chain.from_iterable(map(self._outcomes, _chunks(ids)))
        return merge_outcomes(self._tickets.tickets, outcomes, on_error=on_error)

    def _outcomes(self, ids: Sequence[str]) -> Collection[TicketOutcome]:
        return self._queue.outcomes([self._key(ticket_id) for ticket_id in ids]).values()

    def _key(self, ticket_id: str) -> str:
        return f"{self._run_id}/{ticket_id}"


def _status(result: TrackResult) -> TrackStatus:
    if result.cancelled:
        return TrackStatus.CANCELLED
    return TrackStatus.COMPLETED if result.succeeded else TrackStatus.IN_PROGRESS


@dataclass(slots=True)
class _PlanCheckboxes:
    """The checkboxes of a run's tickets, written into the plan a few at a time."""

    track: Track
    unwritten: dict[tuple[str, str], Checkbox] = field(default_factory=dict)
    written_at: float = 0.0

    def set(self, ticket: Ticket, checkbox: Checkbox) -> None:
        self.unwritten[ticket.id, ticket.name] = checkbox

    def write(self, *, last: bool = False) -> None:
        """Write what has changed, if it is time or the last time."""
        if self.unwritten and (last or monotonic() - self.written_at >= MARK_SECONDS):
            self.track.mark_plan(self.unwritten)
            self.unwritten.clear()
            self.written_at = monotonic()


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
