"""Split a step into sub-tasks, and merge their results (D-20 to D-34, P6 to P9)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aggregate.agents.goals import heuristics, questions, result_texts
from aggregate.agents.goals.execution import item_fills
from aggregate.agents.goals.goal_context import Branch, StepFailed
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.limits import Limit
from aggregate.agents.results import FailurePolicy, failures
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.json_forms import json_text, jsonable
from aggregate.base.values import Value

# As many as the question for them names
MOST_PARTS: Final = 3
# Characters of an item's name in a warning
LEFT_CHARACTERS: Final = 40
# Seconds; a number below it is not a timestamp
DAY: Final = 86_400
_START: Final = re.compile(r"\b(?:start(?:ing)?|first|from|begin(?:ning)?|after)\b", re.IGNORECASE)
_END: Final = re.compile(r"\b(?:end(?:ing)?|last|until|till|before)\b", re.IGNORECASE)


def may_spawn(branch: Branch) -> bool:
    is_whole = not (branch.corrective or branch.chosen)
    return is_whole and branch.depth < branch.run.limits.depth - 1


def parts_of(branch: Branch, step: str, tool: Tool | None) -> list[str]:
    """Return the 2 or 3 parts that the model splits a step into, or none."""
    if not may_spawn(branch) or branch.item is not None or not heuristics.has_parts(step, tool):
        return []
    text = branch.ask(QuestionKind.SPLIT, goal=branch.goal, step=step)
    if text is None or re.match(r"\W*single\b", text, re.IGNORECASE):
        return []
    parts = questions.parse_steps(text)
    return parts if 2 <= len(parts) <= MOST_PARTS else []


def parts_result(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Merge the results of a step's parts; the step fails if a part failed."""
    errors, fails = failures(result_texts.labelled(results), FailurePolicy.FAIL)
    if fails:
        error = f"a part of the step failed: {errors[0]}"
        return {"success": False, "error": error, "results": results}
    merged = merge_parts(parts, results)
    return {"success": True, "subtasks_completed": len(results), "results": results, **merged}


