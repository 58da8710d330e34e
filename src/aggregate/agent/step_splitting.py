"""Steps that are several ones of the same kind, each done by itself (rules D-25, D-26, P9)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aggregate.agent import reply_parsing
from aggregate.agent.answer_selection import is_failure
from aggregate.agent.fan_out import Execute, Subtask, may_spawn, run_subtasks
from aggregate.agent.goal_context import Branch, GoalContext, ToolChoice
from aggregate.agent.heuristics import has_parts
from aggregate.agent.model import QuestionKind
from aggregate.models.values import Value
from aggregate.results.rendering import envelope_content
from aggregate.tools import Tool

MOST_PARTS: Final = 3
DAY: Final = 86_400
_START: Final = re.compile(r"\b(?:start(?:ing)?|first|from|begin(?:ning)?|after)\b", re.IGNORECASE)
_END: Final = re.compile(r"\b(?:end(?:ing)?|last|until|till|before)\b", re.IGNORECASE)
_COPIED: Final = ("after_unix", "before_unix", "start_timestamp", "end_timestamp")


def parts_of(run: GoalContext, branch: Branch, step: str, tool: Tool | None) -> list[str]:
    """Return the 2 or 3 steps that ``step`` is, or none; the model is asked only where its words say so."""
    if not may_spawn(run, branch) or branch.item is not None or not has_parts(step, tool):
        return []
    text = run.ask(branch.node, QuestionKind.SPLIT, goal=branch.goal, step=step)
    if text is None or re.match(r"\W*single\b", text, re.IGNORECASE):
        return []
    parts = reply_parsing.parse_steps(text)
    return parts if 2 <= len(parts) <= MOST_PARTS else []


def run_parts(
    run: GoalContext, branch: Branch, parts: Sequence[str], tool: Tool | None, execute: Execute
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Do the parts and return the result of the step, with what they gave under its own name, and their labels."""
    taken = branch.allowance.take(len(parts), run.limits.dendrites)
    tasks = [Subtask(part, chosen=ToolChoice(tool) if tool else None) for part in parts[:taken]]
    results, labels = run_subtasks(run, branch, tasks, branch.lists, execute)
    errors = [str(one.get("error") or "no reason given") for one in results if is_failure(one)]
    if errors or taken < len(parts):
        # A range with one end is no range: half of the parts are worth nothing.
        error = errors[0] if errors else "the limit of sub-tasks is reached"
        return {"success": False, "error": f"a part of the step failed: {error}", "results": results}, labels
    merged = merge_parts(parts, results)
    return {"success": True, "subtasks_completed": len(results), "results": results, **merged}, labels


def merge_parts(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Return ``start`` and ``end`` by the wording of the parts, and the range they make (rules D-26, X-10).

    ``before_unix`` is the last second of the day that ``end`` begins, where it is a midnight: ranges hold their whole
    last day. Two numbers in ascending order without such words are start and end.
    """
    numbers = [_number(one) for one in results]
    labelled: dict[str, Any] = {}
    for part, number in zip(parts, numbers, strict=True):
        if number is not None and bool(_START.search(part)) != bool(_END.search(part)):
            labelled["start" if _START.search(part) else "end"] = number
    if not labelled and len(numbers) == 2 and None not in numbers and numbers[0] <= numbers[1]:  # type: ignore[operator]
        labelled = {"start": numbers[0], "end": numbers[1]}
    if {"start", "end"} <= labelled.keys() and all(abs(value) > DAY for value in labelled.values()):
        labelled["after_unix"] = labelled["start"]
        labelled["before_unix"] = labelled["end"] + (DAY - 1 if labelled["end"] % DAY == 0 else 0)
    for held in map(envelope_content, results):
        if isinstance(held, Mapping):
            labelled |= {name: held[name] for name in _COPIED if name in held}
    return labelled


def _number(result: Value) -> int | None:
    """Return the one number that a part gave: the timestamp, or the whole result."""
    held = envelope_content(result)
    if isinstance(held, Mapping):
        held = held.get("unix_timestamp", held.get("timestamp"))
    if isinstance(held, str) and re.fullmatch(r"-?\d{1,15}", held.strip()):
        return int(held)
    return held if isinstance(held, int) and not isinstance(held, bool) else None
