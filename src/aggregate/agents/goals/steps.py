"""Execute a goal's steps in order (D-1, D-20, D-30)."""

from dataclasses import replace

from aggregate.agents.goals import (
    answers,
    chosen_items,
    fan_out,
    heuristics,
    questions,
    result_texts,
)
from aggregate.agents.goals.execution import checked, claims_success, execute_step, item_fills
from aggregate.agents.goals.goal_context import Branch, ItemsUnclear, StepFailed, StepOutcome
from aggregate.agents.goals.goal_result import NO_STEPS, TOO_DEEP, Neuron, TraceKind, final_dict
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.tool_selection import choose_tool
from aggregate.agents.limits import Limit, LimitReached
from aggregate.agents.tools import Tool
from aggregate.base.concurrency import ordered_map
from aggregate.base.errors import AggregateError
from aggregate.base.values import Value
from aggregate.prompt.output.references import compact_data

# Tools in the question for the steps
TOOLS_NAMED = 24


def run_branch(branch: Branch) -> tuple[tuple[Neuron, ...], str]:
    """Execute all steps of a goal; return them, and an error if there are none."""
    if branch.depth >= branch.run.limits.depth:
        return (), TOO_DEEP
    try:
        steps = _steps(branch)
    except LimitReached as reached:
        branch.run.budget.stop(reached.limit, branch.node.place)
        return (), f"{NO_STEPS}: {reached}"
    neurons = [Neuron(step, number, branch.depth) for number, step in enumerate(steps, 1)]
    done = tuple(run_neuron(branch, neuron) for neuron in neurons)
    return done, "" if done else NO_STEPS


def _steps(branch: Branch) -> list[str]:
    """Let the model split a goal into steps (P1).

    Ask again if the answer has no steps. A sub-task with a single action is one step, without a question.
    """
    is_one = branch.chosen or not heuristics.is_compound(branch.deciding_text(branch.goal))
    if branch.depth > 0 and is_one:
        return [branch.goal]
    names, limit = branch.run.tools.names, branch.run.limits.steps
    listed = ", ".join(names[:TOOLS_NAMED]) or "none"
    if len(names) > TOOLS_NAMED:
        listed += f" and {len(names) - TOOLS_NAMED} more"
    memory = result_texts.memory_line(branch.context.get(result_texts.MEMORY_KEY) or {})
    if memory != "nothing":
        memory = result_texts.fenced_data(memory, result_texts.ALL_RESULTS)
    steps: list[str] = []
    for _ in range(2):
        reply = branch.ask(
            QuestionKind.DECOMPOSE,
            goal=branch.goal,
            advice=heuristics.advice(branch.goal),
            tools=listed,
            memory=memory,
            most=limit,
        )
        if steps := questions.parse_plan(reply or "", branch.goal):
            break
    if branch.depth == 0:
        branch.run.budget.planned = len(steps)
    if len(steps) > limit:
        branch.run.budget.stop(Limit.STEPS, branch.node.place)
        dropped = "; ".join(steps[limit:])
        branch.warn(
            f"The goal was split into {len(steps)} steps, but at most {limit} are allowed. Left out: {dropped}"
        )
    return steps[:limit]


def run_neuron(branch: Branch, neuron: Neuron) -> Neuron:
    """Execute one step; store its result in the goal's context."""
    step = neuron.description
    node = branch.node.child(TraceKind.NEURON, f"{neuron.depth}.{neuron.index}", step)
    with node.timed():
        try:
            in_step = branch.at(node)
            outcome = _do_step(in_step, step, choose_tool(in_step, step))
        except (LimitReached, StepFailed) as reason:
            if isinstance(reason, LimitReached):
                branch.run.budget.stop(reason.limit, node.place)
            if isinstance(reason, ItemsUnclear):
                branch.run.unclear.append(str(reason))
            failure = {"success": False, "error": str(reason), "retry": False}
            outcome = StepOutcome(failure, validated=False)
        except Exception as error:  # noqa: BLE001 - one step's failure is a value, and the next step still runs
            failure = {"success": False, "error": f"{type(error).__name__}: {error}"}
            outcome = StepOutcome(failure, validated=False)
    if result_texts.is_failure(outcome.result):
        node.fail(result_texts.failure_message(outcome.result))
    stored = outcome.result
    try:
        stored = compact_data(
            outcome.result,
            neuron.key,
            cache_dir=branch.run.cache_dir,
            threshold=branch.run.limits.inline_bytes,
        )
    except AggregateError as error:
        node.warn(f"The result could not be written to disk: {error}")
    branch.context[neuron.key] = stored
    return replace(
        neuron,
        result=outcome.result,
        validated=outcome.validated,
        spawned_dendrites=outcome.spawned,
    )


