"""Whether the answer is what the goal asked for, and one corrective step where it is not (rules P12 to P14, D-67)."""

from aggregate.agent import formatting, reply_parsing
from aggregate.agent.answer_selection import is_failure
from aggregate.agent.budget import LimitReached
from aggregate.agent.goal_context import Branch, GoalContext
from aggregate.agent.model import QuestionKind
from aggregate.agent.neuron import Neuron
from aggregate.agent.quantities import extract_quantity
from aggregate.agent.steps import BranchResult, run_neuron
from aggregate.models.result import Answer, AnswerKind


def corrective_neuron(
    run: GoalContext, branch: Branch, done: BranchResult, answer: Answer
) -> Neuron | None:
    """Return the corrective step with its result, ``None`` where none is needed or it failed.

    It works with what is there: nothing is fetched again.
    """
    try:
        missing = _missing(run, branch, answer)
        if not missing:
            return None
        known = formatting.known_results(branch.context)
        reply = run.ask(
            branch.node, QuestionKind.CORRECT, goal=branch.goal, missing=missing, known=known
        )
    except LimitReached as reached:
        branch.node.warn(f"The answer was not checked: {reached}")
        return None
    step = reply_parsing.first_line(reply)
    if not step:
        return None
    context = {**branch.context, "answer_so_far": answer.summary}
    corrective = Branch(branch.goal, branch.depth, branch.node, context, corrective=True)
    neuron = run_neuron(run, corrective, Neuron(step, len(done.neurons) + 1, branch.depth))
    if is_failure(neuron.result):
        branch.node.warn(
            f"The corrective step failed, the answer stays: {neuron.result.get('error')}"
        )
        return None
    branch.context[neuron.key] = corrective.context[neuron.key]
    return neuron


def _missing(run: GoalContext, branch: Branch, answer: Answer) -> str:
    """Return what the answer lacks, ``""`` for nothing; the model is asked only where no rule decides."""
    if not answer.success:
        return ""  # nothing usable is there to work with
    by_rule = verdict(branch.goal, answer)
    if by_rule is not None:
        return by_rule
    summary = formatting.fenced_data(answer.summary, formatting.ALL)
    reply = run.ask(branch.node, QuestionKind.COMPLETE, goal=branch.goal, answer=summary)
    if reply_parsing.yes_or_no(reply) is not False:
        return ""
    reply = run.ask(branch.node, QuestionKind.MISSING, goal=branch.goal, answer=summary)
    return (reply or "").strip() or "not said"


def verdict(goal: str, answer: Answer) -> str | None:
    """Return what the answer lacks by rules, ``""`` for nothing, ``None`` where they do not decide.

    As many lines as the goal asks for, or a count for a goal that counts, are all that was asked; more lines are not.
    """
    if answer.source.kind is AnswerKind.COUNT:
        return ""
    target = extract_quantity(goal)
    if target is None or answer.source.kind not in (
        AnswerKind.PYTHON,
        AnswerKind.AI,
        AnswerKind.TEXT,
    ):
        return None
    lines = len([line for line in answer.summary.splitlines() if line.strip()])
    if lines > target:
        return f"The goal asks for {target}, the answer has {lines} lines."
    return "" if lines == target else None
