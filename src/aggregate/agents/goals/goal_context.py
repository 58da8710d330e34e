"""What all steps of a goal share, and what one branch of it knows: whom they ask, what they call, what they may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.budget import BudgetTracker, EngineLimits, Limit, SubtaskBudget
from aggregate.agents.goals.formatting import clip
from aggregate.agents.goals.goal_record import (
    TOOL_KEY,
    GoalRecord,
    PlaceCounter,
    completion_entry,
    digest_of,
    recorded_completion,
)
from aggregate.agents.goals.goal_result import TraceKind, TraceRecorder
from aggregate.agents.goals.questions import (
    QUESTIONS,
    TEMPERATURES,
    USUAL_TEMPERATURE,
    Completion,
    Model,
    Question,
    QuestionKind,
)
from aggregate.agents.goals.replies import SCHEMAS, Schema
from aggregate.agents.tools import Tool, ToolContext, ToolRegistry
from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import ClientSetupError, ModelError, StateError
from aggregate.base.values import Value, json_text


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What was chosen for a step: a tool, ``None`` for the model alone; ``problem`` says why nothing was chosen."""

    tool: Tool | None
    problem: str = ""


@dataclass(slots=True)
class Branch:
    """One branch of a goal, while it is worked on: the goal itself, or one sub-task of a step.

    One thread works on it. ``context``, ``finished_loops`` and ``subtask_budget`` change on the way; ``at`` shares
    them with the branch that it was made from.

    Attributes:
        context: Results by key; a branch writes to its own only (rule D-33).
        item: What it is done for, and ``noun``, what that is called.
        template: The goal before the item's fields were put into it. What the branch does is decided by these words
            alone: a text within an item names no tool, no argument and no further step.
        chosen: What was chosen for all items, or ``None``.
        lists: Digests of the lists that the branches above go through, and so it must not (rule D-34).
        finished_loops: Digests of lists with the templates for which this branch has gone through them.
        corrective: It may only work with what is there (rule P14).
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


NOTE = 120
"""Characters of an answer or of arguments in the trace: they fit on one line."""

INTERRUPTED: Final = (
    "{} was running when the goal was interrupted: whether it was done is not known"
)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step gave, the labels of its sub-tasks, how often its tool was called, and what may do it instead."""

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()
    executions: int = 0
    other: Tool | None = None


@dataclass(frozen=True, slots=True)
class GoalContext:
    """What the whole goal shares: whom it may ask, what it may call, what it may use."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    record: GoalRecord = field(default_factory=GoalRecord)
    places: PlaceCounter = field(default_factory=PlaceCounter)

    def ask(
        self,
        node: TraceRecorder,
        kind: QuestionKind,
        *,
        schema: Schema | None = None,
        **fields: object,
    ) -> str | None:
        """Ask the model; ``None`` where it gave no answer, with a warning on ``node``.

        Args:
            node: Where the question is recorded.
            kind: Which question.
            schema: The form of its answer, where that is not always the same.
            fields: What is asked about.

        Raises:
            LimitReached: No time or tokens are left.
            ClientSetupError: The client cannot ask anything: it lacks a package, a key or a model.
        """
        question = Question(
            kind,
            QUESTIONS[kind].format(**fields).strip(),
            node.place,
            TEMPERATURES.get(kind, USUAL_TEMPERATURE),
            schema or SCHEMAS.get(kind),
            self.budget.tokens_left,
            self.budget.seconds_left,
        )
        key, digest = self.places.key(node.place, kind.value), digest_of(question.text)
        recorded = self.record.recall(key, digest)
        if recorded is None:
            self.budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                if recorded is None:
                    completion = self._ask_live(question, key, digest)
                else:
                    completion = recorded_completion(recorded)
                text = self._answer(completion, child)
            except (ClientSetupError, StateError):
                raise  # no further question mends the host's mistake, or a record that does not fit
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                node.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        return text

    def _ask_live(self, question: Question, key: str, digest: str) -> Completion:
        """Ask the model, but not beyond the goal's time, and record what it gives."""
        seconds_left = self.budget.seconds_left
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            completion = future.result(timeout=seconds_left)
        except ClientSetupError:
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and not future.done():
                self.budget.reach(Limit.SECONDS)
                over = f"the goal's time of {self.limits.seconds:g} s is over"
                raise ModelError(over) from None
            self._keep(key, digest, {"error": f"{error!s:.300}"})
            raise
        self._keep(key, digest, completion_entry(completion))
        return completion

    def _keep(self, key: str, digest: str, entry: Mapping[str, Any]) -> None:
        self.record.finish(key, digest, entry, seconds=self.budget.seconds)

    def _answer(self, completion: Completion, node: TraceRecorder) -> str:
        """Charge for an answer and return its text, or raise ``ModelError`` where it is none."""
        node.tokens = max(0, int(completion.tokens))
        charged = completion.tokens if completion.charged is None else completion.charged
        self.budget.charge(int(charged))
        if completion.problem:
            raise ModelError(completion.problem)
        if not isinstance(completion.text, str):
            raise ModelError(f"the answer is a {type(completion.text).__name__}, not a text")
        if not completion.text.strip():
            raise ModelError("its answer is empty")
        # Half a surrogate pair cannot be written anywhere.
        return completion.text.encode("utf-8", "replace").decode()

    def call(
        self,
        node: TraceRecorder,
        tool: Tool,
        arguments: dict[str, Any],
        results: Mapping[str, Value],
    ) -> Value:
        """Run a tool over the ``results`` so far and return its own; every failure is one too.

        Raises:
            LimitReached: No time or tokens are left.
        """
        called_with = json_text(arguments)
        digest = digest_of(f"{tool.name}({called_with})")
        key = self.places.key(node.place, TOOL_KEY)
        recorded = self.record.recall(key, digest)
        if recorded is None:
            self.budget.check()
        line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = node.child(TraceKind.TOOL, tool.name, clip(line, NOTE))
        with child.timed():
            if recorded is not None:
                result: Value = recorded["result"]
            elif not tool.repeatable and self.record.begin(
                key, digest, tool=tool.name, arguments=called_with
            ):
                error = INTERRUPTED.format(tool.name)
                result = {"success": False, "error": error, "retry": False}
                self._keep(key, digest, {"result": result})
            else:
                seconds = min(self.limits.tool_seconds, self.budget.seconds_left)
                context = ToolContext(dict(results), self.cache_dir, seconds, self.record.started)
                result = self.tools.run(tool.name, arguments, context=context, seconds=seconds)
                # What was cut off by the goal's end is called again with more time.
                if not is_failure(result) or self.budget.seconds_left > 0:
                    self._keep(key, digest, {"result": result})
        if is_failure(result):
            child.fail(failure_message(result))
        return result