def _do_step(branch: Branch, step: str, tool: Tool | None) -> StepOutcome:
    """Execute a step whole, in parts, or item by item."""
    iteration = None
    if fan_out.may_spawn(branch):
        iteration = heuristics.find_iteration(branch.deciding_text(step))
        reach = chosen_items.list_in_reach(branch, step, tool, iteration) if tool else None
        if (
            tool
            and reach
            and (not reach.iteration.phrase or fan_out.needs_each(branch, reach, tool))
        ):
            return _for_chosen(branch, reach, tool)
    if parts := fan_out.parts_of(branch, step, tool):
        fields = {"decided": tool is not None, "tool": tool}
        below = [branch.below(number, part, **fields) for number, part in enumerate(parts, 1)]
        return _spawned(below, fan_out.parts_result(parts, _results(branch, below)))
    loop = fan_out.find_loop(branch, step, iteration) if iteration else None
    if loop and fan_out.needs_each(branch, loop, tool):
        if not loop.source.items:
            return _spawned([], fan_out.items_result(branch, loop, [], []))
        template = fan_out.template_for(branch, loop, ask=False)
        if (loop.source.digest, template) not in branch.finished_loops:
            return _over_items(branch, loop, fan_out.item_branches(branch, loop, template, tool))
    # The call for an item is about the item. A step for each item shows later whether one call was enough.
    takes_item = branch.item is not None and tool and item_fills(tool, branch.item, branch.noun)
    outcome = execute_step(branch, step, tool, trusted=bool(iteration or takes_item))
    if not tool or not iteration or not outcome.validated:
        return outcome
    loop = fan_out.loop_over_result(branch, step, iteration, outcome.result)
    if loop and (spread := _over_result(branch, loop, tool, outcome)):
        return spread
    return checked(branch, step, outcome) if claims_success(outcome.result) else outcome


def _for_chosen(branch: Branch, reach: fan_out.Loop, tool: Tool) -> StepOutcome:
    """Call the tool for the chosen item, or start a sub-task for each of several."""
    loop = chosen_items.meant_items(branch, reach)
    if loop is None:
        without_items = replace(branch, other_items=reach.source.items)
        return execute_step(without_items, reach.step, tool, trusted=False)
    noun = loop.iteration.noun
    if len(loop.source.items) == 1 and not loop.iteration.phrase:
        (item,) = loop.source.items
        context = {**branch.context, f"dendrite_item_{branch.depth}_1": item}
        item_branch = replace(branch, item=item, noun=noun, chosen=True, context=context)
        return execute_step(item_branch, reach.step, tool, trusted=item_fills(tool, item, noun))
    template = fan_out.template_for(branch, loop, ask=False)
    below = fan_out.item_branches(branch, loop, template, tool, chosen=loop is not reach)
    return _over_items(branch, loop, below)


def _over_result(
    branch: Branch, loop: fan_out.Loop, tool: Tool, outcome: StepOutcome
) -> StepOutcome | None:
    """Call another tool for each item of a step's result, if necessary (D-27)."""
    if not fan_out.more_calls_needed(branch, loop, tool):
        return None
    template = fan_out.template_for(branch, loop, ask=True)
    try:
        item_tool = choose_tool(branch, template)
        if item_tool is not None and item_tool.name == tool.name:
            return None
        below = fan_out.item_branches(branch, loop, template, item_tool)
    except StepFailed as reason:
        branch.warn(f'Nothing was done for each item of "{loop.step}": {reason}')
        return None
    of_items = _over_items(branch, loop, below)
    result = fan_out.with_results(outcome.result, loop.source, of_items.result)
    return replace(of_items, result=result)


def _over_items(branch: Branch, loop: fan_out.Loop, below: list[Branch]) -> StepOutcome:
    items = [subtask.item for subtask in below]
    return _spawned(below, fan_out.items_result(branch, loop, items, _results(branch, below)))


def _spawned(below: list[Branch], result: dict[str, Value]) -> StepOutcome:
    labels = tuple(subtask.node.label for subtask in below)
    return StepOutcome(result, validated=not result_texts.is_failure(result), spawned=labels)


def _results(branch: Branch, below: list[Branch]) -> list[Value]:
    """Run sub-tasks and return their results in order; only the first level runs in parallel."""
    workers = min(branch.run.limits.workers, len(below)) if branch.depth == 0 else 1
    try:
        if workers <= 1:
            return list(map(_subtask_result, below))
        return ordered_map("dendrite", _subtask_result, below, workers=workers)
    except BaseException:
        branch.run.budget.cancelled = True  # the other threads of an interrupted goal ask no more
        raise


def _subtask_result(branch: Branch) -> Value:
    with branch.node.timed():
        neurons, error = run_branch(branch)
    result: Value = {"success": False, "error": error}
    if len(neurons) == 1:
        result = neurons[0].result
    elif neurons:
        answer = answers.answer_of(branch.goal, neurons)
        result = {"success": False, "error": answer.summary}
        if answer.success:
            result = {"success": True, "goal": branch.goal, "final": final_dict(answer)}
    if result_texts.is_failure(result):
        branch.node.fail(result_texts.failure_message(result))
    return result
