"""Spreading a step over the items of a list: one sub-task for each, results in item order (rules D-20, D-30)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.branch import Branch, ToolChoice
from aggregate.agents.goals.budget import SubtaskBudget
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.goal_templates import item_goal
from aggregate.agents.goals.heuristics import is_compound
from aggregate.agents.goals.item_lists import ItemList, attached, filter_items, without_attached
from aggregate.agents.goals.list_iteration import Loop
from aggregate.agents.goals.neuron import StepOutcome
from aggregate.agents.goals.trace import TraceKind
from aggregate.agents.results.subtask_text import DENDRITES
from aggregate.agents.tools import Tool
from aggregate.base.concurrency import ordered_map
from aggregate.base.values import Value, jsonable

ALL_FAILED: Final = "all sub-tasks failed, the first one with: "


@dataclass(frozen=True, slots=True)
class Subtask:
    """One sub-task.

    Attributes:
        goal: What it is to do.
        item: What for, or ``None`` for a part of a step.
        noun: What the item is called.
        template: The goal with its fields in braces, ``""`` for a part, and for a goal of several steps.
        chosen: What does it, where that is known.
    """

    goal: str
    item: Value = None
    noun: str = ""
    template: str = ""
    chosen: ToolChoice | None = None


Execute: TypeAlias = Callable[[GoalContext, Branch], Value]
"""Does the goal of a branch and returns what it gave."""


def fan_out(
    run: GoalContext, branch: Branch, loop: Loop, template: str, tool: Tool | None, execute: Execute
) -> StepOutcome:
    """Do ``template`` for each item and return what the step gave (rule D-24)."""
    matching = filter_items(loop.items, loop.step)
    if len(matching) < len(loop.items):
        lacking = len(loop.items) - len(matching)
        branch.node.warn(
            f"{lacking} of {len(loop.items)} items lack what the step names and are left out."
        )
    items = _within_limits(run, branch, _distinct(run, branch, matching))
    branch.finished_loops.add((loop.source.digest, template))
    if loop.items and not items:
        error = "no sub-task may run: the limit of them is reached"
        return StepOutcome({"success": False, "error": error}, validated=False)
    results, labels = run_subtasks(
        run,
        branch,
        _item_subtasks(loop, template, tool, items),
        branch.lists | {loop.source.digest},
        execute,
    )
    result = {
        **_success(branch, results),
        "items_processed": len(results),
        "item_noun": loop.iteration.noun,
        DENDRITES: results,
        "items": [attached(item, result) for item, result in zip(items, results, strict=True)],
    }
    return StepOutcome(result, validated=not is_failure(result), spawned=labels)


def _item_subtasks(
    loop: Loop, template: str, tool: Tool | None, items: Sequence[Value]
) -> list[Subtask]:
    """Return one sub-task for each item.

    A template of several steps is split by the model for each item; one step is decided here, once for all.
    """
    decided = ("", None) if is_compound(template) else (template, ToolChoice(tool))
    noun = loop.iteration.noun
    return [
        Subtask(item_goal(template, item, number), item, noun, *decided)
        for number, item in enumerate(items, 1)
    ]


def _distinct(run: GoalContext, branch: Branch, items: Sequence[Value]) -> list[Value]:
    """Return each item once; after too many equal ones, none of those that follow (rule D-10)."""
    distinct: dict[str, Value] = {}
    duplicates = 0
    for number, item in enumerate(items, 1):
        key = _item_key(item)
        duplicates += key in distinct
        if duplicates >= run.limits.duplicates:
            rest = len(items) - number
            branch.node.warn(
                f"{duplicates} items were there before; the {rest} items after them were left out."
            )
            return list(distinct.values())
        distinct.setdefault(key, without_attached(item))
    if duplicates:
        branch.node.warn(f"{duplicates} of {len(items)} items were there before and are done once.")
    return list(distinct.values())


def _within_limits(run: GoalContext, branch: Branch, items: list[Value]) -> list[Value]:
    """Return as many of the items as may have sub-tasks; what is left out is named in a warning (rule D-10)."""
    granted = branch.subtask_budget.take(len(items), run.limits.dendrites)
    if granted < len(items):
        branch.node.warn(
            f"Only {granted} of {len(items)} items were processed: the limit of sub-tasks is reached."
        )
    return items[:granted]


def run_subtasks(
    run: GoalContext,
    branch: Branch,
    tasks: Sequence[Subtask],
    lists: frozenset[str],
    execute: Execute,
) -> tuple[list[Value], tuple[str, ...]]:
    """Do sub-tasks in branches of their own and return their results in order, and their labels.

    They run at once only at the first level: nested pools would multiply.
    """
    depth = branch.depth + 1
    labels = tuple(f"{depth}.{number}" for number in range(1, len(tasks) + 1))
    shares = branch.subtask_budget.shares(len(tasks))
    branches = [
        _subtask_branch(branch, task, number, share, lists)
        for number, (task, share) in enumerate(zip(tasks, shares, strict=True), 1)
    ]
    workers = min(run.limits.workers, len(tasks)) if branch.depth == 0 else 1
    try:
        if workers <= 1:
            results = [execute(run, below) for below in branches]
        else:
            results = ordered_map(
                "dendrite", lambda below: execute(run, below), branches, workers=workers
            )
    except BaseException:
        run.budget.cancel()  # an interrupted goal asks nothing more in its other threads
        raise
    finally:
        branch.subtask_budget.reclaim(shares)
    return results, labels


def _subtask_branch(
    branch: Branch, task: Subtask, number: int, budget: SubtaskBudget, lists: frozenset[str]
) -> Branch:
    """Return a branch with a context of its own: what it writes reaches no sibling and no parent (rules D-4, D-33)."""
    depth = branch.depth + 1
    context = dict(branch.context)
    if task.item is not None:
        context[f"dendrite_item_{depth}_{number}"] = task.item
    return Branch(
        task.goal,
        depth,
        branch.node.child(TraceKind.DENDRITE, f"{depth}.{number}", task.goal),
        context,
        task.item,
        task.noun,
        task.template,
        task.chosen,
        lists,
        subtask_budget=budget,
    )


def _success(branch: Branch, results: Sequence[Value]) -> dict[str, Any]:
    """Return whether any sub-task succeeded, with a warning for those that did not."""
    errors = [failure_message(result) for result in results if is_failure(result)]
    if errors and len(errors) == len(results):
        return {"success": False, "error": ALL_FAILED + errors[0]}
    if errors:
        branch.node.warn(
            f"{len(errors)} of {len(results)} sub-tasks failed, the first one with: {errors[0]}"
        )
    return {"success": True}


def with_results(result: Value, source: ItemList, spawned: dict[str, Any]) -> Value:
    """Return what a tool gave with each item's result attached, under whatever key its list stands (rule D-29)."""
    if not isinstance(result, dict) or not source.name:
        return spawned
    by_key = {_item_key(item): item for item in spawned["items"]}
    items = [by_key.get(_item_key(item), item) for item in source.items]
    counts = {key: spawned[key] for key in ("items_processed", "item_noun", DENDRITES)}
    return {**result, source.name: items, **counts}


def _item_key(item: Value) -> str:
    return json.dumps(jsonable(without_attached(item)), sort_keys=True)
