"""Whether the answer is what the goal asked for, and one corrective step where it is not (rules P12 to P14, D-67)."""

from dataclasses import dataclass
from typing import Final

from aggregate.agents.goals import formatting, reply_parsing
from aggregate.agents.goals.answer_selection import is_failure
from aggregate.agents.goals.branch import Branch
from aggregate.agents.goals.budget import LimitReached
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.goals.neuron import Neuron
from aggregate.agents.goals.quantities import extract_quantity
from aggregate.agents.goals.steps import BranchResult, run_neuron
from aggregate.base.values import Answer, AnswerKind

MOST_MISSING: Final = 300
"""Characters of what is missing: it is one sentence."""


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """What a look at the answer gave.

    Attributes:
        missing: What the answer lacks, on one line; ``""`` for nothing.
        corrective: The step that was done for that, with its result; ``None`` where there is none that succeeded.
    """

    missing: str = ""
    corrective: Neuron | None = None


def check_answer(
    run: GoalContext, branch: Branch, done: BranchResult, answer: Answer
) -> AnswerCheck:
    """Return what the answer lacks, and one corrective step for it.

    The step works with what is there: nothing is fetched again.
    """
    missing = ""
    try:
        missing = _missing(run, branch, answer)
        if not missing:
            return AnswerCheck()
        known = formatting.known_results(branch.context)
        reply = run.ask(
            branch.node, QuestionKind.CORRECT, goal=branch.goal, missing=missing, known=known
        )
    except LimitReached as reached:
        branch.node.warn(f"The answer was not {'corrected' if missing else 'checked'}: {reached}")
        return AnswerCheck(missing)
    step = reply_parsing.first_line(reply)
    if not step:
        return AnswerCheck(missing)
    context = {**branch.context, "answer_so_far": answer.summary}
    corrective = Branch(branch.goal, branch.depth, branch.node, context, corrective=True)
    neuron = run_neuron(run, corrective, Neuron(step, len(done.neurons) + 1, branch.depth))
    if is_failure(neuron.result):
        branch.node.warn(
            f"The corrective step failed, the answer stays: {neuron.result.get('error')}"
        )
        return AnswerCheck(missing)
    branch.context[neuron.key] = corrective.context[neuron.key]
    return AnswerCheck(missing, neuron)


def still_missing(goal: str, check: AnswerCheck, answer: Answer) -> str:
    """Return what the answer chosen after a check still lacks, ``""`` for nothing that is known.

    The corrective step gave what was missing where the answer is its text, unless the rules say otherwise.
    """
    if not check.missing:
        return ""
    is_corrected = check.corrective is not None and answer.source.index == check.corrective.index
    if is_corrected and answer.source.kind is not AnswerKind.VALUE:
        return verdict(goal, answer) or ""
    return check.missing


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
    sentence = " ".join((reply or "").split())
    return formatting.clip(sentence, MOST_MISSING) or "not said what is missing"


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
