"""The goal of one item, from a template (rules P8, D-31)."""

import re
from collections.abc import Mapping
from typing import Final

from aggregate.agents.goals.heuristics import Iteration
from aggregate.agents.goals.item_lists import item_identity
from aggregate.base.values import Value

_FIELD: Final = re.compile(r"\{\s*(\w+)\s*\}")
_NAMES: Final = ("name", "title", "date", "path", "url", "item")
MOST_VALUE: Final = 200
"""Characters of a field in a goal: enough for a title or a path."""


def rule_template(step: str, iteration: Iteration, item: Value) -> str | None:
    """Return the step with what it goes through replaced by one item: ``Get kudos for activity {id}``.

    ``None`` where items have nothing to tell them apart.
    """
    if not isinstance(item, Mapping):
        field = "item"
    else:
        identity = item_identity(item, iteration.noun)
        field = identity[0] if identity else next((name for name in _NAMES if item.get(name)), "")
    if not field:
        return None
    return step.replace(iteration.phrase, f"{iteration.noun} {{{field}}}", 1)


def item_goal(template: str, item: Value, number: int) -> str:
    """Return the goal of item ``number``, from 1.

    A field that does not exist falls back to the item's id, and without one to ``(item N)``; no brace is left over. A
    template that names no field gets the id or the number behind it, so that no two goals are the same.
    """
    fields = item if isinstance(item, Mapping) else {"item": item}
    identity = item_identity(item)
    fallback = _one_line(identity[1]) if identity else f"(item {number})"

    def field_text(match: re.Match[str]) -> str:
        value = fields.get(match.group(1))
        return _one_line(value) if isinstance(value, str | int | float) else fallback

    goal, replaced = _FIELD.subn(field_text, template)
    if replaced:
        return goal
    return f"{goal} ({identity[0]} {fallback})" if identity else f"{goal} {fallback}"


def _one_line(value: object) -> str:
    """Return a value on one line, without braces that could be taken for a field."""
    text = " ".join(str(value).split()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_VALUE else f"{text[:MOST_VALUE]}..."
