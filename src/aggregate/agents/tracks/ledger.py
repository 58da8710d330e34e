"""The account of a run: costs, events, files and report."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic, time

from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks.assignment import TicketOutcome, TicketStatus
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import ReportLine, RunFiles, TrackResult, report_text
from aggregate.agents.tracks.run_events import (
    EventFile,
    Line,
    at,
    cancel_line,
    record_spans,
    step_lines,
)
from aggregate.agents.tracks.tickets import Ticket, parent_of
from aggregate.agents.tracks.track import Track

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
        usage: Line = {"attempts": line.attempts, "tokens": outcome.tokens}
        usage |= {"cost": outcome.cost, "seconds": outcome.seconds}
        steps = self.note_steps(ticket)
        new = self._add_line(ticket, outcome.status, detail, usage)
        if ticket.asks:
            self.spending.add(outcome)
            if new:
                record_spans(self._outcomes.keys.of(ticket.id), steps, new[0])

    def note_steps(self, ticket: Ticket) -> list[Line]:
        """Return the event lines of a ticket's steps; write new ones."""
        key = self._outcomes.keys.of(ticket.id)
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
        self._events.add([cancel_line(self._outcomes.keys.of(ticket.id))])

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
        self, ticket: Ticket, status: TicketStatus, detail: str, usage: Line | None = None
    ) -> list[Line]:
        """Write an event line for a ticket; return it unless another process wrote it."""
        line: Line = {
            "time": at(time()),
            "id": f"{self._outcomes.keys.of(ticket.id)}#{status.value}",
        }
        line |= {"ticket": ticket.id, "event": "ticket", "state": status.value}
        if detail:
            line["detail"] = detail
        return self._events.add([line | (usage or {})])
