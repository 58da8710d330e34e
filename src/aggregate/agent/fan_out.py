"""Spreading a step over the items of a list: one sub-task for each, results in item order (rules 1.4)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from aggregate.agent import formatting, reply_parsing
from aggregate.agent.answer_selection import is_failure
from aggregate.agent.budget import SubtaskBudget
from aggregate.agent.goal_context import Branch, GoalContext, ToolChoice
from aggregate.agent.goal_templates import item_goal, rule_template
from aggregate.agent.heuristics import STOP, Iteration, is_compound, significant_words, words
from aggregate.agent.item_lists import (
    ItemList,
    attached,
    fields_of,
    filter_items,
    find_list,
    lists_in,
    without_attached,
)
from aggregate.agent.model import QuestionKind
from aggregate.agent.tool_arguments import item_fills
from aggregate.agent.trace import TraceKind
from aggregate.concurrency.threads import ordered_map
from aggregate.models.jsonable import jsonable
from aggregate.models.values import Value
from aggregate.results.rendering import DENDRITES
from aggregate.tools import ANALYSIS, Tool

NO_GROUND: Final = "all sub-tasks failed, the first one with: "


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


def may_spawn(run: GoalContext, branch: Branch) -> bool:
    """Return whether sub-tasks of this branch are allowed (rule D-6)."""
    return branch.depth < run.limits.depth - 1 and not branch.corrective


def list_to_fan_out(run: GoalContext, branch: Branch, over: Iteration) -> ItemList | None:
    """Return the list that a step goes through, unless a branch above goes through it (rules D-20, D-34)."""
    found = find_list(branch.context, over.noun, run.cache_dir)
    return None if found is None or found.digest in branch.lists else found


def needs_each(
    run: GoalContext, branch: Branch, step: str, tool: Tool | None, found: ItemList, over: Iteration
) -> bool:
    """Return whether a step must be done for each item by itself.

    Code goes through a list by itself; a tool that takes what an item gives must be called for each; one that does not
    cannot. Only without a tool the model is asked.
    """
    if tool is not None:
        return tool.name != ANALYSIS and (not found.items or item_fills(tool, found.items[0], over.noun))
    return bool(found.items) and _more_needed(run, branch, step, found.items[0])


def more_calls_needed(
    run: GoalContext, branch: Branch, step: str, used: Tool, found: ItemList, over: Iteration
) -> bool:
    """Return whether a list that a tool gave needs further calls for each of its items (rule D-27).

    Not where the items hold the fields that the step names, nor where no other tool takes what an item gives.
    """
    item = found.items[0]
    granted = run.tools.permissions
    others = (one for one in run.tools if one.name not in (used.name, ANALYSIS) and one.permissions <= granted)
    if not any(item_fills(one, item, over.noun) for one in others) or _names_fields_only(step, over, found.items):
        return False
    return _more_needed(run, branch, step, item)


def _more_needed(run: GoalContext, branch: Branch, step: str, item: Value) -> bool:
    told = formatting.fenced_data(item, formatting.ALL)
    if reply_parsing.yes_or_no(run.ask(branch.node, QuestionKind.FIELDS_PRESENT, step=step, item=told)) is not False:
        return False
    return reply_parsing.yes_or_no(run.ask(branch.node, QuestionKind.CALLS_NEEDED, step=step, item=told)) is True


def _names_fields_only(step: str, over: Iteration, items: Sequence[Value]) -> bool:
    """Return whether all that a step names beside its verb and its noun are fields of the items."""
    fields = {word for field in fields_of(items) for word in words(field)}
    wanted = [word for word in significant_words(step)[1:] if word not in words(over.phrase) and word not in STOP]
    return bool(wanted) and all(word in fields for word in wanted)


def template_for(run: GoalContext, branch: Branch, step: str, over: Iteration, found: ItemList, *, ask: bool) -> str:
    """Return the goal of one item with its fields in braces: by rule, else by the model, else the step (rule P8)."""
    by_rule = None if ask else rule_template(step, over, found.items[0])
    if by_rule:
        return by_rule
    fields = fields_of(found.items) or ["item"]
    text = run.ask(branch.node, QuestionKind.ITEM_GOAL, step=step, fields=formatting.field_names(fields))
    return reply_parsing.first_line(text) or rule_template(step, over, found.items[0]) or step


def fan_out(
    run: GoalContext,
    branch: Branch,
    step: str,
    template: str,
    tool: Tool | None,
    found: ItemList,
    over: Iteration,
    execute: Execute,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Do ``template`` for each item and return the result of the step (rule D-24) and the labels of the sub-tasks."""
    asked_for = filter_items(found.items, step)
    if len(asked_for) < len(found.items):
        less = len(found.items) - len(asked_for)
        branch.node.warn(f"{less} of {len(found.items)} items lack what the step names and are left out.")
    chosen = _chosen(run, branch, asked_for)
    # A template of several steps is split by the model for each item; one step is decided here, once for all.
    decided = ("", None) if is_compound(template) else (template, ToolChoice(tool))
    tasks = [Subtask(item_goal(template, one, n), one, over.noun, *decided) for n, one in enumerate(chosen, 1)]
    below = branch.lists | {found.digest}
    branch.done.add((found.digest, template))
    if found.items and not tasks:
        return {"success": False, "error": "no sub-task may run: the limit of them is reached"}, ()
    results, labels = run_subtasks(run, branch, tasks, below, execute)
    items = [attached(item, result) for item, result in zip(chosen, results, strict=True)]
    envelope = _envelope(branch, results)
    counted = {"items_processed": len(results), "item_noun": over.noun, DENDRITES: results, "items": items}
    return {**envelope, **counted}, labels


