"""Steps that go through a list: which list, whether each item needs a call, a sub-task for each (rules D-20, D-30)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from aggregate.agents.goals import formatting, replies
from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.formatting import DENDRITES
from aggregate.agents.goals.goal_context import Branch, GoalContext, StepOutcome, ToolChoice
from aggregate.agents.goals.heuristics import Iteration, is_compound, significant_words, words
from aggregate.agents.goals.item_lists import (
    ItemList,
    attached,
    fields_of,
    filter_items,
    find_list,
    item_goal,
    lists_in,
    rule_template,
    without_attached,
)
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.subtasks import Execute, Subtask, run_subtasks
from aggregate.agents.goals.tool_arguments import item_fills
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.values import Value, jsonable

ALL_FAILED: Final = "all sub-tasks failed, the first one with: "


@dataclass(frozen=True, slots=True)
class Loop:
    """A step that goes through a list, and its words that say so."""

    step: str
    iteration: Iteration
    source: ItemList

    @property
    def items(self) -> tuple[Value, ...]:
        """What the list holds."""
        return self.source.items


def find_loop(run: GoalContext, branch: Branch, step: str, iteration: Iteration) -> Loop | None:
    """Return the step with the list that it goes through, unless a branch above goes through that (D-20, D-34)."""
    source = find_list(branch.context, iteration.noun, run.cache_dir)
    if source is None or source.digest in branch.lists:
        return None
    return Loop(step, iteration, source)


def loop_over_result(branch: Branch, step: str, iteration: Iteration, result: Value) -> Loop | None:
    """Return the step with the list of more than one item that its result holds (rules D-27, D-34)."""
    if is_failure(result):
        return None
    several = (source for source in lists_in(result, iteration.noun) if len(source.items) > 1)
    source = next(several, None)
    if source is None or source.digest in branch.lists:
        return None
    return Loop(step, iteration, source)


def needs_each(run: GoalContext, branch: Branch, loop: Loop, tool: Tool | None) -> bool:
    """Return whether a step must be done for each item by itself.

    Code goes through a list by itself; a tool that takes what an item gives must be called for each; one that does not
    cannot. Only without a tool the model is asked.
    """
    if tool is None:
        return bool(loop.items) and _more_needed(run, branch, loop)
    if tool.name == ANALYSIS:
        return False
    return not loop.items or item_fills(tool, loop.items[0], loop.iteration.noun)


def more_calls_needed(run: GoalContext, branch: Branch, loop: Loop, used: Tool) -> bool:
    """Return whether a list that a tool gave needs further calls for each of its items (rule D-27).

    Not where the items hold the fields that the step names, nor where no other tool takes what an item gives.
    """
    others = (
        tool
        for tool in run.tools
        if tool.name not in (used.name, ANALYSIS) and tool.permissions <= run.tools.permissions
    )
    if not any(item_fills(tool, loop.items[0], loop.iteration.noun) for tool in others):
        return False
    field_words = {word for field in fields_of(loop.items) for word in words(field)}
    iteration_words = words(loop.iteration.phrase)
    after_verb = significant_words(loop.step)[1:]
    named = [word for word in after_verb if word not in iteration_words]
    names_fields_only = bool(named) and field_words.issuperset(named)
    return not names_fields_only and _more_needed(run, branch, loop)


def _more_needed(run: GoalContext, branch: Branch, loop: Loop) -> bool:
    item = formatting.fenced_data(loop.items[0], formatting.ALL)
    reply = run.ask(branch.node, QuestionKind.FIELDS_PRESENT, step=loop.step, item=item)
    if replies.yes_or_no(reply) is not False:
        return False
    reply = run.ask(branch.node, QuestionKind.CALLS_NEEDED, step=loop.step, item=item)
    return replies.yes_or_no(reply) is True


def template_for(run: GoalContext, branch: Branch, loop: Loop, *, ask: bool) -> str:
    """Return the goal of one item with its fields in braces: by rule, else by the model, else the step (rule P8)."""
    by_rule = rule_template(loop.step, loop.iteration, loop.items[0])
    if by_rule and not ask:
        return by_rule
    fields = formatting.field_names(fields_of(loop.items) or ["item"])
    reply = run.ask(branch.node, QuestionKind.ITEM_GOAL, step=loop.step, fields=fields)
    return replies.first_line(reply) or by_rule or loop.step


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
    items = _distinct(run, branch, matching)
    granted = branch.subtask_budget.take(len(items), run.limits.dendrites)
    if granted < len(items):
        branch.node.warn(
            f"Only {granted} of {len(items)} items were processed: the limit of sub-tasks is reached."
        )
        items = items[:granted]
    branch.finished_loops.add((loop.source.digest, template))
    if loop.items and not items:
        error = "no sub-task may run: the limit of them is reached"
        return StepOutcome({"success": False, "error": error}, validated=False)
    # A template of several steps is split by the model for each item; one step is decided here, once for all.
    decided = ("", None) if is_compound(template) else (template, ToolChoice(tool))
    noun = loop.iteration.noun
    tasks = [
        Subtask(item_goal(template, item, number), item, noun, *decided)
        for number, item in enumerate(items, 1)
    ]
    lists = branch.lists | {loop.source.digest}
    results, labels = run_subtasks(run, branch, tasks, lists, execute)
    errors = [failure_message(result) for result in results if is_failure(result)]
    success: dict[str, Any] = {"success": True}
    if errors and len(errors) == len(results):
        success = {"success": False, "error": ALL_FAILED + errors[0]}
    elif errors:
        branch.node.warn(
            f"{len(errors)} of {len(results)} sub-tasks failed, the first one with: {errors[0]}"
        )
    result = {
        **success,
        "items_processed": len(results),
        "item_noun": noun,
        DENDRITES: results,
        "items": [attached(item, result) for item, result in zip(items, results, strict=True)],
    }
    return StepOutcome(result, validated=not is_failure(result), spawned=labels)


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
