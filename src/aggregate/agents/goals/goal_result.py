"""The limits, budget, trace and result of a goal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any, Final

from aggregate.base.errors import ConfigError
from aggregate.base.values import Value
from aggregate.prompt.results import Answer

# Levels of sub-tasks; the goal itself is the first (rules D-6, X-13)
MAX_DEPTH: Final = 5
# Executions of one step (rule D-7)
MAX_RETRIES: Final = 3
_AT_LEAST_ONE: Final = ("depth", "attempts", "steps", "workers", "duplicates")


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Limits of one goal; each is a maximum."""

    depth: int = MAX_DEPTH  # levels of sub-tasks
    attempts: int = MAX_RETRIES  # executions of one step
    steps: int = 4  # of one goal (rule X-4)
    dendrites: int = 50  # items that one step may be spread over (rule D-10)
    duplicates: int = 3  # equal items after which a step is spread no further (rule D-10)
    tokens: int = 200_000  # of all questions and answers together
    seconds: float = 600.0  # of the whole goal; unfinished calls are given up
    tool_seconds: float = 60.0
    workers: int = 4  # sub-tasks that run at once
    inline_bytes: int = 5000  # of a result's JSON, from which it goes to disk (rule X-1)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value, least = getattr(self, name), int(name in _AT_LEAST_ONE)
            if not value >= least:  # not "<": NaN is refused too
                raise ConfigError(f"{name} must be at least {least}, not {value}", key=name)


class Limit(StrEnum):
    """A bound that can end a goal before it is complete."""

    TOKENS = "tokens"
    SECONDS = "seconds"
    STEPS = "steps"
    ITEMS = "items"
    DUPLICATES = "duplicates"


class LimitReached(Exception):  # noqa: N818 - it ends a step, and becomes its failed result
    """A bound of the whole goal was reached."""

    def __init__(self, reason: str, limit: Limit | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


@dataclass(slots=True)
class BudgetTracker:
    """Used tokens and time of a goal; thread-safe."""

    limits: EngineLimits
    clock: Callable[[], float] = time.perf_counter
    tokens: int = 0
    cancelled: bool = False
    reached: Limit | None = None  # the first limit that left work undone
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
            raise LimitReached("the goal was given up")
        if self.seconds_left <= 0:
            raise LimitReached(self.time_is_over, Limit.SECONDS)
        if not self.tokens_left:
            reason = f"the goal's {self.limits.tokens:,} tokens are used up"
            raise LimitReached(reason, Limit.TOKENS)

    @property
    def time_is_over(self) -> str:
        return f"the goal's time of {self.limits.seconds:g} s is over"

    def stop(self, limit: Limit | None, place: str = "") -> None:
        """Record that a limit ended a step, or the whole goal."""
        with self._lock:
            self.reached = self.reached or limit
            if place:
                self.undone.add(place.partition("/")[0])

    def charge(self, tokens: int) -> None:
        with self._lock:
            self.tokens += max(0, tokens)


class TraceKind(StrEnum):
    GOAL = "goal"
    NEURON = "neuron"
    DENDRITE = "dendrite"
    TOOL = "tool"
    MODEL = "model"


@dataclass(slots=True)
class Trace:
    """A node in the tree of calls; only one thread at a time writes to it."""

    kind: TraceKind
    label: str  # 0.2 for a step, 1.3 for a sub-task; the tool's or question's name
    text: str  # the goal, the step, the arguments
    seconds: float = 0.0
    own_tokens: int = 0
    ok: bool = True
    note: str = ""
    children: list["Trace"] = field(default_factory=list)  # in the order of their start or items
    place: str = ""  # the path to the node, 0.2/1.3; unique in its tree
    warnings: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens of the questions in the node and below it."""
        return self.own_tokens + sum(child.tokens for child in self.children)

    @property
    def calls(self) -> int:
        own = 1 if self.kind is TraceKind.MODEL else 0
        return own + sum(child.calls for child in self.children)

    def child(self, kind: TraceKind, label: str, text: str) -> "Trace":
        place = self.place
        if kind in (TraceKind.NEURON, TraceKind.DENDRITE):
            place = f"{place}/{label}" if place else label
        child = Trace(kind, label, text, place=place)
        self.children.append(child)
        return child

    @contextmanager
    def timed(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - started

    def fail(self, note: str) -> None:
        self.ok, self.note = False, note

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)

    def all_warnings(self) -> Iterator[str]:
        """Yield the warnings of the node and its descendants, in order."""
        yield from self.warnings
        for child in self.children:
            yield from child.all_warnings()


TOO_DEEP: Final = "Max recursion depth reached"
NO_STEPS: Final = "Could not decompose goal"


@dataclass(frozen=True, slots=True)
class Neuron:
    """One step: a small question and one tool call (rules D-1, D-2)."""

    description: str
    index: int  # its place among the steps of its goal, from 1
    depth: int = 0  # 0 for the steps of the user's goal
    result: Value = None
    validated: bool = False  # whether its result passed the check
    spawned_dendrites: tuple[str, ...] = ()  # the labels of its sub-tasks, 1.1, 1.2

    @property
    def key(self) -> str:
        """The key of its result in the context (rule D-3)."""
        return f"neuron_{self.depth}_{self.index}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "index": self.index,
            "depth": self.depth,
            "validated": self.validated,
            "spawned_dendrites": list(self.spawned_dendrites),
        }


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The steps and the answer of a goal (rules X-6, X-12)."""

    success: bool  # whether there is an answer, and no limit left work undone
    goal: str
    depth: int
    neurons: tuple[Neuron, ...]  # the steps, a corrective one last
    final: Answer | None  # the answer, None if nothing ran
    error: str  # why nothing ran
    warnings: tuple[str, ...]  # failed steps, items that were left out, questions without an answer
    trace: Trace
    limit: Limit | None = None  # the limit that left work undone
    stopped: str = ""  # the same as a sentence, with the steps that were done

    @property
    def results(self) -> tuple[Value, ...]:
        """The whole result of each step."""
        return tuple(neuron.result for neuron in self.neurons)

    @property
    def text(self) -> str:
        """The text that the user reads."""
        if self.has_answer and self.final:
            return self.final.summary
        reason = self.final.summary if self.final else self.error
        return self.stopped or reason

    @property
    def has_answer(self) -> bool:
        """Whether a step gave a usable result, even if a limit ended the goal."""
        return self.final is not None and self.final.success

    def as_dict(self) -> dict[str, Any]:
        limit = {"limit": self.limit.value, "stopped": self.stopped} if self.limit else {}
        if self.final is None:
            return {"success": False, "error": self.error, **limit}
        return {
            "success": self.success,
            "goal": self.goal,
            "depth": self.depth,
            "neurons": [neuron.as_dict() for neuron in self.neurons],
            "results": list(self.results),
            "final": final_dict(self.final),
            **limit,
        }


def final_dict(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data, with ``missing`` if it is incomplete (rule X-6)."""
    source = answer.source
    missing = {"missing": answer.missing} if answer.missing else {}
    return {
        "summary": answer.summary,
        "detailed_results": list(answer.detailed_results),
        "source": {"index": source.index, "kind": source.kind.value, "reason": source.reason},
        "success": answer.success,
        "warnings": list(answer.warnings),
        **missing,
    }
