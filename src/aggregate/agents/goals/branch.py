"""What one branch of a goal knows while it is worked on."""

from dataclasses import dataclass, field, replace

from aggregate.agents.goals.budget import SubtaskBudget
from aggregate.agents.goals.trace import TraceRecorder
from aggregate.agents.tools import Tool
from aggregate.base.values import Value


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What was chosen for a step.

    Attributes:
        tool: The tool, ``None`` for the model alone.
        problem: Why nothing was chosen, ``""`` where something was.
    """

    tool: Tool | None
    problem: str = ""


@dataclass(slots=True)
class Branch:
    """One branch of a goal, while it is worked on: the goal itself, or one sub-task of a step.

    One thread works on it. ``context``, ``finished_loops`` and ``subtask_budget`` change on the way; ``at`` shares
    them with the branch that it was made from.

    Attributes:
        goal: Its goal.
        depth: 0 for the user's goal.
        node: Where it is recorded.
        context: Results by key; a branch writes to its own only (rule D-33).
        item: What it is done for, or ``None``.
        noun: What the item is called.
        template: The goal before the item's fields were put into it. What the branch does is decided by these words
            alone: a text within an item names no tool, no argument and no further step.
        chosen: What was chosen for all items, or ``None``.
        lists: Digests of the lists that the branches above go through, and so it must not (rule D-34).
        finished_loops: Digests of lists with the templates for which this branch has gone through them.
        corrective: It may only work with what is there (rule P14).
        subtask_budget: How many sub-tasks it may begin.
    """

    goal: str
    depth: int
    node: TraceRecorder
    context: dict[str, Value] = field(default_factory=dict)
    item: Value = None
    noun: str = ""
    template: str = ""
    chosen: ToolChoice | None = None
    lists: frozenset[str] = frozenset()
    finished_loops: set[tuple[str, str]] = field(default_factory=set)
    corrective: bool = False
    subtask_budget: SubtaskBudget = field(default_factory=SubtaskBudget)

    def deciding_text(self, step: str) -> str:
        """Return the text that decides what ``step`` does."""
        return self.template or step

    def at(self, node: TraceRecorder) -> "Branch":
        """Return the same branch, recorded at ``node``."""
        return replace(self, node=node)
