"""One run of a track: lay ready tickets down, take outcomes up, until all have ended."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from time import monotonic, sleep

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

CHUNK = 200
"""Outcomes that are read from the desk at one time."""
MARK_SECONDS = 0.5
"""The plan's marks are written at most this often; the last ones always."""


class TicketState(StrEnum):
    """What an observer hears of a ticket."""

    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "not run"


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
        window: Assignments that lie at the desk at one time; it bounds memory and must exceed the workers' places.
        poll: Seconds between two looks at the desk when nothing has ended.
        lead: Send one worker ahead of others that share its prefix.
    """

    window: int = 256
    poll: float = 0.02
    lead: bool = True


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
    """A run of a track's tickets over a desk.

    It keeps no state that the desk does not have: started again after a kill it finds what has ended, what lies there,
    and goes on. Prompts are written before they are laid down and replies when they are taken up, under names that a
    second writing repeats, so each ticket is in the files exactly once.

    Args:
        run_id: Names the run; keys of assignments begin with it.
        track: Whose marks and metadata follow the run.
        tickets: What is run.
        contexts: Composes the workers' contexts.
        desk: Where assignments and outcomes lie.
        papers: Where prompts, replies and the report are written.
        pace: How many lie at the desk at one time, and how often it is looked at.
        observe: Hears of every change.
        cancelled: Asked between two looks at the desk.
        clock: Gives the time that is written into ``metadata.json``.
    """

    def __init__(
        self,
        run_id: str,
        track: Track,
        tickets: Tickets,
        *,
        contexts: WorkerContexts,
        desk: TaskQueue,
        papers: RunFiles,
        pace: PollingOptions = PollingOptions(),
        observe: Callable[[TicketEvent], None] = lambda _event: None,
        cancelled: Callable[[], bool] = lambda: False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._run_id = run_id
        self._track = track
        self._tickets = tickets
        self._contexts = contexts
        self._desk = desk
        self._papers = papers
        self._pace = pace
        self._observe = observe
        self._cancelled = cancelled
        self._clock = clock
        wide = contexts.share(tickets.tickets)
        self._schedule = Schedule(tickets.tickets, on_error=tickets.on_error, lead=pace.lead, wide=wide)
        self._lines: dict[str, ReportLine] = {}
        self._marks = _PlanMarks(track)

    def run(self) -> TrackResult:
        """Run what has not ended, and write the report."""
        self._track.set_status(TrackStatus.IN_PROGRESS, self._clock())
        laid = self._take_up_earlier()
        while not self._schedule.finished:
            if self._cancelled():
                return self._close(cancelled=True)
            self._lay_down(laid)
            if not self._take_up():
                sleep(self._pace.poll)
            self._marks.write()
        return self._close(cancelled=False)

    def _take_up_earlier(self) -> set[str]:
        """Take up what ended before a restart; return the tickets that lie at the desk."""
        keys = [self._key(ticket.id) for ticket in self._tickets.tickets]
        laid: set[str] = set()
        for chunk in _chunks(keys):
            laid |= self._hear_of(chunk)
            for key, outcome in self._desk.ended(chunk).items():
                self._end(self._name(key), outcome, again=True)
        return laid

    def _lay_down(self, laid: Collection[str]) -> None:
        """Start tickets while the window has room; what lies at the desk from before is only waited for."""
        for ticket in self._schedule.start(self._pace.window - len(self._schedule.under_way)):
            if ticket.id not in laid:
                needed = self._schedule.waits_for[ticket.id]
                results = merge_outcomes(self._tickets.tickets, self._outcomes(needed), on_error=self._tickets.on_error)
                assignment = self._contexts.assignment(ticket, results, self._key(ticket.id))
                self._papers.prompt(assignment)
                self._desk.put(replace(assignment, ahead=ticket.id in self._schedule.ahead))
            self._marks.set(ticket, Checkbox.STARTED)
            self._observe(TicketEvent(ticket, TicketState.STARTED))

    def _hear_of(self, keys: Collection[str]) -> set[str]:
        """Tell the schedule whose answer has begun to come; return the tickets that lie at the desk."""
        known = {self._name(key): begun for key, begun in self._desk.known(keys).items()}
        for name, begun in known.items():
            if begun:
                self._schedule.begin(name)
        return set(known)

    def _take_up(self) -> bool:
        """Take up what has ended; tell whether anything has."""
        ahead = self._schedule.ahead
        self._hear_of([self._key(name) for name in ahead])
        if self._schedule.ahead != ahead:
            return True  # those that waited are laid down before anything else is looked at
        ended = self._desk.ended([self._key(name) for name in self._schedule.under_way])
        for key, outcome in ended.items():
            self._end(self._name(key), outcome)
        return bool(ended)

    def _end(self, name: str, outcome: TicketOutcome, *, again: bool = False) -> None:
        ticket = self._schedule.tickets[name]
        if not again or not self._papers.has_reply(name):
            self._papers.reply(outcome)
        self._lines[name] = ReportLine.of(ticket, outcome)
        failed = outcome.failure is not None
        self._marks.set(ticket, Checkbox.OPEN if failed else Checkbox.DONE)
        before = len(self._schedule.left_out)
        self._schedule.end(name, failed=failed)
        if not again:
            self._observe(
                TicketEvent(ticket, TicketState.FAILED if failed else TicketState.DONE, outcome.failure or "")
            )
        for one, reason in list(self._schedule.left_out.items())[before:]:
            left_out = self._schedule.tickets[one]
            self._lines[one] = ReportLine(left_out, errors=(reason,))
            self._observe(TicketEvent(left_out, TicketState.LEFT_OUT, reason))

    def _close(self, *, cancelled: bool) -> TrackResult:
        """Take back what is under way, and write the last marks, the status and the report."""
        self._desk.withdraw([self._key(name) for name in self._schedule.under_way])
        lines = tuple(
            self._lines.get(one.id, ReportLine(one, errors=("not run: cancelled",))) for one in self._tickets.tickets
        )
        ended = [line.ticket.id for line in lines if line.status is not None]
        results = merge_outcomes(self._tickets.tickets, self._outcomes(ended), on_error=FailurePolicy.REPORT)
        path = self._papers.report(report_text(self._track.description, lines, results, self._contexts.warnings))
        for name in self._schedule.under_way:
            self._marks.set(self._schedule.tickets[name], Checkbox.OPEN)
        self._marks.write(last=True)
        unmerged = tuple(name for name, one in results.items() if len(one.errors) > one.failed)
        result = TrackResult(path, lines, cancelled, unmerged)
        status = TrackStatus.COMPLETED if result.succeeded else TrackStatus.IN_PROGRESS
        self._track.set_status(TrackStatus.CANCELLED if cancelled else status, self._clock())
        return result

    def _outcomes(self, names: Collection[str]) -> Iterator[TicketOutcome]:
        for chunk in _chunks([self._key(name) for name in names]):
            yield from self._desk.ended(chunk).values()

    def _key(self, name: str) -> str:
        return f"{self._run_id}/{name}"

    def _name(self, key: str) -> str:
        return key.removeprefix(f"{self._run_id}/")


@dataclass(slots=True)
class _PlanMarks:
    """The marks of a run's tickets, written into the plan a few at a time."""

    track: Track
    waiting: dict[tuple[str, str], Checkbox] = field(default_factory=dict)
    written: float = 0.0

    def set(self, ticket: Ticket, mark: Checkbox) -> None:
        self.waiting[ticket.id, ticket.name] = mark

    def write(self, *, last: bool = False) -> None:
        if self.waiting and (last or monotonic() - self.written >= MARK_SECONDS):
            self.track.mark_plan(self.waiting)
            self.waiting.clear()
            self.written = monotonic()


def _chunks(keys: list[str]) -> Iterator[list[str]]:
    return (keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK))
