"""The tickets of a run that wait for a person's decision."""

from collections.abc import Callable

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.endings import Ending, EndingState
from aggregate.agents.tracks.run_outcomes import RunOutcomes

DECISION_SECONDS = 0.2
"""Between two looks whether a person has decided: each reads all endings of the run."""


class PendingApprovals:
    """Lets tickets wait for a decision, however long and whatever becomes of this process.

    Args:
        outcomes: Where decisions are read.
        seconds: The time that looks go by.
    """

    def __init__(self, outcomes: RunOutcomes, seconds: Callable[[], float]) -> None:
        self._outcomes = outcomes
        self._seconds = seconds
        self._looked_at = seconds()
        self._waiting: set[str] = set()

    def add(self, ticket_id: str) -> None:
        """Let a ticket wait."""
        self._outcomes.record(ticket_id, Ending(EndingState.WAITING))
        self._waiting.add(ticket_id)

    def discard(self, ticket_id: str) -> None:
        """Hear that a ticket has ended."""
        self._waiting.discard(ticket_id)

    def decided(self) -> list[TicketOutcome]:
        """Return what persons have decided since it was looked for; at most now and then it is looked."""
        if not self._waiting or self._seconds() - self._looked_at < DECISION_SECONDS:
            return []
        self._looked_at = self._seconds()
        self._outcomes.look()
        return list(self._outcomes.of(sorted(self._waiting)))
