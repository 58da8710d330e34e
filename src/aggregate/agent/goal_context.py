"""One goal while it is worked on: what all its steps share, and what one branch of it knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aggregate.agent.answer_selection import failure_message, is_failure
from aggregate.agent.budget import BudgetTracker, EngineLimits, Limit, SubtaskBudget
from aggregate.agent.formatting import clip
from aggregate.agent.model import TEMPERATURES, USUAL_TEMPERATURE, Model, Question, QuestionKind
from aggregate.agent.prompts import QUESTIONS
from aggregate.agent.reply_schemas import SCHEMAS, Schema
from aggregate.agent.trace import TraceKind, TraceRecorder
from aggregate.concurrency.threads import run_in_thread
from aggregate.errors import ClientSetupError, ModelError
from aggregate.models.values import Value
from aggregate.tools import Tool, ToolContext, ToolRegistry

MOST_ANSWER = 200_000
"""Characters of an answer, far more than a step needs; the rest is cut, and a warning says so."""
NOTE = 120
"""Characters of an answer or of arguments in the trace: they fit on one line."""


@dataclass(frozen=True, slots=True)
class GoalContext:
    """What the whole goal shares: whom it may ask, what it may call, what it may use."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

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
        self.budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                text = self._answer(self._question(kind, schema, fields, node.place), child)
            except ClientSetupError:
                raise  # the host's mistake, which no further question mends
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

    def _answer(self, question: Question, node: TraceRecorder) -> str:
        """Return the model's answer; it is not waited for beyond the goal's time.

        Raises:
            ModelError: There is none in time, or it is none.
        """
        seconds_left = self.budget.seconds_left
        future = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            completion = future.result(timeout=seconds_left)
        except TimeoutError:
            if future.done():
                raise  # the model's own
            self.budget.reach(Limit.SECONDS)
            raise ModelError(f"the goal's time of {self.limits.seconds:g} s is over") from None
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
        self.budget.check()
        seconds = min(self.limits.tool_seconds, self.budget.seconds_left)
        arguments_line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = node.child(TraceKind.TOOL, tool.name, clip(arguments_line, NOTE))
        tool_context = ToolContext(dict(results), self.cache_dir, seconds, self.started)
        with child.timed():
            result = self.tools.run(tool.name, arguments, context=tool_context, seconds=seconds)
        if is_failure(result):
            child.fail(failure_message(result))
        return result


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
