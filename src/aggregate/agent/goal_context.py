"""One goal while it is worked on: what all its steps share, and what one branch of it knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aggregate.agent.budget import BudgetTracker, EngineLimits, SubtaskBudget
from aggregate.agent.formatting import clip
from aggregate.agent.model import TEMPERATURES, Model, Question, QuestionKind
from aggregate.agent.prompts import QUESTIONS
from aggregate.agent.reply_schemas import SCHEMAS, Schema
from aggregate.agent.trace import TraceKind, TraceRecorder
from aggregate.concurrency.threads import run_in_thread
from aggregate.errors import ClientSetupError, ModelError
from aggregate.models.values import Value
from aggregate.tools import Tool, ToolContext, ToolRegistry

MOST_ANSWER = 200_000
"""Characters of an answer; the rest is cut, and a warning says so."""
NOTE = 120


@dataclass(frozen=True, slots=True)
class GoalContext:
    """What the whole goal shares."""

    model: Model
    tools: ToolRegistry
    limits: EngineLimits
    spending: BudgetTracker
    cache_dir: Path
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    def ask(
        self, node: TraceRecorder, call: QuestionKind, *, schema: Schema | None = None, **fields: object
    ) -> str | None:
        """Ask the model; ``None`` where it gave no answer, with a warning on ``node``.

        Args:
            node: Where the question is recorded.
            call: Which question.
            schema: The form of its answer, where that is not always the same.
            fields: What is asked about.

        Raises:
            LimitReached: No time or tokens are left.
            ClientSetupError: The client cannot ask anything: it lacks a package, a key or a model.
        """
        self.spending.check()
        child = node.child(TraceKind.MODEL, call.value, "")
        with child.timed():
            try:
                text = self._answer(self._question(call, schema, fields, node.place), child)
            except ClientSetupError:
                raise  # the host's mistake, which no further question mends
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                node.warn(f'The model gave no answer to "{call}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        if len(text) > MOST_ANSWER:
            node.warn(f'The answer to "{call}" was cut at {MOST_ANSWER:,} of {len(text):,} characters.')
        # Half a surrogate pair cannot be written anywhere.
        return text[:MOST_ANSWER].encode("utf-8", "replace").decode()

    def _question(
        self, call: QuestionKind, schema: Schema | None, fields: Mapping[str, object], place: str
    ) -> Question:
        return Question(
            call,
            QUESTIONS[call].format(**fields).strip(),
            place,
            TEMPERATURES.get(call, 0.1),
            schema or SCHEMAS.get(call),
            self.spending.tokens_left,
            self.spending.seconds_left,
        )

    def _answer(self, question: Question, node: TraceRecorder) -> str:
        """Return the model's answer; it is not waited for beyond the goal's time.

        Raises:
            ModelError: There is none in time, or it is none.
        """
        left = self.spending.seconds_left
        asked = run_in_thread(f"model {question.call}", lambda: self.model.ask(question))
        try:
            answered = asked.result(timeout=left)
        except TimeoutError:
            if asked.done():
                raise  # the model's own
            raise ModelError(f"the goal's time of {self.limits.seconds:g} s is over") from None
        node.tokens = max(0, int(answered.tokens))
        self.spending.charge(node.tokens)
        if answered.problem:
            raise ModelError(answered.problem)
        if not isinstance(answered.text, str):
            raise ModelError(f"the answer is a {type(answered.text).__name__}, not a text")
        if not answered.text.strip():
            raise ModelError("its answer is empty")
        return answered.text

    def call(self, node: TraceRecorder, tool: Tool, arguments: dict[str, Any], context: dict[str, Value]) -> Value:
        """Run a tool and return its result; every failure is one too.

        Raises:
            LimitReached: No time or tokens are left.
        """
        self.spending.check()
        seconds = min(self.limits.tool_seconds, self.spending.seconds_left)
        child = node.child(TraceKind.TOOL, tool.name, clip(", ".join(f"{k}={v!r}" for k, v in arguments.items()), NOTE))
        with child.timed():
            given = ToolContext(dict(context), self.cache_dir, seconds, self.began)
            result = self.tools.run(tool.name, arguments, context=given, seconds=seconds)
        if isinstance(result, dict) and (result.get("success", True) is False or result.get("error")):
            child.fail(str(result.get("error") or "no reason given"))
        return result


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tool that was chosen for a step, ``None`` for the model alone."""

    tool: Tool | None


@dataclass(frozen=True, slots=True)
class Branch:
    """What one branch of a goal knows: the goal itself, or one sub-task of a step.

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
        done: Lists and templates that this branch has gone through.
        corrective: It may only work with what is there (rule P14).
        allowance: How many sub-tasks it may begin.
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
    done: set[tuple[str, str]] = field(default_factory=set)
    corrective: bool = False
    allowance: SubtaskBudget = field(default_factory=SubtaskBudget)

    def wording(self, step: str) -> str:
        """Return the words that decide what ``step`` does."""
        return self.template or step

    def at(self, node: TraceRecorder) -> "Branch":
        """Return the same branch, recorded at ``node``."""
        return replace(self, node=node)