def _chosen(run: GoalContext, branch: Branch, items: Sequence[Value]) -> tuple[Value, ...]:
    """Return the items to be done, each once; what the limits leave out is named in a warning (rule D-10)."""
    unique: dict[str, Value] = {}
    duplicates = 0
    for number, item in enumerate(items):
        key = json.dumps(jsonable(without_attached(item)), sort_keys=True)
        duplicates += key in unique
        if duplicates >= run.limits.duplicates:
            left = len(items) - number - 1
            branch.node.warn(f"{duplicates} items were there before; the {left} items after them were left out.")
            break
        unique.setdefault(key, without_attached(item))
    else:
        if duplicates:
            branch.node.warn(f"{duplicates} of {len(items)} items were there before and are done once.")
    chosen = tuple(unique.values())
    taken = branch.allowance.take(len(chosen), run.limits.dendrites)
    if taken < len(chosen):
        branch.node.warn(f"Only {taken} of {len(chosen)} items were processed: the limit of sub-tasks is reached.")
    return chosen[:taken]


def run_subtasks(
    run: GoalContext, branch: Branch, tasks: Sequence[Subtask], lists: frozenset[str], execute: Execute
) -> tuple[list[Value], tuple[str, ...]]:
    """Do sub-tasks in branches of their own and return their results in order, and their labels.

    They run at once only at the first level: nested pools would multiply.
    """
    depth = branch.depth + 1
    labels = tuple(f"{depth}.{number}" for number in range(1, len(tasks) + 1))
    shares = branch.allowance.shares(len(tasks))
    branches = [
        _below(branch, task, number, share, lists)
        for number, (task, share) in enumerate(zip(tasks, shares, strict=True), 1)
    ]
    workers = min(run.limits.workers, len(tasks)) if branch.depth == 0 else 1
    try:
        if workers <= 1:
            return [execute(run, one) for one in branches], labels
        return ordered_map("dendrite", lambda one: execute(run, one), branches, workers=workers), labels
    except BaseException:
        run.spending.cancelled = True  # an interrupted goal asks nothing more in its other threads
        raise
    finally:
        branch.allowance.left += sum(share.left for share in shares)


def _below(branch: Branch, task: Subtask, number: int, allowance: SubtaskBudget, lists: frozenset[str]) -> Branch:
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
        allowance=allowance,
    )


def _envelope(branch: Branch, results: Sequence[Value]) -> dict[str, Any]:
    """Return whether any sub-task succeeded, with a warning for those that did not."""
    errors = [str(one.get("error") or "no reason given") for one in results if is_failure(one)]
    if errors and len(errors) == len(results):
        return {"success": False, "error": NO_GROUND + errors[0]}
    if errors:
        branch.node.warn(f"{len(errors)} of {len(results)} sub-tasks failed, the first one with: {errors[0]}")
    return {"success": True}


def with_results(result: Value, found: ItemList, spawned: dict[str, Any]) -> Value:
    """Return what a tool gave with each item's result attached, under whatever key its list stands (rule D-29)."""
    if not isinstance(result, dict) or not found.name:
        return spawned
    by_item = {_key(item): item for item in spawned["items"]}
    items = [by_item.get(_key(item), item) for item in found.items]
    extra = {key: spawned[key] for key in ("items_processed", "item_noun", DENDRITES)}
    return {**result, found.name: items, **extra}


def _key(item: Value) -> str:
    return json.dumps(jsonable(without_attached(item)), sort_keys=True)


def result_list(result: Value, noun: str) -> ItemList | None:
    """Return the list in a result with more than one item (rule D-27)."""
    return next((found for found in lists_in(result, noun) if len(found.items) > 1), None)
