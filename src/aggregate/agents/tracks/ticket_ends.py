"""How the tickets of a run end: what is written, told and counted, and which others end or are skipped with them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.checkboxes import Checkbox
from aggregate.agents.tracks.endings import Ending, EndingState
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.plan_checkboxes import PlanCheckboxes
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_lines import RunLines
from aggregate.agents.tracks.run_outcomes import RunOutcomes
from aggregate.agents.tracks.schedule import Schedule
from aggregate.agents.tracks.spending import Spending
from aggregate.agents.tracks.tickets import Ticket


@dataclass(slots=True)
class TicketEnds:
    """Ends tickets, once each.

    Attributes:
        schedule: Hears of it, and says which others are not run because of it.
        outcomes: Where the ending of a ticket is kept that no worker is asked for.
        files: Where replies are written.
        plan: Its checkboxes follow.
        spending: What an answer has cost is added to it.
        lines: The report's, which the observer hears of.
    """

    schedule: Schedule
    outcomes: RunOutcomes
    files: RunFiles
    plan: PlanCheckboxes
    spending: Spending
    lines: RunLines
    _open_children: dict[str, set[str]] = field(default_factory=dict)

    def end(self, outcome: TicketOutcome, *, announce: bool) -> None:
        """Note how a ticket ended, and which others are not run because of it.

        Args:
            outcome: Of the ticket.
            announce: Off for what ended before a restart, which nobody hears of again.
        """
        ticket = self.schedule.tickets[outcome.ticket]
        failed = outcome.failure is not None
        if ticket.asks:
            self.spending.add(outcome)
        self.plan.set(ticket, Checkbox.OPEN if failed else Checkbox.DONE)
        skipped_before = len(self.schedule.skipped)
        ending = self.outcomes.ending(ticket.id)
        rejected = ending is not None and ending.state is EndingState.REJECTED
        self.schedule.end(ticket.id, failed=failed, rejected=rejected, asked=ending is None)
        self.lines.end(ticket, outcome, announce=announce)
        for skipped_id, reason in list(self.schedule.skipped.items())[skipped_before:]:
            self.lines.skip(self.schedule.tickets[skipped_id], reason)
        parent_id = parent_of(ticket.id)
        if parent_id != ticket.id:
            self._open_children[parent_id].discard(ticket.id)
            if announce:
                self.end_parent(parent_id)

    def write_and_end(self, outcome: TicketOutcome) -> None:
        """Write a ticket's reply, and tell how it ended."""
        self.files.write_reply(outcome)
        self.end(outcome, announce=True)

    def fail(self, ticket: Ticket, reason: str) -> None:
        """End a ticket that no worker can be asked for."""
        ending = self.outcomes.record(ticket.id, Ending(EndingState.FAILED, reason))
        self.write_and_end(ending.outcome(ticket.id))

    def leave_out(self, ticket: Ticket, *, announce: bool = True) -> None:
        """End a ticket whose condition is recorded not to be met."""
        ending = self.outcomes.ending(ticket.id)
        reason = ending.text if ending else ""
        self.schedule.leave_out(ticket.id)
        self.plan.set(ticket, Checkbox.OPEN)
        self.lines.leave_out(ticket, reason, announce=announce)

    def wait_for_children(self, parent_id: str, child_ids: Iterable[str]) -> None:
        """Let a ticket end when these have ended."""
        self._open_children[parent_id] = set(child_ids)

    def end_parent(self, parent_id: str) -> None:
        """End a ticket that was spread over others when all of them have ended."""
        if self._open_children.get(parent_id) == set():
            del self._open_children[parent_id]
            for outcome in self.outcomes.of([parent_id]):
                self.write_and_end(outcome)
