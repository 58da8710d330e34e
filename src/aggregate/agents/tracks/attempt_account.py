"""What an attempt has taken so far, for one that ends before its worker says so."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class AttemptAccount:
    """Is what a worker calls when its answer begins to come; one that asks more than once tells it what that took.

    Attributes:
        on_begun: Called when the answer begins to come.
        tokens: What the attempt has taken so far, as far as is known.
        cost: What that has cost in US dollars, ``None`` where it is not known.
    """

    on_begun: Callable[[], None]
    tokens: int = 0
    cost: float | None = None

    def __call__(self) -> None:
        """Pass on that the answer has begun to come."""
        self.on_begun()

    def note(self, tokens: int, cost: float | None) -> None:
        """Keep what all requests so far have taken together."""
        self.tokens, self.cost = tokens, cost
