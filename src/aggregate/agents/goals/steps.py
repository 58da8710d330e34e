"""A branch of a goal: its steps one after the other, each alone or spread over sub-tasks (rules D-1, D-20)."""

from dataclasses import dataclass, replace
from typing import Final

from aggregate.agents.goals import formatting, replies
from aggregate.agents.goals.answer_selection import failure_message, is_failure, select_answer
from aggregate.agents.goals.budget import Limit, LimitReached
from aggregate.agents.goals.fan_out import (
    fan_out,
    find_loop,
    loop_over_result,
    more_calls_needed,
    needs_each,
    template_for,
    with_results,
)
from aggregate.agents.goals.formatting import DENDRITES
from aggregate.agents.goals.goal_context import Branch, GoalContext, StepOutcome
from aggregate.agents.goals.goal_result import (
    NO_STEPS,
    TOO_DEEP,
    Neuron,
    TraceKind,
    final_dict,
)
from aggregate.agents.goals.heuristics import Iteration, advice, find_iteration, is_compound
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.step_execution import ChooseOther, execute_step, failed_step
from aggregate.agents.goals.subtasks import may_spawn, parts_of, run_parts
from aggregate.agents.goals.tool_selection import choose_tool
from aggregate.agents.tools import Tool
from aggregate.base.errors import AggregateError
from aggregate.base.values import Value
from aggregate.prompt import compact_data

TOOLS_NAMED: Final = 24
"""Tools that the question for the steps names; it stays short however many there are."""


@dataclass(frozen=True, slots=True)
class BranchResult:
    """The steps of a branch and what they gave; ``error`` where there were none."""

    neurons: tuple[Neuron, ...] = ()
    error: str = ""

    @property
    def results(self) -> tuple[Value, ...]:
        """What each step gave, whole."""
        return tuple(neuron.result for neuron in self.neurons)

    @property
    def descriptions(self) -> tuple[str, ...]:
        """What each step was to do."""
        return tuple(neuron.description for neuron in self.neurons)


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
    neurons = [Neuron(step, number, branch.depth) for number, step in enumerate(steps, 1)]
    return BranchResult(tuple(run_neuron(run, branch, neuron) for neuron in neurons))


def _steps(run: GoalContext, branch: Branch) -> list[str]:
    """Return the steps of a goal (rule P1), asked twice where nothing can be read.

    A sub-task that names one thing to do is one step, without a question.
    """
    if branch.depth > 0 and not is_compound(branch.deciding_text(branch.goal)):
        return [branch.goal]
    steps = _asked_steps(run, branch) or _asked_steps(run, branch)
    most = run.limits.steps
    if len(steps) > most:
        run.budget.reach(Limit.STEPS)
        dropped = "; ".join(steps[most:])
        branch.node.warn(
            f"The goal was split into {len(steps)} steps, the most is {most}. Left out: {dropped}"
        )
    return steps[:most]


def _asked_steps(run: GoalContext, branch: Branch) -> list[str]:
    names = run.tools.names
    listed = ", ".join(names[:TOOLS_NAMED]) or "none"
    if len(names) > TOOLS_NAMED:
        listed += f" and {len(names) - TOOLS_NAMED} more"
    reply = run.ask(
        branch.node,
        QuestionKind.DECOMPOSE,
        goal=branch.goal,
        advice=advice(branch.goal),
        tools=listed,
        memory=formatting.fenced_memory(branch.context.get(formatting.MEMORY) or {}),
        most=run.limits.steps,
    )
    return replies.parse_plan(reply or "", branch.goal)


def run_neuron(run: GoalContext, branch: Branch, neuron: Neuron) -> Neuron:
    """Do one step, put its result into the branch's context, and return it with its result."""
    step = neuron.description
    node = branch.node.child(TraceKind.NEURON, f"{neuron.depth}.{neuron.index}", step)
    with node.timed():
        try:
            outcome = _do_step(run, branch.at(node), step)
        except LimitReached as reached:
            outcome = failed_step(str(reached))
        except Exception as error:  # noqa: BLE001 - one step's failure is a value, and the next step still runs
            failure = {"success": False, "error": f"{type(error).__name__}: {error}"}
            outcome = StepOutcome(failure, validated=False)
    if is_failure(outcome.result):
        node.fail(failure_message(outcome.result))
    try:
        branch.context[neuron.key] = compact_data(
            outcome.result, neuron.key, cache_dir=run.cache_dir, threshold=run.limits.inline_bytes
        )
    except AggregateError as error:
        node.warn(f"The result stays in memory: {error}")
        branch.context[neuron.key] = outcome.result
    return replace(
        neuron,
        result=outcome.result,
        validated=outcome.validated,
        spawned_dendrites=outcome.spawned,
    )


