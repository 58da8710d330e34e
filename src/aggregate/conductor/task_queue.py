"""Where assignments lie for workers and outcomes for the run: what a run asks of its durable half."""

from collections.abc import Collection
from typing import Protocol

from aggregate.conductor.assignment import Assignment, TicketOutcome


class TaskQueue(Protocol):
    """Keeps each assignment by its key until it has one outcome, whatever happens to processes meanwhile."""

    def known(self, keys: Collection[str]) -> dict[str, bool]:
        """Return which of ``keys`` were put here before, and whether the answer to each has begun to come."""
        ...

    def put(self, assignment: Assignment) -> None:
        """Lay an assignment down for a worker; one with a known key changes nothing."""
        ...

    def ended(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        """Return the outcomes that there are, by key."""
        ...

    def withdraw(self, keys: Collection[str]) -> None:
        """Take back what has not ended; what a worker still gives for it is dropped."""
        ...
