"""Reach a goal: from its text to a checked answer (P11 to P15, D-67)."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals import questions
from aggregate.agents.goals.calls import NOTE, Branch, GoalContext
from aggregate.agents.goals.goal_result import (
    GoalResult,
    Neuron,
    Trace,
    TraceKind,
    answer_of,
    is_failure,
    is_prose,
    line_count,
)
from aggregate.agents.goals.questions import Completion, Model, Question, QuestionKind, clip
from aggregate.agents.goals.steps import run_branch, run_neuron
from aggregate.agents.goals.words import extract_quantity
from aggregate.agents.limits import BudgetTracker, EngineLimits, Limit, LimitReached
from aggregate.agents.tools import Tool, ToolRegistry, state_store
from aggregate.base.errors import AggregateError
from aggregate.base.text import fence
from aggregate.prompt.asking.results import Answer, AnswerKind
from aggregate.sending.clients import ChatRequest, Client
from aggregate.sending.models import FinishReason

MOST_MISSING: Final = 300  # characters of the sentence on the missing part
# Keys in a question, and characters of each: it stays below about a thousand tokens
MOST_KEYS: Final = 60
KEY_CHARACTERS: Final = 60
_PROBLEMS: Final = {
    FinishReason.REFUSED: "it refused to answer",
    FinishReason.LENGTH: "its answer was cut at the limit of tokens",
}


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Lets a provider's client answer the agent's questions."""

    client: Client
    model: str = ""

    def ask(self, question: Question) -> Completion:
        max_output = ChatRequest().max_output
        if question.tokens_left is not None:
            max_output = max(1, min(max_output, question.tokens_left))
        reply = self.client.send(
            ChatRequest(
                message=question.text,
                model=self.model,
                max_output=max_output,
                temperature=question.temperature,
                schema=question.schema,
                seconds=question.seconds_left,
            )
        )
        usage = reply.usage
        # Where the provider says nothing, a token for every four characters.
        tokens = usage.input + usage.output or (len(question.text) + len(reply.text)) // 4
        return Completion(reply.text, tokens, _PROBLEMS.get(reply.stop, ""))


