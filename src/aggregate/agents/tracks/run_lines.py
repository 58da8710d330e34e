"""What a run will report of each ticket, told to an observer as it happens."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.report import ReportLine
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track_events import TicketEvent, TicketState


@dataclass(slots=True)
class RunLines:
    """The lines of a run's report; what ended before a restart is noted, and nobody hears of it again.

    Attributes:
        observe: Hears of every change.
    """

    observe: Callable[[TicketEvent], None]
    _lines: dict[str, ReportLine] = field(default_factory=dict)

    def tell(self, ticket: Ticket, state: TicketState, detail: str = "") -> None:
        """Tell the observer how far a ticket is that has not ended."""
        self.observe(TicketEvent(ticket, state, detail))

    def end(self, ticket: Ticket, outcome: TicketOutcome, *, announce: bool) -> None:
        """Note how a ticket ended."""
        line = self._lines[ticket.id] = ReportLine.of(ticket, outcome)
        if announce:
            state = TicketState.DONE if outcome.failure is None else TicketState.FAILED
            self.observe(TicketEvent(ticket, state, outcome.failure or "", line))

    def leave_out(self, ticket: Ticket, reason: str, *, announce: bool) -> None:
        """Note that a ticket's condition is not met."""
        self._lines[ticket.id] = ReportLine(ticket, errors=(reason,), left_out=True)
        if announce:
            self.tell(ticket, TicketState.LEFT_OUT, reason)

    def skip(self, ticket: Ticket, reason: str) -> None:
        """Note that a ticket is not run because of another one."""
        self._lines[ticket.id] = ReportLine(ticket, errors=(reason,))
        self.tell(ticket, TicketState.SKIPPED, reason)

    def all(
        self,
        ids: Sequence[str],
        *,
        children: Mapping[str, Sequence[str]],
        tickets: Mapping[str, Ticket],
        reason: str,
    ) -> Iterator[ReportLine]:
        """Yield a line for each ticket, in order, and behind it those of its children.

        Args:
            ids: The run's tickets.
            children: What some of them were spread over.
            tickets: All of these, by id.
            reason: Why those were not run of which nothing was noted.
        """
        for parent_id in ids:
            for ticket_id in (parent_id, *children.get(parent_id, ())):
                line = self._lines.get(ticket_id)
                yield line or ReportLine(tickets[ticket_id], errors=(reason,))
