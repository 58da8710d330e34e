"""End tickets: write their files, count what they cost, tell of them, and end those that depend on them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from aggregate.agents.tracks.assignment import Ending, EndingState, TicketOutcome
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.run_files import ReportLine, RunFiles
from aggregate.agents.tracks.run_options import TicketEvent, TicketState
from aggregate.agents.tracks.run_outcomes import RunOutcomes
from aggregate.agents.tracks.schedule import Schedule
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import Checkbox, Track

MARK_SECONDS = 0.5
"""The plan's checkboxes are written at most this often, for a person looks at them; the last ones always."""
_ROUNDING = 1e-9


@dataclass(slots=True)
class PlanCheckboxes:
    """The checkboxes of a run's tickets, written into the plan a few at a time."""

    track: Track
    unwritten: dict[tuple[str, str], Checkbox] = field(default_factory=dict)
    written_at: float = 0.0

    def set(self, ticket: Ticket, checkbox: Checkbox) -> None:
        """Note a ticket's checkbox; children of a list stand in no plan."""
        if parent_of(ticket.id) == ticket.id:
            self.unwritten[ticket.id, ticket.name] = checkbox

    def write(self, *, last: bool = False) -> None:
        """Write what has changed, if it is time or the last time."""
        if self.unwritten and (last or monotonic() - self.written_at >= MARK_SECONDS):
            self.track.mark_plan(self.unwritten)
            self.unwritten.clear()
            self.written_at = monotonic()


@dataclass(slots=True)
class Spending:
    """Counts what a run's tickets cost in US dollars against its limit.

    What a ticket will cost is not known before: each that is under way is taken for as dear as the dearest so far, and
    the first one goes alone.

    Attributes:
        limit: The most that the run may cost, ``None`` for no limit.
        spent: What is known to have been spent, on failed attempts and earlier rounds too.
        earlier: What of it earlier rounds have cost.
        unpriced: A ticket whose price is not known, ``""`` for none: with it no limit can be kept.
    """

    limit: float | None = None
    spent: float = 0.0
    earlier: float = 0.0
    dearest: float = 0.0
    unpriced: str = ""
    _any: bool = False

    def add(self, outcome: TicketOutcome) -> None:
        """Count what a ticket has cost that a worker was asked for."""
        if outcome.cost is None:
            # Where there are neither tokens nor an answer, nobody may have been reached.
            was_answered = outcome.tokens > 0 or outcome.failure is None
            if was_answered and not self.unpriced:
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may be asked for, ``most`` where nothing is limited; none for less than 1."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        return min(most, self._affordable(self.limit) - under_way) if self.dearest else most

    @property
    def reason(self) -> str:
        """Why no further ticket is begun, ``""`` while the limit leaves room."""
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of what "{self.unpriced}" asked is not known, so that max_cost cannot be kept'
        if self.dearest and self._affordable(self.limit) < 1:
            return (
                f"of max_cost, ${self.limit:g}, ${self.spent:.4f} is spent, and what is left may not pay for another: "
                f"the dearest ticket took ${self.dearest:.4f}"
            )
        return ""

    def _affordable(self, limit: float) -> int:
        # Sums of cents are no whole cents: a rounding error keeps nobody from what is paid for.
        return int((limit - self.spent) / self.dearest + _ROUNDING)


@dataclass(slots=True)
class TicketEnds:
    """Ends tickets, once each; of what ended before a restart nobody hears again.

    Attributes:
        schedule: Hears of it, and says which others are not run because of it.
        outcomes: Where the ending of a ticket is kept that no worker is asked for.
        spending: What an answer has cost is added to it.
        lines: What the report will say of each, by id.
    """

    schedule: Schedule
    outcomes: RunOutcomes
    files: RunFiles
    plan: PlanCheckboxes
    spending: Spending
    observe: Callable[[TicketEvent], None]
    lines: dict[str, ReportLine] = field(default_factory=dict)
    _open_children: dict[str, set[str]] = field(default_factory=dict)

    def end(self, outcome: TicketOutcome, *, announce: bool) -> None:
        """Note how a ticket ended, and which others are not run because of it."""
        ticket = self.schedule.tickets[outcome.ticket]
        failed = outcome.failure is not None
        if ticket.asks:
            self.spending.add(outcome)
        self.plan.set(ticket, Checkbox.OPEN if failed else Checkbox.DONE)
        skipped_before = len(self.schedule.skipped)
        ending = self.outcomes.ending(ticket.id)
        rejected = ending is not None and ending.state is EndingState.REJECTED
        self.schedule.end(ticket.id, failed=failed, rejected=rejected, asked=ending is None)
        line = self.lines[ticket.id] = ReportLine.of(ticket, outcome)
        if announce:
            state = TicketState.FAILED if failed else TicketState.DONE
            self.observe(TicketEvent(ticket, state, outcome.failure or "", line))
        for skipped_id, reason in list(self.schedule.skipped.items())[skipped_before:]:
            skipped = self.schedule.tickets[skipped_id]
            self.lines[skipped_id] = ReportLine(skipped, errors=(reason,))
            self.observe(TicketEvent(skipped, TicketState.SKIPPED, reason))
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

    def leave_out(self, ticket: Ticket, reason: str, *, announce: bool = True) -> None:
        """End a ticket whose condition is recorded not to be met."""
        self.schedule.end(ticket.id, failed=False, asked=False)
        self.plan.set(ticket, Checkbox.OPEN)
        self.lines[ticket.id] = ReportLine(ticket, errors=(reason,), left_out=True)
        if announce:
            self.observe(TicketEvent(ticket, TicketState.LEFT_OUT, reason))

    def wait_for_children(self, parent_id: str, child_ids: Iterable[str]) -> None:
        """Let a ticket end when these have ended."""
        self._open_children[parent_id] = set(child_ids)

    def end_parent(self, parent_id: str) -> None:
        """End a ticket that was spread over others when all of them have ended."""
        if self._open_children.get(parent_id) == set():
            del self._open_children[parent_id]
            for outcome in self.outcomes.of([parent_id]):
                self.write_and_end(outcome)
