"""The start order of tickets."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks.assignment import TicketStatus
from aggregate.agents.tracks.tickets import Ticket, dependencies

Prefix = tuple[object, ...]


class Schedule:
    """The ready, active and ended tickets of a run.

    Tickets with an equal ``prefix`` share a provider's cache. The cache is readable once a first answer has begun: with
    ``warm_up`` one of these tickets goes ahead.
    """

    def __init__(
        self,
        tickets: Sequence[Ticket],
        *,
        prefix: Callable[[Ticket], Prefix],
        on_error: FailurePolicy = FailurePolicy.REPORT,
        warm_up: bool = True,
    ) -> None:
        self.tickets = {ticket.id: ticket for ticket in tickets}
        self.waits_for = dependencies(tickets)
        self._skipped: set[str] = set()
        self._on_error = on_error
        self._prefix = prefix
        # A child's position is its parent's and its own number.
        self._position: dict[str, tuple[int, ...]] = {
            ticket.id: (i,) for i, ticket in enumerate(tickets)
        }
        self._unmet = {ticket_id: set(needed) for ticket_id, needed in self.waits_for.items()}
        self._dependents: dict[str, list[str]] = {}
        for ticket_id, needed in self.waits_for.items():
            for dependency in needed:
                self._dependents.setdefault(dependency, []).append(ticket_id)
        self._ended: set[str] = set()
        self._under_way: set[str] = set()
        # A heap of ready tickets; some have ended before a restart.
        self._ready: list[tuple[bool, tuple[int, ...], str]] = []
        self._ready_ids: set[str] = set()
        self._held: dict[Prefix, list[str]] = {}
        self._prefixes = {
            ticket.id: prefix(ticket) if ticket.asks else (ticket.id,) for ticket in tickets
        }
        uses = Counter(self._prefixes.values())
        # Prefixes without a wait: a cache holds them, or only one ticket has them.
        self._warm = {prefix for prefix, number in uses.items() if number == 1 or not warm_up}
        self._warm_up = warm_up
        self._warming_up: dict[Prefix, str] = {}
        self._make_ready(ticket.id for ticket in tickets if not self.waits_for[ticket.id])

    @property
    def warming_up(self) -> tuple[str, ...]:
        """Tickets under way whose prefix other tickets wait for."""
        return tuple(self._warming_up.values())

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
            if ticket_id not in self._ready_ids:  # it has ended, or was taken up
                continue
            prefix = self._prefixes[ticket_id]
            if prefix in self._warming_up:
                self._held.setdefault(prefix, []).append(ticket_id)
                continue
            self._set_out(ticket_id)
            started.append(self.tickets[ticket_id])
        return started

    def take_up(self, ticket_id: str) -> bool:
        """Count a ready ticket as under way, if it was so before a restart."""
        if ticket_id not in self._ready_ids:
            return False
        self._set_out(ticket_id)
        return True

    def add_children(self, parent_id: str, children: Sequence[Ticket]) -> None:
        """Make the children of a ticket ready."""
        for number, child in enumerate(children):
            self.tickets[child.id] = child
            self.waits_for[child.id] = self.waits_for[parent_id]
            self._position[child.id] = (*self._position[parent_id], number)
            self._unmet[child.id] = set()
            prefix = self._prefixes[child.id] = self._prefix(child)
            if not self._warm_up or len(children) == 1:
                self._warm.add(prefix)
        self._make_ready(child.id for child in children)

    def end(self, ticket_id: str, status: TicketStatus, *, asked: bool = True) -> dict[str, str]:
        """End a ticket; return why dependents are skipped, by id.

        Other dependents become ready once all their dependencies have ended. ``asked`` means that a worker was asked,
        so the provider's cache holds the ticket's prefix.
        """
        self._under_way.discard(ticket_id)
        self._ready_ids.discard(ticket_id)
        self._ended.add(ticket_id)
        prefix = self._prefixes[ticket_id]
        if asked:
            self.answer_begun(ticket_id)
        elif self._warming_up.get(prefix) == ticket_id:  # another goes ahead in its place
            del self._warming_up[prefix]
            self._make_ready(self._held.pop(prefix, ()))
        return self._release_dependents(ticket_id, status)

    def answer_begun(self, ticket_id: str) -> None:
        """Release the tickets waiting for this ticket's prefix."""
        prefix = self._prefixes[ticket_id]
        self._warm.add(prefix)
        self._warming_up.pop(prefix, None)
        self._make_ready(self._held.pop(prefix, ()))

    def _set_out(self, ticket_id: str) -> None:
        prefix = self._prefixes[ticket_id]
        if prefix not in self._warm:
            self._warming_up.setdefault(prefix, ticket_id)
        self._ready_ids.discard(ticket_id)
        self._under_way.add(ticket_id)

    def _make_ready(self, ticket_ids: Iterable[str]) -> None:
        for ticket_id in ticket_ids:
            if ticket_id not in self._ended:
                # Dependents go first.
                place = (not self.waits_for[ticket_id], self._position[ticket_id], ticket_id)
                heappush(self._ready, place)
                self._ready_ids.add(ticket_id)

    def _release_dependents(self, ticket_id: str, status: TicketStatus) -> dict[str, str]:
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