def merge_parts(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Return ``start`` and ``end`` from the parts' results.

    Rules D-26 and X-10: timestamps are also returned as ``after_unix`` and ``before_unix``. The words of each part say
    whether it is start or end; else two ascending numbers are start and end. If ``end`` is a midnight, ``before_unix``
    is the last second of that day.
    """
    merged: dict[str, Any] = {}
    numbers = [_number(result) for result in results]
    for part, number in zip(parts, numbers, strict=True):
        names_start, names_end = bool(_START.search(part)), bool(_END.search(part))
        if number is not None and names_start != names_end:
            merged["start" if names_start else "end"] = number
    whole_numbers = [number for number in numbers if number is not None]
    if (
        not merged
        and len(whole_numbers) == len(numbers) == 2
        and whole_numbers == sorted(whole_numbers)
    ):
        merged = {"start": whole_numbers[0], "end": whole_numbers[1]}
    if {"start", "end"} <= merged.keys() and all(abs(moment) > DAY for moment in merged.values()):
        ends_at_midnight = merged["end"] % DAY == 0
        merged["after_unix"] = merged["start"]
        merged["before_unix"] = merged["end"] + (DAY - 1 if ends_at_midnight else 0)
    return merged


def _number(result: Value) -> int | None:
    content = result_texts.envelope_content(result)
    if isinstance(content, Mapping):
        content = content.get("unix_timestamp", content.get("timestamp"))
    if isinstance(content, str) and re.fullmatch(r"-?\d{1,15}", content.strip()):
        return int(content)
    return content if isinstance(content, int) and not isinstance(content, bool) else None


@dataclass(frozen=True, slots=True)
class Loop:
    """A step, and the list processed item by item."""

    step: str
    iteration: heuristics.Iteration
    source: heuristics.ItemList


def find_loop(branch: Branch, step: str, iteration: heuristics.Iteration) -> Loop | None:
    """Find the list that a step loops over, unless an outer loop uses it (D-20, D-34)."""
    source = heuristics.find_list(branch.context, iteration.noun, branch.run.cache_dir)
    return Loop(step, iteration, source) if source and source.digest not in branch.lists else None


def loop_over_result(
    branch: Branch, step: str, iteration: heuristics.Iteration, result: Value
) -> Loop | None:
    if not result_texts.is_failure(result):
        for source in heuristics.lists_in(result, iteration.noun):
            if len(source.items) > 1:
                return None if source.digest in branch.lists else Loop(step, iteration, source)
    return None


def needs_each(branch: Branch, loop: Loop, tool: Tool | None) -> bool:
    """Return whether a step needs a call for each item.

    Code can loop over a list itself, and a tool without arguments does the same for each item. A tool whose arguments
    are fields of the items needs a call for each. Otherwise the model decides, since a wrong single call would look
    like success.
    """
    items = loop.source.items
    if tool is None:
        return bool(items) and _more_needed(branch, loop)
    if tool.name == ANALYSIS or not tool.parameters:
        return False
    if not items or any(item_fills(tool, item, loop.iteration.noun) for item in items):
        return True
    verdict = questions.yes_or_no(_ask_about_item(branch, loop, QuestionKind.CALLS_NEEDED))
    if verdict is None:
        raise StepFailed(f"the model did not say whether to call {tool.name} for each item")
    return verdict


def more_calls_needed(branch: Branch, loop: Loop, used: Tool) -> bool:
    """Return whether a result's items need another tool (D-27).

    They do not if the items have all fields mentioned in the step, or if no tool except ``used`` takes one of the
    fields.
    """
    registry, noun = branch.run.tools, loop.iteration.noun
    other_tools = (
        tool
        for tool in registry
        if tool.name not in (used.name, ANALYSIS) and tool.permissions <= registry.permissions
    )
    if not any(item_fills(tool, loop.source.items[0], noun) for tool in other_tools):
        return False
    field_words = set(heuristics.words(" ".join(heuristics.fields_of(loop.source.items))))
    iteration_words = heuristics.words(loop.iteration.phrase)
    after_verb = heuristics.significant_words(loop.step)[1:]
    object_words = [word for word in after_verb if word not in iteration_words]
    names_fields_only = bool(object_words) and field_words.issuperset(object_words)
    return not names_fields_only and _more_needed(branch, loop)


def _more_needed(branch: Branch, loop: Loop) -> bool:
    reply = _ask_about_item(branch, loop, QuestionKind.FIELDS_PRESENT)
    if questions.yes_or_no(reply) is not False:
        return False
    reply = _ask_about_item(branch, loop, QuestionKind.CALLS_NEEDED)
    return questions.yes_or_no(reply) is True


def _ask_about_item(branch: Branch, loop: Loop, kind: QuestionKind) -> str | None:
    item = result_texts.fenced_data(loop.source.items[0], result_texts.ALL_RESULTS)
    return branch.ask(kind, step=loop.step, item=item)


def template_for(branch: Branch, loop: Loop, *, ask: bool) -> str:
    """Return the template of the items' sub-tasks (P8).

    Names of the items' fields are in braces. The template is made from the step by a rule, else by the model; else it
    is the step itself.
    """
    items = loop.source.items
    by_rule = heuristics.rule_template(loop.step, loop.iteration, items[0])
    if not loop.iteration.phrase or (by_rule and not ask):
        return by_rule or loop.step
    fields = result_texts.field_names(heuristics.fields_of(items) or ["item"])
    reply = branch.ask(QuestionKind.ITEM_GOAL, step=loop.step, fields=fields)
    return questions.first_line(reply) or by_rule or loop.step


def item_branches(
    branch: Branch, loop: Loop, template: str, tool: Tool | None, *, chosen: bool = False
) -> list[Branch]:
    """Return a branch for each item's sub-task; a ``chosen`` item gets a single step."""
    total, limit = len(loop.source.items), branch.run.limits.dendrites
    matching = loop.source.items
    if not chosen:
        matching = heuristics.filter_items(matching, loop.step)
    if lacking := total - len(matching):
        branch.warn(
            f"{lacking} of {total} items lack a field that the step names and are left out."
        )
    items = _distinct(branch, matching)
    if limit < len(items):
        branch.run.budget.stop(Limit.ITEMS, branch.node.place)
        branch.warn(
            f"Only {limit} of {len(items)} items were processed: the limit of sub-tasks is reached."
            f" {_left(items[limit:])}"
        )
    branch.finished_loops.add((loop.source.digest, template))
    if items and not limit:
        raise StepFailed("no sub-task was started: the limit of items in a step is 0")
    fields: dict[str, Any] = {
        "noun": loop.iteration.noun,
        "lists": branch.lists | {loop.source.digest},
        "chosen": chosen,
    }
    if chosen or not heuristics.is_compound(template):
        # A single step is decided here for all items; the model splits a compound one for each item.
        fields |= {"template": template, "decided": True, "tool": tool}
    return [
        branch.below(number, heuristics.item_goal(template, item, number), item=item, **fields)
        for number, item in enumerate(items[:limit], 1)
    ]


def _distinct(branch: Branch, items: Sequence[Value]) -> list[Value]:
    """Return the items without repeated ones; too many repeated ones end the list (D-10)."""
    distinct: dict[str, Value] = {}
    duplicates = 0
    for number, item in enumerate(items, 1):
        key = _item_key(item)
        duplicates += key in distinct
        if duplicates >= branch.run.limits.duplicates:
            rest = len(items) - number
            branch.run.budget.stop(Limit.DUPLICATES, branch.node.place)
            branch.warn(
                f"{duplicates} items were repeated; the {rest} items after them were left out."
            )
            return list(distinct.values())
        distinct.setdefault(key, heuristics.without_attached(item))
    if duplicates:
        branch.warn(f"{duplicates} of {len(items)} items are repeated and processed once.")
    return list(distinct.values())


def items_result(
    branch: Branch, loop: Loop, items: Sequence[Value], results: Sequence[Value]
) -> dict[str, Any]:
    """Merge the results of all items; the step fails if all failed."""
    errors, fails = failures(result_texts.labelled(results), FailurePolicy.REPORT)
    pairs = list(zip(items, results, strict=True))
    merged: dict[str, Any] = {"success": True}
    if fails:
        error = f"all sub-tasks failed, the first one with: {errors[0]}"
        merged = {"success": False, "error": error}
    elif errors:
        unfinished = _left([item for item, result in pairs if result_texts.is_failure(result)])
        failed = f"{len(errors)} of {len(results)} sub-tasks failed"
        branch.warn(f"{failed}, the first one with: {errors[0]}. {unfinished}")
    objects = [item if isinstance(item, Mapping) else {"item": item} for item in items]
    attached = zip(objects, results, strict=True)
    return {
        **merged,
        "items_processed": len(results),
        "item_noun": loop.iteration.noun,
        result_texts.DENDRITES: results,
        "items": [{**item, heuristics.ATTACHED: result} for item, result in attached],
    }


def _left(items: Sequence[Value]) -> str:
    """List unfinished items by id or content, in a sentence."""
    names = [
        str(identity[1]) if (identity := heuristics.item_identity(item)) else json_text(item)
        for item in items[: result_texts.SHOWN_ITEMS]
    ]
    more = f" and {len(items) - len(names)} more" if len(items) > len(names) else ""
    return f"Unfinished: {', '.join(result_texts.clip(name, LEFT_CHARACTERS) for name in names)}{more}."


def with_results(result: Value, source: heuristics.ItemList, spawned: dict[str, Any]) -> Value:
    """Add to each item of a tool's result the result of its sub-task (D-29)."""
    if not isinstance(result, dict) or not source.name:
        return spawned
    by_key = {_item_key(item): item for item in spawned["items"]}
    items = [by_key.get(_item_key(item), item) for item in source.items]
    counts = {key: spawned[key] for key in ("items_processed", "item_noun", result_texts.DENDRITES)}
    return {**result, source.name: items, **counts}


def _item_key(item: Value) -> str:
    return json.dumps(jsonable(heuristics.without_attached(item)), sort_keys=True)