class NeuronAgent:
    """Reaches goals with tools and small questions to a model.

    Each goal begins with a fresh context; only saved values stay between goals.

    Args:
        client: A provider's client, or anything with ``ask``, such as a ``scripted_model``.
        tools: A registry, or tools and functions that only read.
        state_dir: The folder of large results and saved values, created at the first use.
        limits: The limits of each goal.
        clock: Returns monotonic seconds, for the time limit.
    """

    def __init__(
        self,
        client: Model | Client,
        tools: ToolRegistry | Iterable[Tool | Callable[..., object]],
        *,
        state_dir: str | Path = "state",
        limits: EngineLimits | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.model = client if isinstance(client, Model) else ChatModel(client)
        self.tools = ToolRegistry.of(tools)
        self.state_dir = Path(state_dir)
        self.limits = limits or EngineLimits()
        self.clock = clock

    def execute_goal(self, goal: str, *, depth: int = 0) -> GoalResult:
        """Reach ``goal``; return the answer, the steps and the trace.

        Failures of the model and of tools do not raise errors; the result lists them.

        Args:
            goal: The goal in plain language.
            depth: 0 for a user's goal; from ``limits.depth`` on a goal is refused.

        Raises:
            ClientSetupError: The client lacks a package, a key or a model.
        """
        node = Trace(TraceKind.GOAL, "goal", goal)
        budget = BudgetTracker(self.limits, self.clock)
        cache_dir = self.state_dir / "data_cache"
        run = GoalContext(self.model, self.tools, self.limits, budget, cache_dir)
        branch = Branch(run, goal, depth, node, {"_original_goal": goal})
        answer = None
        with node.timed():
            if 0 == depth < self.limits.depth and (memory := self._memory(branch)):
                branch.context[questions.MEMORY_KEY] = memory
            neurons, error = run_branch(branch)
            if neurons:
                neurons, answer = _answered(branch, neurons)
        if answer and run.unclear:
            answer = replace(answer, success=False, summary=run.unclear[0])
        stopped = _stopped(budget, neurons)
        success = answer is not None and answer.success and not stopped
        if not success:
            node.fail(error or stopped or (answer.summary if answer else ""))
        warnings = dict.fromkeys((*(answer.warnings if answer else ()), *node.all_warnings()))
        return GoalResult(
            success=success,
            goal=goal,
            depth=depth,
            neurons=neurons,
            final=answer,
            error=error,
            warnings=tuple(warnings),
            trace=node,
            limit=budget.reached,
            stopped=stopped,
        )

    def _memory(self, branch: Branch) -> dict[str, Any]:
        """Return the saved values relevant for the goal, by key; none if reading fails (P15)."""
        try:
            store = state_store(self.state_dir)
            keys = store.keys()
            if not keys:
                return {}
            listed = fence(", ".join(clip(key, KEY_CHARACTERS) for key in keys[:MOST_KEYS]))
            if len(keys) > MOST_KEYS:
                branch.warn(f"Only {MOST_KEYS} of {len(keys)} saved keys were considered.")
            reply = branch.ask(QuestionKind.MEMORY, goal=branch.goal, keys=listed)
            relevant = (questions.json_value(reply, dict) or {}).get("relevant_keys")
            if not isinstance(relevant, list):
                return {}
            loaded = {key: store.load(key) for key in keys if key in relevant}
        except (AggregateError, LimitReached) as error:
            branch.warn(f"No saved value was used: {error}")
            return {}
        return {key: value for key, (exists, value) in loaded.items() if exists}


def _answered(branch: Branch, neurons: tuple[Neuron, ...]) -> tuple[tuple[Neuron, ...], Answer]:
    """Choose the goal's answer, with one attempt to complete it."""
    goal = branch.goal
    answer = answer_of(goal, neurons)
    if branch.depth > 0:
        return neurons, answer
    missing, corrective = _check_answer(branch, neurons, answer)
    neurons = (*neurons, *corrective)
    answer = answer_of(goal, neurons, missing)
    is_corrected = answer.source.index in [neuron.index for neuron in corrective]
    if missing and is_corrected and answer.source.kind is not AnswerKind.VALUE:
        missing = verdict(goal, answer) or ""
    if missing:
        warnings = (*answer.warnings, f"The answer is not complete: {missing}")
        answer = replace(answer, missing=missing, warnings=warnings)
    return neurons, answer


def _check_answer(
    branch: Branch, neurons: tuple[Neuron, ...], answer: Answer
) -> tuple[str, list[Neuron]]:
    """Return the answer's fault, and a successful corrective step.

    Without a fault the text is ``""``; without such a step the list is empty. A corrective step uses only earlier
    results: it fetches nothing.
    """
    missing = ""
    try:
        missing = _missing(branch, answer)
        if not missing:
            return "", []
        known = questions.known_results(branch.context)
        reply = branch.ask(QuestionKind.CORRECT, goal=branch.goal, missing=missing, known=known)
    except LimitReached as reached:
        if missing:
            branch.run.budget.stop(reached.limit)
        branch.warn(f"The answer was not {'corrected' if missing else 'checked'}: {reached}")
        return missing, []
    step = questions.first_line(reply)
    if not step:
        return missing, []
    context = {**branch.context, "answer_so_far": answer.summary}
    corrective = Branch(
        branch.run, branch.goal, branch.depth, branch.node, context, corrective=True
    )
    neuron = run_neuron(corrective, Neuron(step, len(neurons) + 1, branch.depth))
    if is_failure(neuron.result):
        error = neuron.result.get("error")
        branch.warn(f"The corrective step failed, so the answer was not changed: {error}")
        return missing, []
    branch.context[neuron.key] = corrective.context[neuron.key]
    return missing, [neuron]


def _missing(branch: Branch, answer: Answer) -> str:
    """Return the part that an answer lacks, ``""`` if it is complete or not usable."""
    by_rule = verdict(branch.goal, answer) if answer.success else ""
    if by_rule is not None:
        return by_rule
    summary = questions.fenced_data(answer.summary, questions.ALL_RESULTS)
    reply = branch.ask(QuestionKind.COMPLETE, goal=branch.goal, answer=summary)
    if questions.yes_or_no(reply) is not False:
        return ""
    try:
        reply = branch.ask(QuestionKind.MISSING, goal=branch.goal, answer=summary)
    except LimitReached:  # the answer is incomplete all the same
        reply = None
    return clip(" ".join((reply or "").split()), MOST_MISSING) or "the model gave no reason"


def verdict(goal: str, answer: Answer) -> str | None:
    """Return the fault in an answer's number of lines, ``None`` if this rule cannot decide (P12)."""
    if answer.source.kind is AnswerKind.COUNT:
        return ""
    target = extract_quantity(goal)
    is_text = answer.source.kind in (AnswerKind.PYTHON, AnswerKind.AI, AnswerKind.TEXT)
    if target is None or not is_text:
        return None
    lines = line_count(answer.summary)
    if lines > target:
        return f"The goal asks for {target}, the answer has {lines} lines."
    return "" if lines == target else None


def _stopped(budget: BudgetTracker, neurons: tuple[Neuron, ...]) -> str:
    """Return a sentence on the reached limit and finished steps, ``""`` without one (X-12).

    A step answered only by the model does not count as finished.
    """
    if budget.reached is None:
        return ""
    limits = budget.limits
    limit = {
        Limit.TOKENS: f"{limits.tokens:,} tokens",
        Limit.SECONDS: f"{limits.seconds:g} seconds",
        Limit.STEPS: f"{limits.steps} steps",
        Limit.ITEMS: f"{limits.dendrites} items of a step",
    }[budget.reached]
    done: list[str] = []
    for neuron in neurons:
        is_undone = f"{neuron.depth}.{neuron.index}" in budget.undone
        if not (is_undone or is_failure(neuron.result) or is_prose(neuron.result)):
            done.append(clip(neuron.description, NOTE))
    steps = "no step done"
    if neurons:
        steps = f"{len(done)} of {max(budget.planned, len(neurons))} steps done"
    return f"Stopped at the limit of {limit}, {steps}{': ' if done else ''}{'; '.join(done)}"
