"""Doing one step: up to three executions, each failure reflected on, each result checked (rules D-50, X-15)."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from aggregate.agents.goals import formatting, reply_parsing
from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.branch import Branch
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.heuristics import is_vague, words
from aggregate.agents.goals.item_lists import fields_of, find_list
from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.goals.neuron import StepOutcome
from aggregate.agents.goals.reflection import reflect
from aggregate.agents.goals.tool_arguments import FailureFeedback, arguments_for
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.values import Value

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
    return reply_parsing.yes_or_no(reply) is not False


def _answer_step(run: GoalContext, branch: Branch, step: str) -> StepOutcome:
    """Do a step by the model alone (rule P17)."""
    for _ in range(run.limits.attempts):
        known = formatting.known_results(
            branch.context, each=formatting.ANSWER, most=formatting.ANSWER
        )
        text = run.ask(branch.node, QuestionKind.ANSWER, step=step, known=known)
        if text is not None and (lacking := _NO_TOOL.match(text)):
            return failed_step(
                f"no tool fits the step: {reply_parsing.first_line(lacking[1]) or 'not said why'}"
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
    """Return a vague step with the fields that it needs, if the model names some that exist (rule P3)."""
    if tool.name != ANALYSIS or not is_vague(step):
        return step
    item_list = find_list(branch.context, "", run.cache_dir)
    fields = fields_of(item_list.items) if item_list else []
    if not fields:
        return step
    names = formatting.field_names(fields)
    reply = run.ask(branch.node, QuestionKind.CLARIFY, goal=branch.goal, step=step, fields=names)
    clarified = reply_parsing.first_line(reply)
    clarified_words = set(words(clarified))
    names_a_field = any(set(words(field)) <= clarified_words for field in fields)
    return clarified if names_a_field else step
