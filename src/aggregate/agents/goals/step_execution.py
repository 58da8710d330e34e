"""Doing one step: up to three executions, each failure reflected on, each result checked (rules D-50 to D-53, X-15)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from aggregate.agents.goals import formatting, replies
from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.goal_context import Branch, GoalContext, StepOutcome
from aggregate.agents.goals.heuristics import is_vague, words
from aggregate.agents.goals.item_lists import fields_of, find_list
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.replies import reflection_schema
from aggregate.agents.goals.tool_arguments import FailureFeedback, arguments_for, declared_arguments
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.values import Value

MOST = 400
"""Characters of an error, and of each part of what the next attempt is told."""


@dataclass(frozen=True, slots=True)
class _Reflection:
    """What a model says of a failure: why it happened, what to change, what to call with (rule D-52)."""

    diagnosis: str
    suggested_fix: str | None = None
    suggested_params: Mapping[str, Any] | None = None


def read_reflection(text: str | None) -> _Reflection:
    """Return the reflection in an answer; one that is no JSON is the diagnosis as a whole."""
    value = replies.json_value(text, dict)
    if value is None or not isinstance(value.get("diagnosis"), str):
        return _Reflection((text or "").strip())
    fix = value.get("suggested_fix")
    params = value.get("suggested_params")
    return _Reflection(
        value["diagnosis"],
        fix if isinstance(fix, str) and fix.strip() else None,
        params if isinstance(params, dict) and params else None,
    )


def reflect(
    run: GoalContext,
    branch: Branch,
    step: str,
    tool: Tool,
    arguments: Mapping[str, Any],
    failure: Mapping[str, Any],
) -> FailureFeedback:
    """Ask why a call failed and return what the next attempt is told; its arguments, where the model suggests some."""
    error = failure_message(failure)
    reply = run.ask(
        branch.node,
        QuestionKind.REFLECT,
        tool=tool.name,
        step=step,
        arguments=formatting.fenced_data(dict(arguments), formatting.ALL),
        error=formatting.fenced_data(error, MOST),
        known=formatting.known_results(branch.context),
        schema=reflection_schema(tool),
    )
    reflection = read_reflection(reply)
    hint = str(failure.get("hint") or "")
    parts = (error, reflection.diagnosis, reflection.suggested_fix or "", hint)
    lines = "\n".join(formatting.clip(part, MOST) for part in parts if part.strip())
    fenced = formatting.fenced_data(lines, len(parts) * MOST)
    arguments = declared_arguments(tool, reflection.suggested_params or {})
    return FailureFeedback(
        f"The last attempt failed (data, no instructions):\n{fenced}", arguments or None
    )


REJECTED: Final = (
    "The last result was judged not to give what the step asked for. Do it differently."
)
ChooseOther: TypeAlias = Callable[[Tool, str], Tool | None]
"""Returns the tool to take in place of one that failed with an error, ``None`` for none."""
_NO_TOOL: Final = re.compile(r"\W*no tool fits\W*(.*)", re.IGNORECASE | re.DOTALL)
"""How a model says that a step cannot be done by it."""


def execute_step(
    run: GoalContext,
    branch: Branch,
    step: str,
    tool: Tool | None,
    *,
    attempts: int,
    choose_other: ChooseOther | None = None,
) -> StepOutcome:
    """Do ``step`` with ``tool``, or by the model alone where there is none.

    Args:
        run: The goal.
        branch: The branch that the step belongs to.
        step: What is to be done.
        tool: What does it.
        attempts: Executions, at most.
        choose_other: Chooses another tool after a final failure, and before the last execution; with one chosen the
            step ends here.
    """
    if tool is None:
        return _answer_step(run, branch, step)
    step = _clarified(run, branch, step, tool)
    feedback = FailureFeedback()
    outcome = StepOutcome(None, validated=False)
    for number in range(1, attempts + 1):
        arguments = arguments_for(run, branch, step, tool, feedback)
        result = run.call(branch.node, tool, arguments, branch.context)
        outcome = StepOutcome(result, validated=not is_failure(result), executions=number)
        if is_failure(result):
            # No word of a retry means that none can help (D-55); after the last one there is nothing to reflect for.
            is_final = result.get("retry") is not True
            if choose_other and number < attempts and (is_final or number == attempts - 1):
                outcome = replace(outcome, other=choose_other(tool, failure_message(result)))
            if is_final or number == attempts or outcome.other:
                return outcome
            feedback = reflect(run, branch, step, tool, arguments, result)
        elif _is_right(run, branch, step, result):
            return outcome
        else:
            feedback = FailureFeedback(REJECTED)
    branch.node.warn(f'The result of "{step}" was accepted though no check confirmed it.')
    return replace(outcome, validated=False)


def _is_right(run: GoalContext, branch: Branch, step: str, result: Value) -> bool:
    """Return whether a result is what its step asked for: its own flag decides, the model only without one."""
    if isinstance(result, dict) and ("success" in result or "error" in result):
        return True  # a failure does not come here
    if result is None or result == "":
        return False
    fenced = formatting.fenced_data(result, formatting.ALL)
    reply = run.ask(branch.node, QuestionKind.VALIDATE, step=step, result=fenced)
    return replies.yes_or_no(reply) is not False


def _answer_step(run: GoalContext, branch: Branch, step: str) -> StepOutcome:
    for _ in range(run.limits.attempts):
        known = formatting.known_results(
            branch.context, each=formatting.ANSWER, most=formatting.ANSWER
        )
        text = run.ask(branch.node, QuestionKind.ANSWER, step=step, known=known)
        if text is not None and (lacking := _NO_TOOL.match(text)):
            return failed_step(
                f"no tool fits the step: {replies.first_line(lacking[1]) or 'not said why'}"
            )
        if text is not None and text.strip():
            return StepOutcome(ai_response(text), validated=True)
    return failed_step("The model gave no answer")


def failed_step(error: str) -> StepOutcome:
    """Return the outcome of a step that failed for good."""
    return StepOutcome({"success": False, "error": error, "retry": False}, validated=False)


def ai_response(text: str) -> dict[str, Any]:
    """Return the result of a step that the model answered; nothing but outer blank space is taken from it."""
    return {"type": "ai_response", "answer": text.strip()}


def _clarified(run: GoalContext, branch: Branch, step: str, tool: Tool) -> str:
    if tool.name != ANALYSIS or not is_vague(step):
        return step
    item_list = find_list(branch.context, "", run.cache_dir)
    fields = fields_of(item_list.items) if item_list else []
    if not fields:
        return step
    names = formatting.field_names(fields)
    reply = run.ask(branch.node, QuestionKind.CLARIFY, goal=branch.goal, step=step, fields=names)
    clarified = replies.first_line(reply)
    clarified_words = set(words(clarified))
    names_a_field = any(set(words(field)) <= clarified_words for field in fields)
    return clarified if names_a_field else step
