"""Lists among earlier results, also where they lie on disk, and the goal of one item (rules D-22, D-23, D-31, P8)."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals.formatting import DENDRITES
from aggregate.agents.goals.heuristics import Iteration, singular, words
from aggregate.base.errors import DataReferenceError
from aggregate.base.values import Value, json_text
from aggregate.prompt import load_data_reference, recognise_reference

# Where an item keeps what its sub-task gave (rule D-29)
ATTACHED: Final = "_dendrite_result"
NEURON: Final = "neuron_"
_USUAL: Final = ("items", "entries", "data", "results", "result", "list", "records", "objects")
# Items whose fields stand for those of all: items of one list mostly have the same
_SAMPLE: Final = 5
_FILTER: Final = re.compile(
    r"\b(?:that\s+(?:has|have)|with|having)\s+(?:an?\s+|any\s+|some\s+|the\s+)?(\w+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list among results; ``name`` is ``""`` where it is the result, ``named`` says that items are called so."""

    name: str
    items: tuple[Value, ...]
    named: bool

    @property
    def digest(self) -> str:
        """The same for the same items, whatever sub-tasks have attached to them."""
        bare = [without_attached(item) for item in self.items]
        return hashlib.md5(json_text(bare).encode(), usedforsecurity=False).hexdigest()


def without_attached(item: Value) -> Value:
    if not isinstance(item, Mapping):
        return item
    return {key: value for key, value in item.items() if key != ATTACHED}


def resolve_reference(value: Value, cache_dir: Path) -> Value:
    """Return the value behind a reference, anything else as it is; a lost file leaves the reference."""
    # Code may have handed on a reference that it was given as data.
    reference = recognise_reference(value, cache_dir=cache_dir)
    if reference is None:
        return value
    try:
        return load_data_reference(reference.ref_id, cache_dir=cache_dir)
    except DataReferenceError:
        return value


def find_list(context: Mapping[str, Value], noun: str, cache_dir: Path) -> ItemList | None:
    """Return the newest list whose key is the noun, else the newest list that holds something (rule D-22).

    What sub-tasks gave is none: it was gone through already (rule D-34).
    """
    newest: ItemList | None = None
    for key in reversed([key for key in context if key.startswith(NEURON)]):
        for item_list in lists_in(resolve_reference(context[key], cache_dir), noun):
            if item_list.named:
                return item_list
            if newest is None and item_list.items:
                newest = item_list
    return newest


def lists_in(value: Value, noun: str = "") -> Iterator[ItemList]:
    """Yield the lists in a result: those that the noun names first, then those under a usual key, then the others."""
    if isinstance(value, list):
        yield ItemList("", tuple(value), named=False)
        return
    if not isinstance(value, Mapping):
        return
    lists = {
        str(key): item for key, item in value.items() if isinstance(item, list) and key != DENDRITES
    }
    named: list[str] = []
    if noun:
        named = [key for key in lists if words(key)[-1:] == [singular(noun)]]
        if value.get("item_noun") == noun and "items" in lists:
            named.append("items")
    usual = [key for key in _USUAL if key in lists]
    for key in dict.fromkeys((*named, *usual, *lists)):
        yield ItemList(key, tuple(lists[key]), named=key in named)


def filter_items(items: Sequence[Value], step: str) -> tuple[Value, ...]:
    """Return the items that have what a step says: ``with X`` is that X, ``X_count`` or ``has_X`` has a value (D-32).

    Where no item has such a field, or none is left, all of them.
    """
    for match in _FILTER.finditer(step):
        word = match.group(1).lower()
        noun = singular(word)
        fields = (word, f"{word}_count", f"{noun}_count", f"has_{word}", f"{word}s", noun)
        matching = tuple(
            item for item in items if isinstance(item, Mapping) and any(map(item.get, fields))
        )
        if matching:
            return matching
    return tuple(items)


def fields_of(items: Sequence[Value]) -> list[str]:
    objects = [item for item in items[:_SAMPLE] if isinstance(item, Mapping)]
    return list(dict.fromkeys(str(key) for item in objects for key in item))


def item_identity(item: Value, noun: str = "") -> tuple[str, Any] | None:
    """Return the field that tells an item from others, and its value."""
    if not isinstance(item, Mapping):
        return None
    like_ids = [key for key in item if re.search(r"(?:_id|Id)$", str(key))]
    for name in ("id", f"{noun}_id", *like_ids):
        if isinstance(item.get(name), int | str):
            return name, item[name]
    return None


_FIELD: Final = re.compile(r"\{\s*(\w+)\s*\}")
_NAMES: Final = ("name", "title", "date", "path", "url", "item")
# Characters of a field in a goal: enough for a title or a path
MOST_VALUE: Final = 200


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
    text = " ".join(str(value).split()).replace("{", "(").replace("}", ")")
    return text if len(text) <= MOST_VALUE else f"{text[:MOST_VALUE]}..."
