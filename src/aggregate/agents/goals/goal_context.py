"""What one branch of a goal knows while it is worked on."""

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
    NoRecord,
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


MOST_ANSWER = 200_000
"""Characters of an answer, far more than a step needs; the rest is cut, and a warning says so."""
NOTE = 120
"""Characters of an answer or of arguments in the trace: they fit on one line."""

INTERRUPTED: Final = (
    "{} was running when the goal was interrupted: whether it was done is not known"
)


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
class GoalContext:
    """What the whole goal shares: whom it may ask, what it may call, what it may use."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    record: GoalRecord = field(default_factory=NoRecord)
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
        question = self._question(kind, schema, fields, node.place)
        key = self.places.key(node.place, kind.value)
        recorded = self.record.recall(key, digest_of(question.text))
        if recorded is None:
            self.budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                completion = None if recorded is None else recorded_completion(recorded)
                text = self._answer(completion or self._ask_live(question, key), child)
            except (ClientSetupError, StateError):
                raise  # no further question mends the host's mistake, or a record that does not fit
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                node.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        beginning = " ".join(text[: NOTE * 2].split())
        child.text = clip(beginning, NOTE)
        if len(text) > MOST_ANSWER:
            node.warn(
                f'The answer to "{kind}" was cut at {MOST_ANSWER:,} of {len(text):,} characters.'
            )
        # Half a surrogate pair cannot be written anywhere.
        return text[:MOST_ANSWER].encode("utf-8", "replace").decode()

    def _question(
        self, kind: QuestionKind, schema: Schema | None, fields: Mapping[str, object], place: str
    ) -> Question:
        return Question(
            kind,
            QUESTIONS[kind].format(**fields).strip(),
            place,
            TEMPERATURES.get(kind, USUAL_TEMPERATURE),
            schema or SCHEMAS.get(kind),
            self.budget.tokens_left,
            self.budget.seconds_left,
        )

    def _ask_live(self, question: Question, key: str) -> Completion:
        """Ask the model, and record what it gives; it is not waited for beyond the goal's time.

        Raises:
            ModelError: There is no answer in time.
        """
        seconds_left = self.budget.seconds_left
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            completion = future.result(timeout=seconds_left)
        except TimeoutError as error:
            if future.done():
                self._keep(key, question.text, {"error": str(error)})
                raise  # the model's own
            self.budget.reach(Limit.SECONDS)
            raise ModelError(f"the goal's time of {self.limits.seconds:g} s is over") from None
        except ClientSetupError:
            raise
        except Exception as error:
            self._keep(key, question.text, {"error": f"{error!s:.300}"})
            raise
        self._keep(key, question.text, completion_entry(completion))
        return completion

    def _keep(self, key: str, text: str, entry: Mapping[str, Any]) -> None:
        self.record.finish(key, digest_of(text), entry, seconds=self.budget.seconds)

    def _answer(self, completion: Completion, node: TraceRecorder) -> str:
        """Return the text of an answer, and charge for it.

        Raises:
            ModelError: It is none.
        """
        node.tokens = max(0, int(completion.tokens))
        charged = completion.tokens if completion.charged is None else completion.charged
        self.budget.charge(int(charged))
        if completion.problem:
            raise ModelError(completion.problem)
        if not isinstance(completion.text, str):
            raise ModelError(f"the answer is a {type(completion.text).__name__}, not a text")
        if not completion.text.strip():
            raise ModelError("its answer is empty")
        return completion.text

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
        arguments_json = json_text(arguments)
        key, call_text = self.places.key(node.place, TOOL_KEY), f"{tool.name}({arguments_json})"
        recorded = self.record.recall(key, digest_of(call_text))
        if recorded is None:
            self.budget.check()
        arguments_line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = node.child(TraceKind.TOOL, tool.name, clip(arguments_line, NOTE))
        with child.timed():
            if recorded is not None:
                result = recorded["result"]
            else:
                result = self._call_live(tool, arguments, results, key, call_text, arguments_json)
        if is_failure(result):
            child.fail(failure_message(result))
        return result

    def _call_live(
        self,
        tool: Tool,
        arguments: dict[str, Any],
        results: Mapping[str, Value],
        key: str,
        call_text: str,
        arguments_json: str,
    ) -> Value:
        """Call a tool, and record what it gives; one that is not to be repeated is recorded before, too."""
        if not tool.repeatable and self.record.begin(
            key, digest_of(call_text), tool=tool.name, arguments=arguments_json
        ):
            result: Value = {
                "success": False,
                "error": INTERRUPTED.format(tool.name),
                "retry": False,
            }
            self._keep(key, call_text, {"result": result})
            return result
        seconds = min(self.limits.tool_seconds, self.budget.seconds_left)
        context = ToolContext(dict(results), self.cache_dir, seconds, self.record.started)
        result = self.tools.run(tool.name, arguments, context=context, seconds=seconds)
        is_cut_off = is_failure(result) and self.budget.seconds_left <= 0
        if not is_cut_off:  # with more time it is called again
            self._keep(key, call_text, {"result": result})
        return result
