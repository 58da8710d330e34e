"""The goal of one item, from a template (rules P8, D-31)."""

import re
from collections.abc import Mapping
from typing import Final

from aggregate.agent.heuristics import Iteration
from aggregate.agent.item_lists import item_identity
from aggregate.models.values import Value

_FIELD: Final = re.compile(r"\{\s*(\w+)\s*\}")
_NAMES: Final = ("name", "title", "date", "path", "url", "item")
MOST_VALUE: Final = 200


def rule_template(step: str, over: Iteration, item: Value) -> str | None:
    """Return the step with what it goes through replaced by one item: ``Get kudos for activity {id}``.

    ``None`` where items have nothing to tell them apart.
    """
    if not isinstance(item, Mapping):
        field = "item"
    else:
        known = item_identity(item, over.noun)
        field = known[0] if known else next((name for name in _NAMES if item.get(name)), "")
    return step.replace(over.phrase, f"{over.noun} {{{field}}}", 1) if field else None


def item_goal(template: str, item: Value, number: int) -> str:
    """Return the goal of item ``number``, from 1.

    A field that does not exist falls back to the item's id, and without one to ``(item N)``; no brace is left over. A
    template that names no field gets the id or the number behind it, so that no two goals are the same.
    """
    fields = item if isinstance(item, Mapping) else {"item": item}
    known = item_identity(item)
    fallback = _shown(known[1]) if known else f"(item {number})"

    def value(match: re.Match[str]) -> str:
        held = fields.get(match.group(1))
        return _shown(held) if isinstance(held, str | int | float) else fallback

    goal, replaced = _FIELD.subn(value, template)
    return goal if replaced else f"{goal} {fallback if not known else f'({known[0]} {fallback})'}"


def _shown(value: object) -> str:
    """Return a value on one line, without braces that could be taken for a field."""
    text = " ".join(str(value).split()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_VALUE else f"{text[:MOST_VALUE]}..."
