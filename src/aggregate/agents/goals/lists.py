"""Lists in the results of steps, and their items (D-22, D-23, D-31)."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals.words import Iteration, singular, words
from aggregate.base.json_forms import json_text
from aggregate.base.values import Value
from aggregate.prompt.output.references import resolve_reference

# The key of sub-tasks' results in the result of their step
DENDRITES: Final = "dendrite_results"
# The key of an item's own result (rule D-29)
ATTACHED: Final = "_dendrite_result"
NEURON: Final = "neuron_"
# Common keys of lists, without the noun of the items
USUAL: Final = ("items", "entries", "data", "results", "result", "list", "records", "objects")
_DEPTH: Final = 5  # of nested objects whose lists count
# Items whose fields represent all: items of one list mostly have the same
_SAMPLE: Final = 5
MOST_VALUE: Final = 200  # characters of a field in a goal: enough for a title or a path
_FIELD: Final = re.compile(r"\{\s*(\w+)\s*\}")
# Fields that can name an item, besides its id, and fields of people and titles
_NAMES: Final = ("number", "key", "name", "title", "date", "path", "url", "item")
NAME_FIELDS: Final = ("name", "full_name", "title", "firstname", "username")


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list in the result of a step."""

    name: str  # its key, "" if it is the whole result
    items: tuple[Value, ...]
    named: bool = False  # whether its key is the noun of its items
    is_nested: bool = False  # in an object of the result

    @property
    def digest(self) -> str:
        bare = [without_attached(item) for item in self.items]
        return hashlib.md5(json_text(bare).encode(), usedforsecurity=False).hexdigest()

    @property
    def fields(self) -> list[str]:
        objects = [item for item in self.items[:_SAMPLE] if isinstance(item, Mapping)]
        return list(dict.fromkeys(str(key) for item in objects for key in item))


def without_attached(item: Value) -> Value:
    if not isinstance(item, Mapping):
        return item
    return {key: value for key, value in item.items() if key != ATTACHED}


def find_list(context: Mapping[str, Value], noun: str, cache_dir: Path) -> ItemList | None:
    """Return the newest list named by the noun, else the newest that has items (D-22)."""
    filled: list[ItemList] = []
    for key in reversed([key for key in context if key.startswith(NEURON)]):
        value = resolve_reference(context[key], cache_dir=cache_dir)  # code may return one
        for item_list in lists_in(value, noun):
            if item_list.named:
                return item_list
            if item_list.items:
                filled.append(item_list)
    # A field of one object, such as its tags, does not hide an older list.
    return min(filled, key=lambda item_list: item_list.is_nested, default=None)


def lists_in(value: Value, noun: str = "") -> Iterator[ItemList]:
    """Yield the lists in a result, the likeliest first.

    Lists named by ``noun`` come first, then lists with usual names, then the rest.
    """
    if isinstance(value, list):
        yield ItemList("", tuple(value))
    if not isinstance(value, Mapping):
        return
    lists = _lists_by_key([value])
    noun_keys: list[str] = []
    if noun:
        noun_keys = [key for key in lists if words(key)[-1:] == [singular(noun)]]
        if value.get("item_noun") == noun and "items" in lists:
            noun_keys.append("items")
    usual = [key for key in USUAL if key in lists]
    for key in dict.fromkeys((*noun_keys, *usual, *lists)):
        is_nested = not isinstance(value.get(key), list)
        yield ItemList(key, tuple(lists[key]), key in noun_keys, is_nested)


def _lists_by_key(objects: Sequence[Mapping[str, Value]], depth: int = 0) -> dict[str, list[Value]]:
    """Return lists in nested objects by key; outer keys win.

    Lists with the same key are joined: the rooms of each floor become all rooms.
    """
    lists: dict[str, list[Value]] = {}
    inner: list[Mapping[str, Value]] = []
    for key, value in (pair for item in objects for pair in item.items()):
        if isinstance(value, list) and key != DENDRITES:
            lists.setdefault(str(key), []).extend(value)
        elif isinstance(value, Mapping) and not str(key).startswith("_") and depth < _DEPTH:
            inner.append(value)
    for key, items in (_lists_by_key(inner, depth + 1) if inner else {}).items():
        lists.setdefault(key, items)
    return lists


def item_identity(item: Value, noun: str = "") -> tuple[str, Any] | None:
    """Return the field with an item's id, and the id."""
    if not isinstance(item, Mapping):
        return None
    like_ids = [key for key in item if re.search(r"(?:_id|Id)$", str(key))]
    for name in ("id", f"{noun}_id", *like_ids):
        if isinstance(item.get(name), int | str):
            return name, item[name]
    return None


def item_names(items: Sequence[Value], noun: str) -> list[list[str]]:
    """Return the names of each item, or numbers if first names are equal."""
    names: list[list[str]] = []
    for item in items:
        if not isinstance(item, dict):
            names.append([" ".join(str(item).split())])
            continue
        values = [item.get(key) for key in ("number", "key", *NAME_FIELDS)]
        if identity := item_identity(item, noun):
            values.insert(0, identity[1])
        names.append([str(value) for value in values if isinstance(value, str | int)])
    firsts = {item[0].lower() for item in names if item}
    if len(firsts) < len(items):
        return [[str(number)] for number in range(1, len(items) + 1)]
    return names


def rule_template(step: str, iteration: Iteration, item: Value) -> str | None:
    """Return the goal of an item's sub-task by a rule: ``Get kudos for activity {id}``.

    The field identifies the item, such as its id; ``None`` if no field does.
    """
    field = "item"
    if isinstance(item, Mapping):
        identity = item_identity(item, iteration.noun)
        field = identity[0] if identity else next((name for name in _NAMES if item.get(name)), "")
    if not field:
        return None
    subject = f"{iteration.noun} {{{field}}}"
    return step.replace(iteration.phrase, subject, 1) if iteration.phrase else f"{step} ({subject})"


def item_goal(template: str, item: Value, number: int) -> str:
    """Fill an item's fields into its goal's template (D-31).

    A missing field becomes the item's id, or ``(item N)``. A template without fields gets the id or number at its end,
    so all goals differ.
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
    text = " ".join(str(value).split()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_VALUE else f"{text[:MOST_VALUE]}..."
