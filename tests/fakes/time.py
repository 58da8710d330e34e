"""Time that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTime:
    """A clock and a timer in one: ``advance`` moves both."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        """Return the seconds that have passed."""
        return (self.now - START).total_seconds()

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
