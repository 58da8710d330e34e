"""Keys of tickets in a database of runs: ``<run>/<ticket>``, and ``<run>/<ticket>~<n>`` for its n-th round."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_ROUND = "~"
"""What stands between a ticket and its round; no ticket's id has it."""


@dataclass(frozen=True, slots=True)
class TicketKeys:
    """The keys of a run's tickets.

    Attributes:
        run_id: The run.
        rounds: The rounds of tickets that were retried; all others are in their first.
    """

    run_id: str
    rounds: Mapping[str, int] = field(default_factory=dict)

    def of(self, ticket_id: str) -> str:
        """Return the key of a ticket's latest round."""
        return self.in_round(ticket_id, self.rounds.get(ticket_id, 1))

    def in_round(self, ticket_id: str, number: int) -> str:
        """Return the key of one of a ticket's rounds, from 1."""
        suffix = f"{_ROUND}{number}" if number > 1 else ""
        return f"{self.run_id}/{ticket_id}{suffix}"

    def earlier(self, ticket_id: str) -> list[str]:
        """Return the keys of a ticket's rounds before the latest."""
        return [self.in_round(ticket_id, i) for i in range(1, self.rounds.get(ticket_id, 1))]


def ticket_of(key: str) -> str:
    """Return the ticket's id in a key."""
    return key.rpartition("/")[2].partition(_ROUND)[0]


def run_of(key: str) -> str:
    """Return the run in a key."""
    return key.rpartition("/")[0]
