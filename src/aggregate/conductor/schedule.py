"""Which ticket may start next."""

from collections import Counter
from collections.abc import Sequence

from aggregate.conductor.dependency_graph import dependencies
from aggregate.conductor.tickets import Ticket
from aggregate.models.group import FailurePolicy

Prefix = tuple[object, ...]


def shared_prefix(ticket: Ticket, *, wide: bool = False) -> Prefix:
    """Return what decides the stable beginning of a ticket's request: equal for tickets that share a cached prefix.

    Args:
        ticket: The ticket.
        wide: Whether tickets with different focus files begin alike, too.
    """
    return (ticket.persona, ticket.tools, ticket.aggregation_strategy, () if wide else ticket.focus_files)


class Schedule:
    """The order of a run: what is ready, under way and over. Time plays no part in it.

    Args:
        tickets: All tickets of the track.
        on_error: ``fail`` keeps the dependents of a failed ticket from running.
        lead: Send one worker ahead of others that share its prefix: a cache can be read only when a first answer has
            begun to come.
        wide: Whether tickets with different focus files share a prefix, too.
    """

    def __init__(
        self,
        tickets: Sequence[Ticket],
        *,
        on_error: FailurePolicy = FailurePolicy.REPORT,
        lead: bool = True,
        wide: bool = False,
    ) -> None:
        self.tickets = {ticket.id: ticket for ticket in tickets}
        self.waits_for = dependencies(tickets)
        self.left_out: dict[str, str] = {}
        self._on_error = on_error
        self._position = {ticket.id: i for i, ticket in enumerate(tickets)}
        self._open = {name: set(ids) for name, ids in self.waits_for.items()}
        self._dependents: dict[str, list[str]] = {}
        for name, ids in self.waits_for.items():
            for one in ids:
                self._dependents.setdefault(one, []).append(name)
        self._ready = [ticket.id for ticket in tickets if not self.waits_for[ticket.id]]
        self._under_way: set[str] = set()
        self._prefixes = {ticket.id: shared_prefix(ticket, wide=wide) for ticket in tickets}
        shared = Counter(self._prefixes.values())
        self._warm = {prefix for prefix, number in shared.items() if number == 1 or not lead}
        self._leading: dict[Prefix, str] = {}

    @property
    def under_way(self) -> tuple[str, ...]:
        """Tickets that were started and have not ended, in order."""
        return tuple(sorted(self._under_way, key=self._position.__getitem__))

    @property
    def ahead(self) -> tuple[str, ...]:
        """Tickets under way that others with their prefix wait for."""
        return tuple(self._leading.values())

    @property
    def finished(self) -> bool:
        """Whether nothing is ready or under way any more."""
        return not self._under_way and not self._ready

    def start(self, most: int) -> list[Ticket]:
        """Return at most ``most`` tickets to start now, in order; they count as under way."""
        started: list[str] = []
        for name in self._ready:
            if len(started) >= most:
                break
            prefix = self._prefixes[name]
            if prefix not in self._warm:
                if prefix in self._leading:
                    continue
                self._leading[prefix] = name
            started.append(name)
        self._under_way.update(started)
        chosen = set(started)
        self._ready = [name for name in self._ready if name not in chosen]
        return [self.tickets[name] for name in started]

    def end(self, name: str, *, failed: bool) -> None:
        """Hear that a ticket has ended; what waited only for it becomes ready, or is left out."""
        self._under_way.discard(name)
        self._ready = [one for one in self._ready if one != name]
        self.begin(name)
        self._release(name, failed=failed)

    def begin(self, name: str) -> None:
        """Hear that the answer to a ticket has begun to come; those that share its prefix wait no longer."""
        prefix = self._prefixes[name]
        self._warm.add(prefix)
        self._leading.pop(prefix, None)

    def _release(self, name: str, *, failed: bool) -> None:
        freed: list[str] = []
        ends = [(name, failed)]
        while ends:
            ended, bad = ends.pop()
            for one in self._dependents.get(ended, ()):
                self._open[one].discard(ended)
                if bad and self._on_error is FailurePolicy.FAIL and one not in self.left_out:
                    what = "was not run" if ended in self.left_out else "failed"
                    self.left_out[one] = f'not run: it depends on "{ended}", which {what}'
                    ends.append((one, True))
                elif not self._open[one] and one not in self.left_out:
                    freed.append(one)
        if freed:
            self._ready = sorted({*self._ready, *freed}, key=self._position.__getitem__)
