"""What a run has cost, and whether it may begin another ticket."""

from dataclasses import dataclass

from aggregate.conductor.assignment import TicketOutcome


@dataclass(slots=True)
class Spending:
    """Counts what a run's tickets cost in US dollars against its limit.

    What a ticket will cost is not known before: each that is under way is taken for as dear as the dearest so far, and
    the first one goes alone.

    Attributes:
        limit: The most that the run may cost, ``None`` for no limit.
        spent: What is known to have been spent, on failed attempts and earlier rounds too.
        dearest: What the dearest ticket has cost.
        unpriced: A ticket whose price is not known, ``""`` for none: with it no limit can be kept.
    """

    limit: float | None = None
    spent: float = 0.0
    dearest: float = 0.0
    unpriced: str = ""
    _any: bool = False

    def add(self, outcome: TicketOutcome) -> None:
        """Count what a ticket has cost."""
        if outcome.cost is None:
            if outcome.tokens and not self.unpriced:
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may be asked for, ``most`` where nothing is limited."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        if not self.dearest:
            return most
        affordable = int((self.limit - self.spent) / self.dearest) - under_way
        # What is left pays for less than the dearest: one alone may still fit.
        return min(most, affordable if under_way else max(affordable, 1))

    @property
    def reason(self) -> str:
        """Why no further ticket is begun, ``""`` while the limit leaves room."""
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of what "{self.unpriced}" asked is not known, so that max_cost cannot be kept'
        if self.spent >= self.limit:
            return f"max_cost, ${self.limit:g}, is spent"
        return ""
