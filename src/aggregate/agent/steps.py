"""A branch of a goal: its steps one after the other, each alone or spread over sub-tasks (rule 1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aggregate.agent import formatting, reply_parsing
from aggregate.agent.answer_selection import is_failure, select_answer
from aggregate.agent.budget import LimitReached
from aggregate.agent.fan_out import (
    fan_out,
    list_to_fan_out,
    may_spawn,
    more_calls_needed,
    needs_each,
    result_list,
    template_for,
    with_results,
)
from aggregate.agent.goal_context import Branch, GoalContext
from aggregate.agent.heuristics import Iteration, advice, is_compound, iteration
from aggregate.agent.model import QuestionKind
from aggregate.agent.neuron import NO_STEPS, TOO_DEEP, Neuron, final_dict
from aggregate.agent.step_execution import StepOutcome, execute_step
from aggregate.agent.step_splitting import parts_of, run_parts
from aggregate.agent.tool_selection import choose_tool
from aggregate.agent.trace import TraceKind
from aggregate.errors import AggregateError
from aggregate.models.values import Value
from aggregate.results.references import compact_data
from aggregate.results.rendering import DENDRITES
from aggregate.tools import Tool

TOOLS_NAMED: Final = 24


@dataclass(frozen=True, slots=True)
class BranchResult:
    """The steps of a branch and what they gave; ``error`` where there were none."""

    neurons: tuple[Neuron, ...] = ()
    error: str = ""

    @property
    def results(self) -> tuple[Value, ...]:
        """What each step gave, whole."""
        return tuple(one.result for one in self.neurons)


def run_branch(run: GoalContext, branch: Branch) -> BranchResult:
    """Do all steps of a branch; a step that fails does not keep the next from running."""
    if branch.depth >= run.limits.depth:
        return BranchResult(error=TOO_DEEP)
    try:
        steps = _steps(run, branch)
    except LimitReached as reached:
        return BranchResult(error=f"{NO_STEPS}: {reached}")
    if not steps:
        return BranchResult(error=NO_STEPS)
    return BranchResult(
        tuple(run_neuron(run, branch, Neuron(step, n, branch.depth)) for n, step in enumerate(steps, 1))
    )


def _steps(run: GoalContext, branch: Branch) -> list[str]:
    """Return the steps of a goal (rule P1); a sub-task that names one thing to do is one, without a question."""
    if branch.depth > 0 and not is_compound(branch.wording(branch.goal)):
        return [branch.goal]
    memory = branch.context.get(formatting.MEMORY) or {}
    names = run.tools.names
    left = f" and {len(names) - TOOLS_NAMED} more" if len(names) > TOOLS_NAMED else ""
    text = run.ask(
        branch.node,
        QuestionKind.DECOMPOSE,
        goal=branch.goal,
        advice=advice(branch.goal),
        tools=(", ".join(names[:TOOLS_NAMED]) or "none") + left,
        memory=formatting.fenced_data(formatting.memory_line(memory), formatting.ALL) if memory else "nothing",
        most=run.limits.steps,
    )
    found = reply_parsing.parse_steps(text or "")
    if len(found) > run.limits.steps:
        dropped = "; ".join(found[run.limits.steps :])
        branch.node.warn(
            f"The goal was split into {len(found)} steps, the most is {run.limits.steps}. Left out: {dropped}"
        )
    return found[: run.limits.steps]


def run_neuron(run: GoalContext, branch: Branch, neuron: Neuron) -> Neuron:
    """Do one step, put its result into the branch's context, and return it with its result."""
    node = branch.node.child(TraceKind.NEURON, f"{neuron.depth}.{neuron.index}", neuron.description)
    with node.timed():
        outcome = _guarded(run, branch.at(node), neuron.description)
    if is_failure(outcome.result):
        node.fail(str(outcome.result.get("error") or "no reason given"))
    try:
        kept = compact_data(outcome.result, neuron.key, cache_dir=run.cache_dir, threshold=run.limits.inline_bytes)
    except AggregateError as error:
        node.warn(f"The result stays in memory: {error}")
        kept = outcome.result
    branch.context[neuron.key] = kept
    return replace(neuron, result=outcome.result, validated=outcome.validated, spawned_dendrites=outcome.spawned)


def _guarded(run: GoalContext, branch: Branch, step: str) -> StepOutcome:
    """Do a step; whatever ends it becomes its failed result."""
    try:
        return _do(run, branch, step)
    except LimitReached as reached:
        return StepOutcome({"success": False, "error": str(reached), "retry": False}, validated=False)
    except Exception as error:  # noqa: BLE001 - one step's failure is a value, and the next step still runs (1.2, 5)
        return StepOutcome({"success": False, "error": f"{type(error).__name__}: {error}"}, validated=False)


def _do(run: GoalContext, branch: Branch, step: str) -> StepOutcome:
    over = iteration(branch.wording(step)) if may_spawn(run, branch) else None
    tool = choose_tool(run, branch, step)
    parts = parts_of(run, branch, step, tool)
    if parts:
        result, labels = run_parts(run, branch, parts, tool, run_subtask)
        return StepOutcome(result, validated=not is_failure(result), spawned=labels)
    if over and (found := list_to_fan_out(run, branch, over)) and needs_each(run, branch, step, tool, found, over):
        if not found.items:
            nothing = {"success": True, "items_processed": 0, DENDRITES: [], "items": []}
            return StepOutcome(nothing, validated=True)
        template = template_for(run, branch, step, over, found, ask=False)
        if (found.digest, template) not in branch.done:
            result, labels = fan_out(run, branch, step, template, tool, found, over, run_subtask)
            return StepOutcome(result, validated=not is_failure(result), spawned=labels)
    outcome = execute_step(run, branch, step, tool)
    return _spread_after(run, branch, step, tool, over, outcome) if tool and over else outcome


def _spread_after(
    run: GoalContext, branch: Branch, step: str, tool: Tool, over: Iteration, outcome: StepOutcome
) -> StepOutcome:
    """Return the outcome with what further calls for each item of its list gave, where the step needs them (D-27)."""
    found = None if is_failure(outcome.result) else result_list(outcome.result, over.noun)
    if found is None or found.digest in branch.lists:
        return outcome
    if not more_calls_needed(run, branch, step, tool, found, over):
        return outcome
    template = template_for(run, branch, step, over, found, ask=True)
    other = choose_tool(run, branch, template)
    if other is not None and other.name == tool.name:
        return outcome
    result, labels = fan_out(run, branch, step, template, other, found, over, run_subtask)
    if not labels:
        return outcome
    whole = with_results(outcome.result, found, result)
    return StepOutcome(whole, validated=outcome.validated and not is_failure(result), spawned=labels)


def run_subtask(run: GoalContext, branch: Branch) -> Value:
    """Do a sub-task and return what it gave: the result of its one step, or the answer of several."""
    with branch.node.timed():
        done = run_branch(run, branch)
    if done.error:
        branch.node.fail(done.error)
        return {"success": False, "error": done.error}
    result = done.neurons[0].result if len(done.neurons) == 1 else _final(branch.goal, done.neurons)
    if is_failure(result):
        branch.node.fail(str(result.get("error") or "no reason given"))
    return result


def _final(goal: str, neurons: Sequence[Neuron]) -> Value:
    answer = select_answer(goal, [one.result for one in neurons], descriptions=[one.description for one in neurons])
    if not answer.success:
        return {"success": False, "error": answer.summary}
    return {"success": True, "goal": goal, "final": final_dict(answer)}