def _do_step(run: GoalContext, branch: Branch, step: str) -> StepOutcome:
    """Do a step with the tool that it needs; where that fails, with another one if the model names one.

    What another tool does is the step's result if it succeeds, else the first failure is. All executions count
    together (rule D-7).
    """
    choice = choose_tool(run, branch, step)
    if choice.problem:
        return failed_step(choice.problem)

    def choose_other(failed: Tool, error: str) -> Tool | None:
        return choose_tool(run, branch, step, failed=(failed.name,), error=error).tool

    attempts, tool = run.limits.attempts, choice.tool
    decided_above = branch.chosen is not None or branch.corrective or len(run.tools) < 2
    outcome = _do_with(
        run, branch, step, tool, attempts, choose_other=None if decided_above else choose_other
    )
    other = outcome.other
    if tool and outcome.spawned and is_failure(outcome.result) and not decided_above:
        other = choose_other(tool, failure_message(outcome.result))
    if other is None:
        return outcome
    repeated = _do_with(run, branch, step, other, attempts - outcome.executions)
    return outcome if is_failure(repeated.result) else repeated


def _do_with(
    run: GoalContext,
    branch: Branch,
    step: str,
    tool: Tool | None,
    attempts: int,
    *,
    choose_other: ChooseOther | None = None,
) -> StepOutcome:
    """Do a step with what was chosen: in its parts, for each item of a list that is there, or as a whole."""
    parts = parts_of(run, branch, step, tool)
    if parts:
        return run_parts(run, branch, parts, tool, _run_subtask)
    iteration = find_iteration(branch.deciding_text(step)) if may_spawn(run, branch) else None
    loop = find_loop(run, branch, step, iteration) if iteration else None
    if loop and needs_each(run, branch, loop, tool):
        if not loop.items:
            nothing = {"success": True, "items_processed": 0, DENDRITES: [], "items": []}
            return StepOutcome(nothing, validated=True)
        template = template_for(run, branch, loop, ask=False)
        if (loop.source.digest, template) not in branch.finished_loops:
            return fan_out(run, branch, loop, template, tool, _run_subtask)
    outcome = execute_step(run, branch, step, tool, attempts=attempts, choose_other=choose_other)
    if tool and iteration and not outcome.other:
        return _fan_out_after(run, branch, step, tool, iteration, outcome)
    return outcome


def _fan_out_after(
    run: GoalContext,
    branch: Branch,
    step: str,
    tool: Tool,
    iteration: Iteration,
    outcome: StepOutcome,
) -> StepOutcome:
    loop = loop_over_result(branch, step, iteration, outcome.result)
    if loop is None or not more_calls_needed(run, branch, loop, tool):
        return outcome
    template = template_for(run, branch, loop, ask=True)
    item_choice = choose_tool(run, branch, template)
    item_tool = item_choice.tool
    if item_choice.problem or (item_tool is not None and item_tool.name == tool.name):
        return outcome
    of_items = fan_out(run, branch, loop, template, item_tool, _run_subtask)
    if not of_items.spawned:
        return outcome
    return StepOutcome(
        with_results(outcome.result, loop.source, of_items.result),
        validated=outcome.validated and of_items.validated,
        spawned=of_items.spawned,
    )


def _run_subtask(run: GoalContext, branch: Branch) -> Value:
    """Do a sub-task and return what it gave: the result of its one step, or the answer of several."""
    with branch.node.timed():
        done = run_branch(run, branch)
    result: Value
    if done.error:
        result = {"success": False, "error": done.error}
    elif len(done.neurons) == 1:
        result = done.results[0]
    else:
        answer = select_answer(branch.goal, done.results, descriptions=done.descriptions)
        if answer.success:
            return {"success": True, "goal": branch.goal, "final": final_dict(answer)}
        result = {"success": False, "error": answer.summary}
    if is_failure(result):
        branch.node.fail(failure_message(result))
    return result
