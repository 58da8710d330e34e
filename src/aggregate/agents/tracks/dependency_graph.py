"""Which ticket waits for which."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from aggregate.agents.tracks.tickets import Ticket


def dependencies(tickets: Sequence[Ticket]) -> dict[str, tuple[str, ...]]:
    """Return for each ticket the ids that it waits for, in the tickets' order."""
    by_name: dict[str, set[str]] = {}
    for ticket in tickets:
        by_name.setdefault(ticket.id, set()).add(ticket.id)
        if ticket.collect_into:
            by_name.setdefault(ticket.collect_into, set()).add(ticket.id)
    position = {ticket.id: i for i, ticket in enumerate(tickets)}
    waits_for: dict[str, tuple[str, ...]] = {}
    for ticket in tickets:
        needed: set[str] = set().union(*(by_name.get(name, ()) for name in ticket.depends_on))
        waits_for[ticket.id] = tuple(sorted(needed, key=position.__getitem__))
    return waits_for


def find_cycle(tickets: Sequence[Ticket]) -> tuple[str, ...]:
    """Return tickets that wait for each other, each for the next one and the last for the first; ``()`` for none."""
    try:
        TopologicalSorter(dependencies(tickets)).prepare()
    except CycleError as error:
        ids: list[str] = error.args[1]
        return tuple(reversed(ids[1:]))
    return ()
