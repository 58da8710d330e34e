"""The account of a run: files, costs, events, and the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.run_files import (
    ReportLine,
    RunFiles,
    TicketEvent,
    TicketState,
    TrackResult,
    report_text,
)
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Checkbox, Track
from aggregate.prompt.results import AggregatedResult

_ROUNDING = 1e-9


@dataclass(slots=True)
class Spending:
    """The costs of tickets, and the number of tickets that may still start.

    A ticket under way is assumed to cost as much as the dearest so far; the first one runs alone.
    """

    limit: float | None = None
    spent: float = 0.0  # on failed attempts and earlier rounds too
    earlier: float = 0.0  # the part of earlier rounds
    dearest: float = 0.0
    unpriced: str = ""  # a ticket of unknown price, with which no limit can be kept
    _any: bool = False

    def add(self, outcome: TicketOutcome) -> None:
        if outcome.cost is None:
            # Without tokens and answer, perhaps no server was reached.
            if not self.unpriced and (outcome.tokens > 0 or outcome.failure is None):
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may start, at most ``most``."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        return min(most, self._affordable(self.limit) - under_way) if self.dearest else most

    @property
    def reason(self) -> str:
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of "{self.unpriced}" is not known, so that max_cost cannot be kept'
        if self.dearest and self._affordable(self.limit) < 1:
            return (
                f"of max_cost, ${self.limit:g}, ${self.spent:.4f} is spent, and what is left may not pay for another: "
                f"the dearest ticket took ${self.dearest:.4f}"
            )
        return ""

    def _affordable(self, limit: float) -> int:
        # Sums of cents have rounding errors.
        return int((limit - self.spent) / self.dearest + _ROUNDING)


def _nobody(_event: TicketEvent) -> None:
    """Ignore an event."""


class RunLedger:
    """Records the changes of tickets in files, and reports each to ``observe``."""

    def __init__(
        self,
        track: Track,
        files: RunFiles,
        *,
        observe: Callable[[TicketEvent], None] = _nobody,
        max_cost: float | None = None,
    ) -> None:
        self.spending = Spending(max_cost)
        self.files = files
        self.track = track
        self._observe = observe
        self._lines: dict[str, ReportLine] = {}

    def begin(self) -> None:
        self.track.mark(Checkbox.STARTED)

    def start(self, ticket: Ticket, detail: str = "") -> None:
        self._tell(TicketEvent(ticket, TicketState.STARTED, detail))

    def wait(self, ticket: Ticket) -> None:
        command = f"aggregate conduct approve {self.track.track_id} {ticket.id}"
        self._tell(TicketEvent(ticket, TicketState.WAITING, command))

    def end(self, ticket: Ticket, outcome: TicketOutcome, *, announce: bool) -> None:
        """Write a ticket's reply, count its cost and ``announce`` its end, unless before a restart."""
        self.files.write_reply(outcome)  # again after a restart: a kill may have come before
        failed = outcome.failure is not None
        if ticket.asks:
            self.spending.add(outcome)
        line = self._lines[ticket.id] = ReportLine(ticket, outcome)
        if announce:
            done = TicketState.UNCHANGED if line.is_unchanged else TicketState.DONE
            state = TicketState.FAILED if failed else done
            self._tell(TicketEvent(ticket, state, outcome.failure or outcome.warning, line))

    def skip(self, ticket: Ticket, reason: str) -> None:
        self._lines[ticket.id] = ReportLine.not_run(ticket, reason)
        self._tell(TicketEvent(ticket, TicketState.SKIPPED, reason))

    def leave_out(self, ticket: Ticket, reason: str, *, announce: bool) -> None:
        self._lines[ticket.id] = ReportLine.not_run(ticket, reason, left_out=True)
        if announce:
            self._tell(TicketEvent(ticket, TicketState.LEFT_OUT, reason))

    def close(
        self,
        in_order: Sequence[Ticket],
        results: Callable[[Sequence[str]], Mapping[str, AggregatedResult]],
        *,
        warnings: Sequence[str],
        stopped: str,
        cancelled: bool,
    ) -> TrackResult:
        """Write the report of a run with every ticket in order; ``results`` merges tickets."""
        reason = f"not run: {self.spending.reason or 'cancelled'}"
        lines = tuple(
            self._lines.get(each.id) or ReportLine.not_run(each, reason) for each in in_order
        )
        merged = results([line.ticket.id for line in lines if line.status is not None])
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
        result = TrackResult(report, lines, cancelled, unmerged, stopped)
        self.track.mark(result.checkbox)
        return result

    def _tell(self, event: TicketEvent) -> None:
        self.files.append_event(event)
        self._observe(event)
