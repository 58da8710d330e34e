"""What all steps of a goal share, and what one branch of it knows: whom they ask, what they call, what they may use."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals import questions
from aggregate.agents.goals.goal_result import BudgetTracker, EngineLimits, Limit, Trace, TraceKind
from aggregate.agents.goals.result_texts import clip, failure_message, is_failure
from aggregate.agents.tools import Tool, ToolContext, ToolRegistry
from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import ClientSetupError, ModelError
from aggregate.base.json_forms import json_text
from aggregate.base.values import Value

# Characters of an answer or of arguments in the trace: they fit on one line
NOTE: Final = 120


class StepFailed(Exception):  # noqa: N818 - it becomes the failed result of its step
    """A step cannot be done, and no further attempt helps."""


class ItemsUnclear(StepFailed):
    """A step acts on items, and nobody says on which: its goal is not reached."""


@dataclass(frozen=True, slots=True)
class GoalContext:
    model: questions.Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    unclear: list[str] = field(default_factory=list)  # why steps did not know their items
    # Calls that may have changed something: their results, and the items that they were made for
    done: dict[str, tuple[Value, Value]] = field(default_factory=dict)

    def ask(self, question: questions.Question) -> questions.Completion:
        """Wait for an answer as long as the goal has time."""
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            return future.result(timeout=self.budget.seconds_left)
        except TimeoutError:
            if future.done():
                raise  # the client's own
            self.budget.reach(Limit.SECONDS)
            over = f"the goal's time of {self.limits.seconds:g} s is over"
            raise ModelError(over) from None

    def charged_text(self, completion: questions.Completion, node: Trace) -> str:
        """Charge for an answer and return its text, or raise ``ModelError`` where it is none."""
        node.own_tokens = max(0, int(completion.tokens))
        self.budget.charge(int(completion.tokens))
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
    """One branch of a goal, while one thread works on it: the goal itself, or one sub-task of a step."""

    run: GoalContext
    goal: str
    depth: int
    node: Trace
    context: dict[str, Value] = field(default_factory=dict)  # its own results by key (rule D-33)
    item: Value = None  # what it is done for
    noun: str = ""  # what that is called
    # The goal before the item's fields were put into it. What the branch does is decided by these words alone: a text
    # within an item names no tool, no argument and no further step.
    template: str = ""
    chosen: bool = False  # whether the item was chosen among others: no word names another one
    decided: bool = False  # whether the tool, or the model alone, was chosen for it already
    tool: Tool | None = None
    lists: frozenset[str] = frozenset()  # digests of those that it must not go through (rule D-34)
    other_items: tuple[Value, ...] = ()  # of a list that the step is not about
    finished_loops: set[tuple[str, str]] = field(default_factory=set)  # digests with templates
    corrective: bool = False  # it may only work with what is there (rule P14)

    def deciding_text(self, step: str) -> str:
        return self.template or step

    def ask(
        self,
        kind: questions.QuestionKind,
        *,
        schema: questions.Schema | None = None,
        **fields: object,
    ) -> str | None:
        """Ask the model about ``fields``; ``None`` where it gave no answer, with a warning."""
        run, node = self.run, self.node
        question = questions.Question(
            kind,
            questions.QUESTIONS[kind].format(**fields).strip(),
            node.place,
            questions.TEMPERATURES.get(kind, questions.USUAL_TEMPERATURE),
            schema or questions.SCHEMAS.get(kind),
            run.budget.tokens_left,
            run.budget.seconds_left,
        )
        run.budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                text = run.charged_text(run.ask(question), child)
            except ClientSetupError:
                raise  # no further question mends the host's mistake
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                node.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        return text

    def call(self, tool: Tool, arguments: dict[str, Any]) -> Value:
        """Run a tool over the branch's results so far and return its own; every failure is one too."""
        run = self.run
        run.budget.check()
        line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = self.node.child(TraceKind.TOOL, tool.name, clip(line, NOTE))
        with child.timed():
            seconds = min(run.limits.tool_seconds, run.budget.seconds_left)
            context = ToolContext(dict(self.context), run.cache_dir, seconds)
            key = f"{tool.name} {json_text(arguments)}"
            if key in run.done:
                result, item = run.done[key]
                if None not in (item, self.item) and item != self.item:
                    raise ItemsUnclear(f"{tool.name} was to be called for two items alike: {line}")
                self.warn(
                    f"{tool.name} was not called again: it has succeeded with these arguments."
                )
                return result
            result = run.tools.run(tool.name, arguments, context=context, seconds=seconds)
        if is_failure(result):
            child.fail(failure_message(result))
        elif not (tool.reads or tool.context):  # a context holds more with each step
            run.done[key] = result, self.item
        return result

    def warn(self, sentence: str) -> None:
        self.node.warn(sentence)

    def at(self, node: Trace) -> "Branch":
        return replace(self, node=node)

    def below(self, number: int, goal: str, **fields: Any) -> "Branch":  # noqa: ANN401 - the branch's own
        """Return a branch for a sub-task: what it writes reaches no sibling and no parent (rules D-4, D-33)."""
        depth = self.depth + 1
        node = self.node.child(TraceKind.DENDRITE, f"{depth}.{number}", goal)
        context = dict(self.context)
        if fields.get("item") is not None:
            context[f"dendrite_item_{depth}_{number}"] = fields["item"]
        return Branch(self.run, goal, depth, node, context, **{"lists": self.lists, **fields})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step gave, and the labels of its sub-tasks."""

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()
