"""The start order of tickets."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks.assignment import TicketStatus
from aggregate.agents.tracks.tickets import Ticket, dependencies


class Schedule:
    """The ready, active and ended tickets of a run."""

    def __init__(
        self, tickets: Sequence[Ticket], on_error: FailurePolicy = FailurePolicy.REPORT
    ) -> None:
        self.tickets = {ticket.id: ticket for ticket in tickets}
        self.waits_for = dependencies(tickets)
        self._on_error = on_error
        # A child's position is its parent's and its own number.
        self._position: dict[str, tuple[int, ...]] = {
            ticket.id: (i,) for i, ticket in enumerate(tickets)
        }
        self._unmet = {ticket_id: set(needed) for ticket_id, needed in self.waits_for.items()}
        self._dependents: dict[str, list[str]] = {}
        for ticket_id, needed in self.waits_for.items():
            for dependency in needed:
                self._dependents.setdefault(dependency, []).append(ticket_id)
        self._skipped: set[str] = set()
        self._ended: set[str] = set()
        self._under_way: set[str] = set()
        # A heap of ready tickets; some have ended before a restart.
        self._ready: list[tuple[bool, tuple[int, ...], str]] = []
        self._ready_ids: set[str] = set()
        self._make_ready(ticket.id for ticket in tickets if not self.waits_for[ticket.id])

    @property
    def finished(self) -> bool:
        return not self._under_way and not self._ready_ids

    def has_ended(self, ticket_id: str) -> bool:
        return ticket_id in self._ended

    def start(self, most: int) -> list[Ticket]:
        """Start and return at most ``most`` ready tickets; those with dependencies go first."""
        started: list[Ticket] = []
        while self._ready and len(started) < most:
            ticket_id = heappop(self._ready)[-1]
            if self.take_up(ticket_id):  # else it has ended, or was taken up
                started.append(self.tickets[ticket_id])
        return started

    def take_up(self, ticket_id: str) -> bool:
        """Count a ready ticket as under way; return whether it was ready."""
        if ticket_id not in self._ready_ids:
            return False
        self._ready_ids.discard(ticket_id)
        self._under_way.add(ticket_id)
        return True

    def add_children(self, parent_id: str, children: Sequence[Ticket]) -> None:
        """Make the children of a ticket ready."""
        for number, child in enumerate(children):
            self.tickets[child.id] = child
            self.waits_for[child.id] = self.waits_for[parent_id]
            self._position[child.id] = (*self._position[parent_id], number)
            self._unmet[child.id] = set()
        self._make_ready(child.id for child in children)

    def end(self, ticket_id: str, status: TicketStatus) -> dict[str, str]:
        """End a ticket; return why dependents are skipped, by id.

        Other dependents become ready once all their dependencies have ended.
        """
        self._under_way.discard(ticket_id)
        self._ready_ids.discard(ticket_id)
        self._ended.add(ticket_id)
        is_rejected = status is TicketStatus.REJECTED
        stops = is_rejected or (status.has_failed and self._on_error is FailurePolicy.FAIL)
        failure = "was rejected" if is_rejected else "failed"
        reasons: dict[str, str] = {}
        ends = [ticket_id]
        while ends:
            ended = ends.pop()
            for dependent in self._dependents.get(ended, ()):
                self._unmet[dependent].discard(ended)
                if dependent in self._skipped or dependent in self._ended:
                    continue
                if stops:
                    end = "was not run" if ended in self._skipped else failure
                    reasons[dependent] = f'not run: it depends on "{ended}", which {end}'
                    self._skipped.add(dependent)
                    ends.append(dependent)
                elif not self._unmet[dependent]:
                    self._make_ready([dependent])
        return reasons

    def _make_ready(self, ticket_ids: Iterable[str]) -> None:
        for ticket_id in ticket_ids:
            if ticket_id not in self._ended:
                # Dependents go first.
                place = (not self.waits_for[ticket_id], self._position[ticket_id], ticket_id)
                heappush(self._ready, place)
                self._ready_ids.add(ticket_id)
