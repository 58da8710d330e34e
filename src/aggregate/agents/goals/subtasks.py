"""Sub-tasks: branches of their own for the parts of a step, or for its items (rules D-25, D-26, D-30, P9)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from aggregate.agents.goals import replies
from aggregate.agents.goals.answer_selection import failure_message, is_failure
from aggregate.agents.goals.budget import SubtaskBudget
from aggregate.agents.goals.formatting import envelope_content
from aggregate.agents.goals.goal_context import Branch, GoalContext, StepOutcome, ToolChoice
from aggregate.agents.goals.goal_result import TraceKind
from aggregate.agents.goals.heuristics import has_parts
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.tools import Tool
from aggregate.base.concurrency import ordered_map
from aggregate.base.values import Value

MOST_PARTS: Final = 3
"""As many as the question for them names."""
DAY: Final = 86_400
"""Seconds; a number below it is no moment."""
_START: Final = re.compile(r"\b(?:start(?:ing)?|first|from|begin(?:ning)?|after)\b", re.IGNORECASE)
_END: Final = re.compile(r"\b(?:end(?:ing)?|last|until|till|before)\b", re.IGNORECASE)
_COPIED: Final = ("after_unix", "before_unix", "start_timestamp", "end_timestamp")


@dataclass(frozen=True, slots=True)
class Subtask:
    """One sub-task: its goal, the item that it is for, if any, and what does it, where that is known.

    ``template`` is the goal with its fields in braces, ``""`` for a part, and for a goal of several steps.
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


def parts_of(run: GoalContext, branch: Branch, step: str, tool: Tool | None) -> list[str]:
    """Return the 2 or 3 steps that ``step`` is, or none; the model is asked only where its words say so."""
    if not may_spawn(run, branch) or branch.item is not None or not has_parts(step, tool):
        return []
    text = run.ask(branch.node, QuestionKind.SPLIT, goal=branch.goal, step=step)
    if text is None or re.match(r"\W*single\b", text, re.IGNORECASE):
        return []
    parts = replies.parse_steps(text)
    return parts if 2 <= len(parts) <= MOST_PARTS else []


def run_parts(
    run: GoalContext, branch: Branch, parts: Sequence[str], tool: Tool | None, execute: Execute
) -> StepOutcome:
    """Do the parts and return what the step gave: what each of them gave, under its own name."""
    granted = branch.subtask_budget.take(len(parts), run.limits.dendrites)
    tasks = [Subtask(part, chosen=ToolChoice(tool) if tool else None) for part in parts[:granted]]
    results, labels = run_subtasks(run, branch, tasks, branch.lists, execute)
    errors = [failure_message(result) for result in results if is_failure(result)]
    if granted < len(parts):
        errors.append("the limit of sub-tasks is reached")
    if errors:
        # A range with one end is no range: half of the parts are worth nothing.
        failure = {
            "success": False,
            "error": f"a part of the step failed: {errors[0]}",
            "results": results,
        }
        return StepOutcome(failure, validated=False, spawned=labels)
    merged = merge_parts(parts, results)
    result = {"success": True, "subtasks_completed": len(results), "results": results, **merged}
    return StepOutcome(result, validated=not is_failure(result), spawned=labels)


def merge_parts(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Return ``start`` and ``end`` by the words of the parts, and the range they make (rules D-26, X-10).

    ``before_unix`` is the last second of the day that ``end`` begins, where it is a midnight: ranges hold their whole
    last day. Two numbers in ascending order without such words are start and end.
    """
    merged: dict[str, Any] = _range_ends(parts, [_number(result) for result in results])
    if {"start", "end"} <= merged.keys() and all(abs(moment) > DAY for moment in merged.values()):
        ends_at_midnight = merged["end"] % DAY == 0
        merged["after_unix"] = merged["start"]
        merged["before_unix"] = merged["end"] + (DAY - 1 if ends_at_midnight else 0)
    for content in map(envelope_content, results):
        if isinstance(content, Mapping):
            merged |= {name: content[name] for name in _COPIED if name in content}
    return merged


def _range_ends(parts: Sequence[str], numbers: Sequence[int | None]) -> dict[str, int]:
    """Return the numbers of the parts as ``start`` and ``end``, as far as they can be told apart."""
    ends: dict[str, int] = {}
    for part, number in zip(parts, numbers, strict=True):
        names_start = _START.search(part) is not None
        names_end = _END.search(part) is not None
        if number is not None and names_start != names_end:
            ends["start" if names_start else "end"] = number
    if ends or len(numbers) != 2:
        return ends
    first, second = numbers
    if first is not None and second is not None and first <= second:
        return {"start": first, "end": second}
    return ends


def _number(result: Value) -> int | None:
    content = envelope_content(result)
    if isinstance(content, Mapping):
        content = content.get("unix_timestamp", content.get("timestamp"))
    if isinstance(content, str) and re.fullmatch(r"-?\d{1,15}", content.strip()):
        return int(content)
    return content if isinstance(content, int) and not isinstance(content, bool) else None
