"""What a run of a track is told and tells: how it looks at its queue, what it says of tickets, what it came to."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from aggregate.agents.tracks.metadata_file import TrackStatus
from aggregate.agents.tracks.report import ReportLine
from aggregate.agents.tracks.tickets import Ticket


class TicketState(StrEnum):
    """What an observer hears of a ticket."""

    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "not run"
    WAITING = "waits"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class TicketEvent:
    """A change in a ticket's state.

    Attributes:
        ticket: The ticket.
        state: What has become of it.
        detail: One line.
        line: What the report will say of it, where it has ended.
    """

    ticket: Ticket
    state: TicketState
    detail: str = ""
    line: ReportLine | None = None


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
        stopped: Why tickets that nothing kept back were not begun: what the run may cost is spent; ``""`` for none.
    """

    report: Path
    lines: tuple[ReportLine, ...]
    cancelled: bool = False
    unmerged: tuple[str, ...] = ()
    stopped: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether every ticket has an answer, and every variable a value."""
        return not self.unmerged and all(line.is_done for line in self.lines)

    @property
    def track_status(self) -> TrackStatus:
        """What the track's metadata say afterwards."""
        if self.cancelled:
            return TrackStatus.CANCELLED
        return TrackStatus.COMPLETED if self.succeeded else TrackStatus.IN_PROGRESS
