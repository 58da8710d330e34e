"""Time that stands still until a test moves it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class FakeTime:
    """A clock and timers in one: ``advance`` moves the clock and fires what is due, in order."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self._due: dict[int, tuple[datetime, Callable[[], None]]] = {}
        self._last = 0

    def __call__(self) -> datetime:
        return self.now

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call ``action`` once the clock has moved by ``seconds``."""
        self._last += 1
        number = self._last
        self._due[number] = (self.now + timedelta(seconds=seconds), action)
        return lambda: self._due.pop(number, None) and None

    def advance(self, seconds: float) -> None:
        end = self.now + timedelta(seconds=seconds)
        while due := sorted(
            (when, number) for number, (when, _) in self._due.items() if when <= end
        ):
            self.now, number = due[0]
            self._due.pop(number)[1]()
        self.now = end

    @property
    def waiting(self) -> int:
        return len(self._due)
