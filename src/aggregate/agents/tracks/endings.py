"""What becomes of tickets that no worker is asked for, and where that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.base.values import RunStatus


class EndingState(StrEnum):
    """How far a ticket is that no worker is asked for; all but ``WAITING`` stand for ever."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    LEFT_OUT = "left out"
    FAILED = "failed"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a ticket.

    Attributes:
        state: How far it is.
        text: An approval's note, why it was left out or failed, or the JSON list that it is spread over.
    """

    state: EndingState
    text: str = ""

    def outcome(self, ticket_id: str) -> TicketOutcome:
        """Return it as the outcome of a ticket that was approved, rejected or failed."""
        if self.state is EndingState.APPROVED:
            return TicketOutcome(ticket_id, RunStatus.SUCCESS, self.text or "approved")
        reason = self.text
        if self.state is EndingState.REJECTED:
            reason = f"rejected: {self.text}" if self.text else "rejected"
        return TicketOutcome(ticket_id, RunStatus.ERROR, errors=(reason,))


class Endings(Protocol):
    """Keeps one ending for each key, whatever happens to processes meanwhile."""

    def all(self) -> Mapping[str, Ending]:
        """Return the endings of the run, by key."""
        ...

    def record(self, key: str, ending: Ending) -> Ending:
        """Write an ending where there is none, and return the one that counts."""
        ...
