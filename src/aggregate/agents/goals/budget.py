"""What one goal may use, and what it has used."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Final

from aggregate.base.errors import ConfigError

# Levels of sub-tasks; the goal itself is the first (rules D-6, X-13)
MAX_DEPTH: Final = 5
# Executions of one step (rule D-7)
MAX_RETRIES: Final = 3
_AT_LEAST_ONE: Final = ("depth", "attempts", "steps", "workers", "duplicates")


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """The bounds of one goal; each is a maximum.

    Attributes:
        depth: Levels of sub-tasks.
        attempts: Executions of one step.
        steps: Steps of one goal (rule X-4).
        dendrites: Items that one step may be spread over (rule D-10).
        dendrites_in_all: Sub-tasks of the whole goal; those of one step get equal shares of what is left.
        duplicates: Equal items after which a step is spread no further (rule D-10).
        tokens: Of all questions and answers together.
        seconds: Wall time of the whole goal; a question or a call that is not done by then is given up.
        workers: Sub-tasks that run at once; 1 is one after the other.
        inline_bytes: JSON of a result from which it goes to disk; smaller ones stay in the context (rule X-1).
    """

    depth: int = MAX_DEPTH
    attempts: int = MAX_RETRIES
    steps: int = 4
    dendrites: int = 50
    dendrites_in_all: int = 200
    duplicates: int = 3
    tokens: int = 200_000
    seconds: float = 600.0
    tool_seconds: float = 60.0
    workers: int = 4
    inline_bytes: int = 5000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value, least = getattr(self, name), int(name in _AT_LEAST_ONE)
            if not value >= least:  # not "<": NaN is refused too
                raise ConfigError(f"{name} must be at least {least}, not {value}", key=name)


class Limit(StrEnum):
    """What a goal may run out of."""

    TOKENS = "tokens"
    SECONDS = "seconds"
    STEPS = "steps"


class LimitReached(Exception):  # noqa: N818 - it ends a step, and becomes its failed result
    """A bound of the whole goal was reached."""


@dataclass(slots=True)
class BudgetTracker:
    """What a goal has used so far, ``spent`` seconds in earlier processes; safe to use from many threads."""

    limits: EngineLimits
    clock: Callable[[], float] = time.perf_counter
    spent: float = 0.0
    tokens: int = 0
    cancelled: bool = False
    reached: Limit | None = None
    _started: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def seconds(self) -> float:
        return self.spent + self.clock() - self._started

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.limits.seconds - self.seconds)

    @property
    def tokens_left(self) -> int:
        return max(0, self.limits.tokens - self.tokens)

    def check(self) -> None:
        if self.cancelled:
            raise LimitReached("the goal was given up")
        if self.seconds_left <= 0:
            self.reach(Limit.SECONDS)
            raise LimitReached(f"the goal's time of {self.limits.seconds:g} s is over")
        if not self.tokens_left:
            self.reach(Limit.TOKENS)
            raise LimitReached(f"the goal's {self.limits.tokens:,} tokens are used up")

    def reach(self, limit: Limit) -> None:
        with self._lock:
            self.reached = self.reached or limit

    def charge(self, tokens: int) -> None:
        with self._lock:
            self.tokens += max(0, tokens)


@dataclass(slots=True)
class SubtaskBudget:
    """How many sub-tasks a branch may still begin, those of its sub-tasks included.

    Sub-tasks get equal shares before they begin: which of them runs first decides nothing.
    """

    left: int = 0

    def take(self, wanted: int, most: int) -> int:
        granted = min(wanted, most, self.left)
        self.left -= granted
        return granted

    def shares(self, number: int) -> list["SubtaskBudget"]:
        each = self.left // number if number else 0
        self.left -= each * number
        return [SubtaskBudget(each) for _ in range(number)]

    def reclaim(self, shares: Iterable["SubtaskBudget"]) -> None:
        self.left += sum(share.left for share in shares)
