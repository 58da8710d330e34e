"""Execute a goal's steps in order: each whole, in parts, or for each item (D-1, D-20, D-30, D-50).

A step is one loop: find the arguments, call the tool, check the result, and try again with the reason of a failure.
"""

import re
from dataclasses import replace
from typing import Final

from aggregate.agents.goals import calls, questions, step_items
from aggregate.agents.goals.calls import Branch, ItemsUnclear, StepFailed, StepOutcome
from aggregate.agents.goals.goal_result import (
    NO_STEPS,
    TOO_DEEP,
    Neuron,
    TraceKind,
    answer_of,
    failure_message,
    final_dict,
    is_failure,
)
from aggregate.agents.goals.questions import QuestionKind, fenced_data
from aggregate.agents.goals.step_items import meant_items
from aggregate.agents.goals.words import advice, find_iteration, is_compound
from aggregate.agents.limits import Limit, LimitReached
from aggregate.agents.tools import Tool
from aggregate.base.concurrency import ordered_map
from aggregate.base.errors import AggregateError
from aggregate.base.values import Value
from aggregate.prompt.output.references import compact_data

# Tools in the question for the steps
TOOLS_NAMED: Final = 24
REJECTED: Final = "The last result did not answer the step. Try another way."
# The answer of a model without a way to do the step
_NO_TOOL: Final = re.compile(r"\W*no tool fits\W*(.*)", re.IGNORECASE | re.DOTALL)


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
    is_one = branch.chosen or not is_compound(branch.deciding_text(branch.goal))
    if branch.depth > 0 and is_one:
        return [branch.goal]
    names, limit = branch.run.tools.names, branch.run.limits.steps
    listed = ", ".join(names[:TOOLS_NAMED]) or "none"
    if len(names) > TOOLS_NAMED:
        listed += f" and {len(names) - TOOLS_NAMED} more"
    memory = questions.memory_line(branch.context.get(questions.MEMORY_KEY) or {})
    if memory != "nothing":
        memory = fenced_data(memory, questions.ALL_RESULTS)
    steps: list[str] = []
    for _ in range(2):
        reply = branch.ask(
            QuestionKind.DECOMPOSE,
            goal=branch.goal,
            advice=advice(branch.goal),
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
            in_step = replace(branch, node=node)
            outcome = _do_step(in_step, step, calls.choose_tool(in_step, step))
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
    result = stored = outcome.result
    if is_failure(result):
        node.fail(failure_message(result))
    cache_dir, threshold = branch.run.cache_dir, branch.run.limits.inline_bytes
    try:
        stored = compact_data(result, neuron.key, cache_dir=cache_dir, threshold=threshold)
    except AggregateError as error:
        node.warnings.append(f"The result could not be written to disk: {error}")
    branch.context[neuron.key] = stored
    is_valid, spawned = outcome.validated, outcome.spawned
    return replace(neuron, result=result, validated=is_valid, spawned_dendrites=spawned)


def _do_step(branch: Branch, step: str, tool: Tool | None) -> StepOutcome:
    """Execute a step whole, in parts, or item by item."""
    iteration = find_iteration(branch.deciding_text(step)) if branch.may_spawn else None
    reach = step_items.list_in_reach(branch, step, tool, iteration) if branch.may_spawn else None
    if (
        tool
        and reach
        and (not reach.iteration.phrase or step_items.needs_each(branch, reach, tool))
    ):
        return _for_chosen(branch, reach, tool)
    if parts := step_items.parts_of(branch, step, tool):
        fields = {"decided": tool is not None, "tool": tool}
        below = [branch.below(number, part, **fields) for number, part in enumerate(parts, 1)]
        return _spawned(below, step_items.parts_result(parts, _results(branch, below)))
    loop = step_items.find_loop(branch, step, iteration) if iteration else None
    if loop and step_items.needs_each(branch, loop, tool):
        if not loop.source.items:
            return _over_items(branch, loop, [])
        template = step_items.template_for(branch, loop)
        if (loop.source.digest, template) not in branch.finished_loops:
            below = step_items.item_branches(branch, loop, template, tool)
            return _over_items(branch, loop, below)
    # The call for an item is about the item. A step for each item shows later whether one call was enough.
    takes_item = (
        branch.item is not None and tool and calls.item_fills(tool, branch.item, branch.noun)
    )
    outcome = execute_step(branch, step, tool, trusted=bool(iteration or takes_item))
    if not tool or not iteration or not outcome.validated:
        return outcome
    loop = step_items.loop_over_result(branch, step, iteration, outcome.result)
    if loop and (of_items := _over_result(branch, loop, tool, outcome)):
        return of_items
    return _checked(branch, step, outcome) if _claims_success(outcome.result) else outcome


def _for_chosen(branch: Branch, reach: step_items.Loop, tool: Tool) -> StepOutcome:
    """Call the tool for the chosen item, or start a sub-task for each of several."""
    loop = meant_items(branch, reach)
    if loop is None:
        without_items = replace(branch, other_items=reach.source.items)
        return execute_step(without_items, reach.step, tool, trusted=False)
    noun = loop.iteration.noun
    if len(loop.source.items) == 1 and not loop.iteration.phrase:
        (item,) = loop.source.items
        context = {**branch.context, f"dendrite_item_{branch.depth}_1": item}
        item_branch = replace(branch, item=item, noun=noun, chosen=True, context=context)
        return execute_step(
            item_branch, reach.step, tool, trusted=calls.item_fills(tool, item, noun)
        )
    template = step_items.template_for(branch, loop)
    below = step_items.item_branches(branch, loop, template, tool, chosen=loop is not reach)
    return _over_items(branch, loop, below)


def _over_result(
    branch: Branch, loop: step_items.Loop, tool: Tool, outcome: StepOutcome
) -> StepOutcome | None:
    """Call another tool for each item of a step's result, if necessary (D-27)."""
    if not step_items.more_calls_needed(branch, loop, tool):
        return None
    template = step_items.template_for(branch, loop, ask=True)
    try:
        item_tool = calls.choose_tool(branch, template)
        if item_tool is not None and item_tool.name == tool.name:
            return None
        below = step_items.item_branches(branch, loop, template, item_tool)
    except StepFailed as reason:
        branch.warn(f'Nothing was done for each item of "{loop.step}": {reason}')
        return None
    of_items = _over_items(branch, loop, below)
    result = step_items.with_results(outcome.result, loop.source, of_items.result)
    return replace(of_items, result=result)


def _over_items(branch: Branch, loop: step_items.Loop, below: list[Branch]) -> StepOutcome:
    items = [subtask.item for subtask in below]
    return _spawned(below, step_items.items_result(branch, loop, items, _results(branch, below)))


def _spawned(below: list[Branch], result: dict[str, Value]) -> StepOutcome:
    labels = tuple(subtask.node.label for subtask in below)
    return StepOutcome(result, validated=not is_failure(result), spawned=labels)


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
        answer = answer_of(branch.goal, neurons)
        result = {"success": False, "error": answer.summary}
        if answer.success:
            result = {"success": True, "goal": branch.goal, "final": final_dict(answer)}
    if is_failure(result):
        branch.node.fail(failure_message(result))
    return result


def execute_step(branch: Branch, step: str, tool: Tool | None, *, trusted: bool) -> StepOutcome:
    """Execute a step by its tool or the model alone.

    If the tool reports success and the step is ``trusted``, its result is accepted; else the model checks it. If the
    model rejects the result, the call is repeated only for tools that read.
    """
    if tool is None:
        return _answer_step(branch, step)
    step = calls.clarified(branch, step, tool)
    feedback = calls.FailureFeedback()
    outcome = StepOutcome(None, validated=False)
    attempts = branch.run.limits.attempts
    for number in range(1, attempts + 1):
        arguments = calls.arguments_for(branch, step, tool, feedback)
        for item in branch.other_items:  # which the step does not mean
            for name, value in calls.item_arguments(tool, item, branch.noun).items():
                if str(arguments.get(name)) == str(value):
                    reason = f"would be called for {value}, which the step does not mean"
                    raise ItemsUnclear(f"{tool.name} {reason}")
        result = branch.call(tool, arguments)
        outcome = StepOutcome(result, validated=not is_failure(result))
        if is_failure(result):
            # Without a word of a retry none can help (D-55).
            if result.get("retry") is not True or number == attempts:
                return outcome
            feedback = calls.reflect(branch, step, tool, arguments, result)
            continue
        if trusted and _claims_success(result):
            return outcome
        outcome = _checked(branch, step, outcome)
        if outcome.validated or not tool.reads:
            return outcome
        feedback = calls.FailureFeedback(REJECTED)
    return outcome


def _answer_step(branch: Branch, step: str) -> StepOutcome:
    """Let the model do a step alone (P17)."""
    most = questions.FOR_ANSWER
    for _ in range(branch.run.limits.attempts):
        known = questions.known_results(branch.context, each=most, most=most)
        text = (branch.ask(QuestionKind.ANSWER, step=step, known=known) or "").strip()
        if lacking := _NO_TOOL.match(text):
            reason = questions.first_line(lacking[1]) or "no reason given"
            raise StepFailed(f"no tool fits the step: {reason}")
        if text:  # whole: a line of one word may be the answer
            return StepOutcome({"type": "ai_response", "answer": text}, validated=True)
    raise StepFailed("The model gave no answer")


def _claims_success(result: Value) -> bool:
    return isinstance(result, dict) and ("success" in result or "error" in result)


def _checked(branch: Branch, step: str, outcome: StepOutcome) -> StepOutcome:
    """Return an outcome, marked as invalid if it is empty or the model rejects it (X-15)."""
    is_rejected = outcome.result is None or outcome.result == ""
    if not is_rejected:
        result = fenced_data(outcome.result, questions.ALL_RESULTS)
        try:
            reply = branch.ask(QuestionKind.VALIDATE, step=step, result=result)
        except LimitReached as reached:
            branch.warn(f'The result of "{step}" was not checked: {reached}')
            return outcome  # the call was made
        is_rejected = questions.yes_or_no(reply) is False
    if not is_rejected:
        return outcome
    branch.warn(f'The result of "{step}" was accepted though no check confirmed it.')
    return replace(outcome, validated=False)
