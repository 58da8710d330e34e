"""Doing one step: up to three executions, each failure reflected on, each result checked (rules D-50, X-15)."""

from typing import Any, Final

from aggregate.agent import formatting, reply_parsing
from aggregate.agent.answer_selection import is_failure
from aggregate.agent.goal_context import Branch, GoalContext
from aggregate.agent.heuristics import is_vague, words
from aggregate.agent.item_lists import fields_of, find_list
from aggregate.agent.model import QuestionKind
from aggregate.agent.neuron import StepOutcome
from aggregate.agent.reflection import reflect
from aggregate.agent.tool_arguments import FailureFeedback, arguments_for
from aggregate.models.values import Value
from aggregate.tools import ANALYSIS, Tool

REJECTED: Final = (
    "The last result was judged not to give what the step asked for. Do it differently."
)


def execute_step(run: GoalContext, branch: Branch, step: str, tool: Tool | None) -> StepOutcome:
    """Do ``step`` with ``tool``, or by the model alone where there is none."""
    if tool is None:
        return _answer_step(run, branch, step)
    step = _clarified(run, branch, step, tool)
    feedback = FailureFeedback()
    outcome = StepOutcome(None, validated=False)
    for attempts_left in reversed(range(run.limits.attempts)):
        arguments = arguments_for(run, branch, step, tool, feedback)
        result = run.call(branch.node, tool, arguments, branch.context)
        outcome = StepOutcome(result, validated=False)
        if is_failure(result):
            # No word of a retry means that none can help (D-55); after the last one there is nothing to reflect for.
            if not attempts_left or result.get("retry") is not True:
                return outcome
            feedback = reflect(run, branch, step, tool, arguments, result)
        elif _is_right(run, branch, step, result):
            return StepOutcome(result, validated=True)
        else:
            feedback = FailureFeedback(REJECTED)
    branch.node.warn(f'The result of "{step}" was accepted though no check confirmed it.')
    return outcome


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
        if text is not None and text.strip():
            return StepOutcome(ai_response(text), validated=True)
    return StepOutcome({"success": False, "error": "The model gave no answer"}, validated=False)


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
