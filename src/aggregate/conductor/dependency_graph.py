"""Which ticket waits for which."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Protocol


class TicketNode(Protocol):
    """What the order of tickets is made from."""

    @property
    def id(self) -> str:
        """The ticket's id."""
        ...

    @property
    def collect_into(self) -> str:
        """The variable that it collects into, or ``""``."""
        ...

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Ids and variables that it waits for."""
        ...


def members_of(tickets: Sequence[TicketNode], name: str) -> list[str]:
    """Return the tickets that a dependency names: those that collect into a ``$variable``, or the one of that id."""
    if name.startswith("$"):
        return [ticket.id for ticket in tickets if ticket.collect_into == name]
    return [ticket.id for ticket in tickets if ticket.id == name]


def dependencies(tickets: Sequence[TicketNode]) -> dict[str, tuple[str, ...]]:
    """Return for each ticket the ids that it waits for, in the tickets' order."""
    by_name: dict[str, set[str]] = {}
    for ticket in tickets:
        by_name.setdefault(ticket.id, set()).add(ticket.id)
        if ticket.collect_into:
            by_name.setdefault(ticket.collect_into, set()).add(ticket.id)
    position = {ticket.id: i for i, ticket in enumerate(tickets)}
    return {
        ticket.id: tuple(
            sorted({one for name in ticket.depends_on for one in by_name.get(name, ())}, key=position.__getitem__)
        )
        for ticket in tickets
    }


def find_cycle(tickets: Sequence[TicketNode]) -> tuple[str, ...]:
    """Return tickets that wait for each other, each for the next one and the last for the first; ``()`` for none."""
    try:
        TopologicalSorter(dependencies(tickets)).prepare()
    except CycleError as error:
        ids: list[str] = error.args[1]
        return tuple(reversed(ids[1:]))
    return ()
