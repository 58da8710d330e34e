"""How a track is to be run, what a run tells, and what it comes to."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from aggregate.agents.tracks.run_files import ReportLine
from aggregate.agents.tracks.terms import WorkerTerms
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import TrackStatus
from aggregate.base.values import FailurePolicy

LEASE_SECONDS = 15.0  # longer than a pause of a busy machine, short beside an answer's minutes


class TicketState(StrEnum):
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "not run"
    WAITING = "waits"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class TicketEvent:
    ticket: Ticket
    state: TicketState
    detail: str = ""
    line: ReportLine | None = None  # what the report will say of it, where it has ended


@dataclass(frozen=True, slots=True)
class PollingOptions:
    # Assignments in the queue at one time, more than all workers together work on: 32 of the default concurrency.
    window: int = 256
    poll: float = 0.02  # seconds between two looks at the queue when nothing has ended
    warm_up: bool = True  # send one worker ahead of others that share its prefix


@dataclass(frozen=True, slots=True)
class TrackResult:
    report: Path
    lines: tuple[ReportLine, ...]  # one for each ticket, in order
    cancelled: bool = False
    unmerged: tuple[str, ...] = ()  # variables that could not be merged; the report says why
    stopped: str = ""  # why tickets that nothing kept back were not begun: the limit of cost

    @property
    def succeeded(self) -> bool:
        return not self.unmerged and all(line.is_done for line in self.lines)

    @property
    def track_status(self) -> TrackStatus:
        if self.cancelled:
            return TrackStatus.CANCELLED
        return TrackStatus.COMPLETED if self.succeeded else TrackStatus.IN_PROGRESS


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a track is to be run.

    Attributes:
        database: A URL or a file; by default SQLite in the user's state folder of this project.
        concurrency: Tickets that every worker on the database works on at one time; by default as many as before, at
            first 8.
        lease: Seconds after which a worker without a sign of life counts as dead.
        on_error: What a failed ticket does, instead of what ``tickets.toml`` says; a run under way keeps what it has.
        resume: Only go on with the latest run, and run what failed in it once more; begin none.
        retry: Only go on with the latest run, and run these tickets once more, with all that depend on them.
        only: With ``retry``, leave those that depend on them as they are.
        max_cost: The most US dollars that the run may cost; what the track says can only lower it.
        polling: How many tickets are queued at one time, how often the queue is looked at, and what is sent ahead.
        terms: What the user allows the workers; by default what the worker itself says.
    """

    database: str = ""
    concurrency: int | None = None
    lease: float = LEASE_SECONDS
    on_error: FailurePolicy | None = None
    resume: bool = False
    retry: tuple[str, ...] = ()
    only: bool = False
    max_cost: float | None = None
    polling: PollingOptions = field(default_factory=PollingOptions)
    terms: WorkerTerms | None = None
