"""What all steps of a goal share, and what one branch of it knows: whom they ask, what they call, what they may use."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from aggregate.agents.goals import questions
from aggregate.agents.goals.answers import clip, failure_message, is_failure
from aggregate.agents.goals.goal_record import RecordedGoal, digest_of
from aggregate.agents.goals.goal_result import (
    BudgetTracker,
    EngineLimits,
    Limit,
    SubtaskBudget,
    Trace,
    TraceKind,
)
from aggregate.agents.tools import Tool, ToolContext, ToolRegistry
from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import ClientSetupError, ModelError, StateError
from aggregate.base.json_forms import json_text, jsonable
from aggregate.base.values import Value

# Characters of an answer or of arguments in the trace: they fit on one line
NOTE: Final = 120


class StepFailed(Exception):  # noqa: N818 - it becomes the failed result of its step
    """A step cannot be done, and no further attempt helps."""


@dataclass(frozen=True, slots=True)
class GoalContext:
    model: questions.Model
    tools: ToolRegistry
    limits: EngineLimits
    budget: BudgetTracker
    cache_dir: Path
    record: RecordedGoal | None = None
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def recalled(
        self, place: str, what: str, text: str
    ) -> tuple[str, str, Mapping[str, Any] | None]:
        """Return the key of the next ``what`` at ``place``, the digest of its text, and what is recorded there.

        One thread works at a place, so what is asked there is numbered in its order: ``0.2/1.3 parameters 1``.
        """
        name = f"{place or 'goal'} {what}"
        with self._lock:
            self._counts[name] += 1
            key = f"{name} {self._counts[name]}"
        digest = digest_of(text)
        return key, digest, self.record.recall(key, digest) if self.record else None

    def keep(self, key: str, digest: str, entry: Mapping[str, Any]) -> None:
        if self.record:
            self.record.finish(key, digest, entry, seconds=self.budget.seconds)

    def ask_live(self, question: questions.Question, key: str, digest: str) -> questions.Completion:
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
            self.keep(key, digest, {"error": f"{error!s:.300}"})
            raise
        self.keep(key, digest, jsonable(completion))
        return completion

    def charged_text(self, completion: questions.Completion, node: Trace) -> str:
        """Charge for an answer and return its text, or raise ``ModelError`` where it is none."""
        node.own_tokens = max(0, int(completion.tokens))
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
    decided: bool = False  # whether the tool, or the model alone, was chosen for it already
    tool: Tool | None = None
    lists: frozenset[str] = frozenset()  # digests of those that it must not go through (rule D-34)
    finished_loops: set[tuple[str, str]] = field(default_factory=set)  # digests with templates
    corrective: bool = False  # it may only work with what is there (rule P14)
    subtask_budget: SubtaskBudget = field(default_factory=SubtaskBudget)

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
        key, digest, recorded = run.recalled(node.place, kind.value, question.text)
        if recorded is None:
            run.budget.check()
        child = node.child(TraceKind.MODEL, kind.value, "")
        with child.timed():
            try:
                if recorded is None:
                    completion = run.ask_live(question, key, digest)
                elif "error" in recorded:
                    raise ModelError(recorded["error"])
                else:
                    completion = questions.Completion(**recorded)
                text = run.charged_text(completion, child)
            except (ClientSetupError, StateError):
                raise  # no further question mends the host's mistake, or a record that does not fit
            except Exception as error:  # noqa: BLE001 - whatever a client raises, the goal goes on without this answer
                child.fail(f"{type(error).__name__}: {error!s:.300}")
                node.warn(f'The model gave no answer to "{kind}": {error!s:.300}')
                return None
        child.text = clip(" ".join(text[: NOTE * 2].split()), NOTE)
        return text

    def call(self, tool: Tool, arguments: dict[str, Any]) -> Value:
        """Run a tool over the branch's results so far and return its own; every failure is one too."""
        run = self.run
        called_with = json_text(arguments)
        text = f"{tool.name}({called_with})"
        key, digest, recorded = run.recalled(self.node.place, "tool", text)
        if recorded is None:
            run.budget.check()
        line = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        child = self.node.child(TraceKind.TOOL, tool.name, clip(line, NOTE))
        with child.timed():
            if recorded is not None:
                result: Value = recorded["result"]
            elif (
                run.record
                and not tool.repeatable
                and run.record.begin(key, digest, tool=tool.name, arguments=called_with)
            ):
                unknown = "when the goal was interrupted: whether it was done is not known"
                error = f"{tool.name} was running {unknown}"
                result = {"success": False, "error": error, "retry": False}
                run.keep(key, digest, {"result": result})
            else:
                seconds = min(run.limits.tool_seconds, run.budget.seconds_left)
                started = run.record.started if run.record else run.started
                context = ToolContext(dict(self.context), run.cache_dir, seconds, started)
                result = run.tools.run(tool.name, arguments, context=context, seconds=seconds)
                # What was cut off by the goal's end is called again with more time.
                if not is_failure(result) or run.budget.seconds_left > 0:
                    run.keep(key, digest, {"result": result})
        if is_failure(result):
            child.fail(failure_message(result))
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
    """What a step gave, the labels of its sub-tasks, how often its tool was called, and what may do it instead."""

    result: Value
    validated: bool
    spawned: tuple[str, ...] = ()
    executions: int = 0
    other: Tool | None = None
