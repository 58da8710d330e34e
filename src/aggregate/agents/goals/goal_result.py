"""A goal's result, and the trace of its calls."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from aggregate.agents.limits import Limit
from aggregate.base.json_forms import jsonable
from aggregate.base.values import Value
from aggregate.prompt.asking.results import Answer

TOO_DEEP: Final = "Max recursion depth reached"
NO_STEPS: Final = "Could not decompose goal"
# The key of sub-tasks' results in the result of their step
DENDRITES: Final = "dendrite_results"


def is_failure(result: Value) -> bool:
    if not isinstance(result, Mapping):
        return False
    return result.get("success", True) is False or bool(jsonable(result.get("error")))


def failure_message(failure: Mapping[str, Any]) -> str:
    return str(failure.get("error") or "no reason given")


class TraceKind(StrEnum):
    GOAL = "goal"
    NEURON = "neuron"
    DENDRITE = "dendrite"
    TOOL = "tool"
    MODEL = "model"


@dataclass(slots=True)
class Trace:
    """A node in a goal's tree of steps and calls.

    Only one thread at a time uses a node.
    """

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
        """Tokens of all questions in this node and below."""
        return self.own_tokens + sum(child.tokens for child in self.children)

    @property
    def calls(self) -> int:
        """Number of questions in this node and below."""
        return (self.kind is TraceKind.MODEL) + sum(child.calls for child in self.children)

    def child(self, kind: TraceKind, label: str, text: str) -> "Trace":
        path = self.place
        if kind in (TraceKind.NEURON, TraceKind.DENDRITE):
            path = f"{path}/{label}" if path else label
        child = Trace(kind, label, text, place=path)
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

    def all_warnings(self) -> Iterator[str]:
        """Yield warnings of the node and its descendants, in order."""
        yield from self.warnings
        for child in self.children:
            yield from child.all_warnings()


@dataclass(frozen=True, slots=True)
class Neuron:
    """One step of a goal: a small question and one tool call (D-1, D-2)."""

    description: str
    index: int  # its place among the steps of its goal, from 1
    depth: int = 0  # 0 for the steps of the user's goal
    result: Value = None
    validated: bool = False  # whether its result passed the check
    spawned_dendrites: tuple[str, ...] = ()  # the labels of its sub-tasks, 1.1, 1.2

    @property
    def key(self) -> str:
        """The key of the result in the goal's context (D-3)."""
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
    """The steps and answer of a goal (rules X-6, X-12)."""

    success: bool  # whether there is an answer, and no limit left work undone
    goal: str
    depth: int
    neurons: tuple[Neuron, ...]  # the steps, a corrective one last
    final: Answer | None  # the answer, None if nothing ran
    error: str  # why nothing ran
    warnings: tuple[str, ...]  # failed steps, skipped items, questions without an answer
    trace: Trace
    limit: Limit | None = None  # the limit with undone work
    stopped: str = ""  # a sentence on the limit, with the finished steps

    @property
    def results(self) -> tuple[Value, ...]:
        """The full result of each step."""
        return tuple(neuron.result for neuron in self.neurons)

    @property
    def text(self) -> str:
        """The answer, or why there is none."""
        if self.final is None:
            return self.stopped or self.error
        return self.final.summary if self.has_answer else self.stopped or self.final.summary

    @property
    def has_answer(self) -> bool:
        """Whether a step gave a usable result, even if a limit then stopped the goal."""
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
    """Return the answer as a plain dictionary (X-6)."""
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
