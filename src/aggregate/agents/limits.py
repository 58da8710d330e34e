"""The limits of goals and tickets, and the tokens and time that a goal has used."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Final

from aggregate.base.errors import ConfigError

# Levels of sub-tasks; the goal itself is the first (rules D-6, X-13)
MAX_DEPTH: Final = 5
# Executions of one step (rule D-7)
MAX_RETRIES: Final = 3
_AT_LEAST_ONE: Final = ("depth", "attempts", "steps", "workers")


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """The limits of one goal; each field is a maximum."""

    depth: int = MAX_DEPTH  # levels of sub-tasks
    attempts: int = MAX_RETRIES  # executions of one step
    steps: int = 4  # of one goal (rule X-4)
    dendrites: int = 50  # items of one step (rule D-10)
    tokens: int = 200_000  # of all questions and answers together
    seconds: float = 600.0  # of the whole goal; unfinished calls are given up
    tool_seconds: float = 60.0
    workers: int = 4  # concurrent sub-tasks
    inline_bytes: int = 5000  # of a result's JSON, from which it goes to disk (rule X-1)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value, least = getattr(self, name), int(name in _AT_LEAST_ONE)
            if not value >= least:  # not "<": NaN is refused too
                raise ConfigError(f"{name} must be at least {least}, not {value}", key=name)


class Limit(StrEnum):
    """A limit that can end an incomplete goal."""

    TOKENS = "tokens"
    SECONDS = "seconds"
    STEPS = "steps"
    ITEMS = "items"


class LimitReached(Exception):  # noqa: N818 - it ends a step, and becomes its failed result
    """A limit of the whole goal was reached."""

    def __init__(self, reason: str, limit: Limit | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


@dataclass(slots=True)
class BudgetTracker:
    """The tokens and time used by a goal; thread-safe."""

    limits: EngineLimits
    clock: Callable[[], float] = time.perf_counter
    tokens: int = 0
    cancelled: bool = False
    reached: Limit | None = None  # the first limit with undone work
    undone: set[str] = field(default_factory=set)  # labels of steps with undone work
    planned: int = 0  # steps of the goal, before the limit of steps
    _started: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.limits.seconds - (self.clock() - self._started))

    @property
    def tokens_left(self) -> int:
        return max(0, self.limits.tokens - self.tokens)

    def check(self) -> None:
        if self.cancelled:
            raise LimitReached("the goal was cancelled")
        if self.seconds_left <= 0:
            raise LimitReached(self.time_is_over, Limit.SECONDS)
        if not self.tokens_left:
            reason = f"the goal's {self.limits.tokens:,} tokens are used up"
            raise LimitReached(reason, Limit.TOKENS)

    @property
    def time_is_over(self) -> str:
        return f"the goal's time of {self.limits.seconds:g} s is over"

    def stop(self, limit: Limit | None, place: str = "") -> None:
        """Record a reached limit, and the unfinished step at ``place``."""
        with self._lock:
            self.reached = self.reached or limit
            if place:
                self.undone.add(place.partition("/")[0])

    def charge(self, tokens: int) -> None:
        with self._lock:
            self.tokens += max(0, tokens)


@dataclass(frozen=True, slots=True)
class TicketLimits:
    """The limits of one ticket: tokens of all its attempts, seconds and turns of each."""

    max_tokens: int = 500_000  # of requests and answers, as providers report them
    max_seconds: float | None = None  # for as long as the ticket says
    max_turns: int = 40

    def lowered(
        self,
        max_tokens: int | None = None,
        max_turns: int | None = None,
        max_seconds: float | None = None,
    ) -> "TicketLimits":
        """Return these limits, each lowered to its argument.

        A limit below its argument, or with the argument ``None``, stays.
        """
        seconds = [most for most in (self.max_seconds, max_seconds) if most is not None]
        return TicketLimits(
            min(self.max_tokens, max_tokens or self.max_tokens),
            min(seconds, default=None),
            min(self.max_turns, max_turns or self.max_turns),
        )


USUAL = TicketLimits()
