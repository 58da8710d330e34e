"""Steps and what a goal gave, as values."""

from dataclasses import dataclass
from typing import Any, Final

from aggregate.agents.goals.budget import Limit
from aggregate.agents.goals.trace import Trace
from aggregate.agents.tools import Tool
from aggregate.base.values import Answer, Value

TOO_DEEP: Final = "Max recursion depth reached"
NO_STEPS: Final = "Could not decompose goal"


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step gave.

    Attributes:
        result: The result, whole.
        validated: Whether it was found to be right.
        spawned: The labels of the sub-tasks that it took.
        executions: Calls of its tool, those of sub-tasks aside.
        other: The tool that was chosen for it after this failure.
    """

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()
    executions: int = 0
    other: Tool | None = None


@dataclass(frozen=True, slots=True)
class Neuron:
    """One step: a small question and one call of a tool (rules D-1, D-2).

    Attributes:
        description: What it is to do.
        index: 1-based place among the steps of its goal.
        depth: 0 for the steps of the user's goal.
        result: What it gave, whole.
        validated: Whether that was found to be what the step asked for.
        spawned_dendrites: Labels of the sub-tasks that it was spread over, ``1.1``, ``1.2``.
    """

    description: str
    index: int
    depth: int = 0
    result: Value = None
    validated: bool = False
    spawned_dendrites: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Where its result stands in the context (rule D-3)."""
        return f"neuron_{self.depth}_{self.index}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, without its result."""
        return {
            "description": self.description,
            "index": self.index,
            "depth": self.depth,
            "validated": self.validated,
            "spawned_dendrites": list(self.spawned_dendrites),
        }


@dataclass(frozen=True, slots=True)
class GoalResult:
    """What a goal gave: steps, results and answer; success only where a step gave something (X-6, X-12).

    Attributes:
        success: Whether any step gave something usable.
        goal: What was asked.
        depth: 0 for a user's goal.
        neurons: The steps, a corrective one last.
        results: What each gave, in the same order, whole.
        final: The answer, ``None`` where nothing ran.
        error: Why nothing ran, ``""`` otherwise.
        warnings: What a reader should know: failed steps, what was left out, questions without an answer.
        trace: What happened, with times and tokens.
        limit: What the goal ran out of, ``None`` for nothing; the answer is then what there was by that time.
        stopped: The same as a sentence with what was done, ``""`` for nothing.
    """

    success: bool
    goal: str
    depth: int
    neurons: tuple[Neuron, ...]
    results: tuple[Value, ...]
    final: Answer | None
    error: str
    warnings: tuple[str, ...]
    trace: Trace
    limit: Limit | None = None
    stopped: str = ""

    @property
    def text(self) -> str:
        """What the user reads."""
        if self.final and (self.final.success or not self.stopped):
            return self.final.summary
        return self.stopped or self.error

    def as_dict(self) -> dict[str, Any]:
        """Return ``{success, goal, depth, neurons, results, final}``, or ``{success, error}`` where nothing ran.

        ``limit`` and ``stopped`` follow where the goal ran out of something.
        """
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
    """Return the answer's envelope as plain data (rule X-6), with what is ``missing`` where a check found something."""
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
