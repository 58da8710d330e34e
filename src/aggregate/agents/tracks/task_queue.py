"""What a run asks of the queue between itself and the workers."""

from collections.abc import Collection
from typing import Protocol

from aggregate.agents.tracks.assignment import Assignment, TicketOutcome


class TaskQueue(Protocol):
    """Keeps each assignment by its key until it has one outcome, whatever happens to processes meanwhile."""

    def known(self, keys: Collection[str]) -> dict[str, bool]:
        """Return which of ``keys`` were put here before, and whether the answer to each has begun to come."""
        ...

    def put(self, assignment: Assignment) -> None:
        """Enqueue an assignment; one with a known key changes nothing."""
        ...

    def outcomes(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        """Return the outcomes that there are, by key."""
        ...

    def cancel(self, keys: Collection[str]) -> None:
        """Take back what has not ended; what a worker still gives for it is dropped."""
        ...
