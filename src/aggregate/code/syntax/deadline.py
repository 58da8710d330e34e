"""How long a text may be read before it is given up."""

from time import monotonic, thread_time
from typing import Final

from aggregate.base.errors import DeadlineError

# Twice what the densest programs take to be parsed and searched, on the machine that this was measured on.
_SECONDS: Final = 0.8
_SECONDS_PER_BYTE: Final = 0.9e-6
# The parser tells of its progress after each hundred of its steps. Programs have 5 to 20 such reports for each
# kilobyte, the densest minified ones 25, long lists of digits 50. What needs more is no program, and the time that it
# takes may grow with the square or cube of its size, also within one step that no report interrupts.
_REPORTS: Final = 100
_REPORTS_PER_BYTE: Final = 0.08
# What `_slowness` takes, in seconds, on that machine.
_ROUNDS: Final = 50_000
_SECONDS_OF_ROUNDS: Final = 0.001


class Deadline:
    """The end of the time that one text has, from now on.

    Time is this thread's own, and a slow or busy machine gets more of it, so that ordinary texts are never given up.

    Args:
        size: Bytes of the text.
    """

    __slots__ = ("_earliest", "_latest", "_reports", "_seconds")

    def __init__(self, size: int) -> None:
        self._seconds: float | None = _SECONDS + size * _SECONDS_PER_BYTE
        self._earliest, self._latest = monotonic() + self._seconds, thread_time() + self._seconds
        self._reports = _REPORTS + int(size * _REPORTS_PER_BYTE)

    def report(self, *_: object) -> bool:
        """Count a report of the parser, and tell whether the text is to be given up."""
        self._reports -= 1
        return self._reports < 0 or self._has_passed()

    def check(self) -> None:
        """Raise ``DeadlineError`` where the time has passed."""
        if self._has_passed():
            raise DeadlineError

    def _has_passed(self) -> bool:
        if (
            monotonic() < self._earliest or thread_time() < self._latest
        ):  # the first is the quicker to ask
            return False
        if self._seconds is not None:
            self._latest += self._seconds * max(0.0, _slowness() - 1)
            self._seconds = None
        return thread_time() >= self._latest


def _slowness() -> float:
    """Return how many times as long as on the machine above a piece of work takes here and now."""
    began = thread_time()
    for _ in range(_ROUNDS):
        pass
    return (thread_time() - began) / _SECONDS_OF_ROUNDS
