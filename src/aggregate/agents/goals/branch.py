"""The state of a goal, and branches for its sub-tasks: questions and calls within its limits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals.goal_result import Trace, TraceKind, failure_message, is_failure
from aggregate.agents.goals.questions import (
    QUESTIONS,
    SCHEMAS,
    TEMPERATURES,
    USUAL_TEMPERATURE,
    Completion,
    Model,
    Question,
    QuestionKind,
    Schema,
    clip,
)
from aggregate.agents.limits import BudgetTracker, EngineLimits
from aggregate.agents.tools import Tool, ToolContext, ToolRegistry
from aggregate.base.concurrency import result_within, run_in_thread
from aggregate.base.errors import ClientSetupError, ModelError
from aggregate.base.json_forms import json_text
from aggregate.base.values import Value

# Characters of an answer or of arguments in the trace: they fit on one line
NOTE: Final = 120


class StepFailed(Exception):  # noqa: N818 - it becomes the failed result of its step
    """A step cannot be done; a retry would not help."""


class ItemsUnclear(StepFailed):
    """A step's items are unclear, so its goal fails."""


@dataclass(frozen=True, slots=True)
class GoalContext:
    """The model, tools and limits shared by a goal's branches."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    unclear: list[str] = field(default_factory=list)  # why steps did not know their items
    # Results of calls with possible changes, and the items of these calls
    done: dict[str, tuple[Value, Value]] = field(default_factory=dict)

    def answer(self, question: Question, node: Trace) -> str:
        """Return the model's answer, or raise a ``ModelError`` without a usable one."""
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            completion: Completion = result_within(future, self.budget.seconds_left)
        except TimeoutError:
            if future.done():
                raise  # the client's own
            raise ModelError(self.budget.time_is_over) from None
        node.own_tokens = max(0, int(completion.tokens))
        self.budget.charge(node.own_tokens)
        if completion.problem:
            raise ModelError(completion.problem)
        if not isinstance(completion.text, str):
            raise ModelError(f"the answer is a {type(completion.text).__name__}, not a text")
        if not completion.text.strip():
            raise ModelError("its answer is empty")
        # Half a surrogate pair cannot be written anywhere.
        return completion.text.encode("utf-8", "replace").decode()


@dataclass(slots=True)
class Branch:
    """A goal or a sub-task, executed by one thread."""

    run: GoalContext
    goal: str
    depth: int
    node: Trace
    context: dict[str, Value] = field(default_factory=dict)  # its own results by key (rule D-33)
    item: Value = None  # the item of a sub-task
    noun: str = ""  # the noun for the item, such as "activity"
    # The goal before the item's fields were put in. These words alone decide what the branch does: a text in an item
    # names no tool, no argument and no further step.
    template: str = ""
    chosen: bool = False  # whether the item was chosen from a list: no word names another item
    decided: bool = False  # whether the tool, or the model alone, was chosen already
    tool: Tool | None = None
    lists: frozenset[str] = frozenset()  # digests of lists in outer loops (D-34)
    other_items: tuple[Value, ...] = ()  # of a list without relevance for the step
    finished_loops: set[tuple[str, str]] = field(default_factory=set)  # digests with templates
    corrective: bool = False  # it may fetch nothing (rule P14)

    @property
    def may_spawn(self) -> bool:
        is_whole = not (self.corrective or self.chosen)
        return is_whole and self.depth < self.run.limits.depth - 1

    def deciding_text(self, step: str) -> str:
        return self.template or step

    def ask(
        self, kind: QuestionKind, *, schema: Schema | None = None, **fields: object
    ) -> str | None:
        """Ask the model a question; without an answer, warn and return ``None``."""
        budget, node = self.run.budget, self.node
        question = Question(
            kind,
            QUESTIONS[kind].format(**fields).strip(),
            node.place,
            TEMPERATURES.get(kind, USUAL_TEMPERATURE),
            schema or SCHEMAS.get(kind),
            budget.tokens_left,
            budget.seconds_left,
        )
        budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                text = self.run.answer(question, child)
            except ClientSetupError:
                raise  # the host's mistake, which no further question mends
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                self.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        return text

    def call(self, tool: Tool, arguments: dict[str, Any]) -> Value:
        """Call a tool, or reuse an equal call's earlier result."""
        run = self.run
        run.budget.check()
        line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = self.node.child(TraceKind.TOOL, tool.name, clip(line, NOTE))
        key = f"{tool.name} {json_text(arguments)}"
        if key in run.done:
            result, item = run.done[key]
            if None not in (item, self.item) and item != self.item:
                reason = f"would be called in the same way for two items: {line}"
                raise ItemsUnclear(f"{tool.name} {reason}")
            self.warn(f"{tool.name} was not called again: it has succeeded with these arguments.")
            return result
        with child.timed():
            seconds = min(run.limits.tool_seconds, run.budget.seconds_left)
            context = ToolContext(dict(self.context), run.cache_dir, seconds)
            result = run.tools.run(tool.name, arguments, context=context, seconds=seconds)
        if is_failure(result):
            child.fail(failure_message(result))
        elif not (tool.reads or tool.context):  # a context holds more with each step
            run.done[key] = result, self.item
        return result

    def warn(self, sentence: str) -> None:
        self.node.warnings.append(sentence)

    def below(self, number: int, goal: str, **fields: Any) -> "Branch":  # noqa: ANN401 - the branch's own
        """Return the branch of a sub-task, which has its own context (D-4, D-33)."""
        depth = self.depth + 1
        node = self.node.child(TraceKind.DENDRITE, f"{depth}.{number}", goal)
        context = dict(self.context)
        if fields.get("item") is not None:
            context[f"dendrite_item_{depth}_{number}"] = fields["item"]
        return Branch(self.run, goal, depth, node, context, **{"lists": self.lists, **fields})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step's result, its validity, and its sub-tasks' labels."""

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()
