"""What a run's tickets cost in US dollars against its limit."""

from dataclasses import dataclass

from aggregate.agents.tracks.assignment import TicketOutcome

_ROUNDING = 1e-9


@dataclass(slots=True)
class Spending:
    """Counts what tickets cost, and how many more may be begun.

    What a ticket will cost is not known before: each that is under way is taken for as dear as the dearest so far, and
    the first one goes alone.
    """

    limit: float | None = None
    spent: float = 0.0  # on failed attempts and earlier rounds too
    earlier: float = 0.0  # what of it earlier rounds have cost
    dearest: float = 0.0
    unpriced: str = ""  # a ticket whose price is not known: with it no limit can be kept
    _any: bool = False

    def add(self, outcome: TicketOutcome) -> None:
        if outcome.cost is None:
            # Where there are neither tokens nor an answer, nobody may have been reached.
            if not self.unpriced and (outcome.tokens > 0 or outcome.failure is None):
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may be asked for, ``most`` where nothing is limited; none for less than 1."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        return min(most, self._affordable(self.limit) - under_way) if self.dearest else most

    @property
    def reason(self) -> str:
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of what "{self.unpriced}" asked is not known, so that max_cost cannot be kept'
        if self.dearest and self._affordable(self.limit) < 1:
            return (
                f"of max_cost, ${self.limit:g}, ${self.spent:.4f} is spent, and what is left may not pay for another: "
                f"the dearest ticket took ${self.dearest:.4f}"
            )
        return ""

    def _affordable(self, limit: float) -> int:
        # Sums of cents are no whole cents: a rounding error keeps nobody from what is paid for.
        return int((limit - self.spent) / self.dearest + _ROUNDING)
