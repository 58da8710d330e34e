"""Fixed rules on a step's words and on lists in results, without vocabulary of any domain."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aggregate.agents.goals.result_texts import DENDRITES
from aggregate.agents.tools.tool import Tool
from aggregate.base.errors import DataReferenceError
from aggregate.base.json_forms import json_text
from aggregate.base.values import Value
from aggregate.prompt.output.references import load_data_reference, recognise_reference

_STOP: Final = """
a an the of for in on to from at by with and or as is are was were be each every all my our your their its it this that
these those them i me we you into using use then which who what how do did have has had any some one only just also both
up out if there not no
"""
_VAGUE: Final = """
data result item list output information info detail answer thing content record value entry everything previous needed
relevant properly accordingly
"""
STOP: Final = frozenset(_STOP.split())
# Words without a specific object
VAGUE: Final = frozenset(_VAGUE.split())
_END: Final = re.compile(
    r"\s+(?:that|which|who|with|having|in|from|to|and|or|of|on|by|for|as|at|using|into|is|are|has|have|was|were|where"
    r"|when|if|then|so|but|now|again|once|separately|individually|please)\b.*|[^\w\s'-].*",
    re.DOTALL | re.IGNORECASE,
)
_ITERATION: Final = re.compile(
    r"\b(each|every|all)\s+(?:single\s+|one\s+)?(?:of\s+)?(?:(?:the|my|our|your|these|those)\s+)?(?=\w)",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(
    r"\b(?:start and end|both|and also|as well as|along with)\b", re.IGNORECASE
)
_COMPOUND: Final = re.compile(r"\bthen\b|;|\n|(?:^|\s)[1-9][.)]\s", re.IGNORECASE)
# Words of an item's name after "each", as in "each long bike ride"
_NOUN_WORDS: Final = 3
# Sentences for the split of a goal by what its text, lower-case, holds
_ADVICE: Final = (
    (r"\b(?:how many|count|number of)\b", "Count with code, in one step, never by reading."),
    (r"\b(?:only|where|filter|that (?:has|have|are|is)|with|without|more than|less than|at least)\b",
     "Filter with code."),
    (r"\b(?:all|every|each|total|sum|average)\b", "Fetch everything once, then compute over all of it."),
    (r"\b(?:today|yesterday|week|month|year|january|february|march|april|may|june|july|august|september|october"
     r"|november|december|\d{4}|last \d+ days?|since|between)\b",
     "Convert the dates to timestamps first, fetch that range once, then analyse."),
)  # fmt: skip


def words(text: str) -> list[str]:
    return list(map(singular, plain_words(text)))


def plain_words(text: str) -> list[str]:
    """Return a text's words in lower case, with camelCase names split."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return re.findall(r"[^\W_]+", spaced.lower())


def singular(word: str) -> str:
    """Remove the ending of a regular plural: ``activities`` becomes ``activity``."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def significant_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP]


@dataclass(frozen=True, slots=True)
class Iteration:
    """A step's words for list items, such as "each activity"."""

    phrase: str  # the words of the step
    noun: str  # in the singular


def find_iteration(step: str) -> Iteration | None:
    """Find ``each``, ``every`` or ``all`` with a noun (D-21, D-28)."""
    matches = sorted(_ITERATION.finditer(step), key=lambda match: match[1].lower() == "all")
    if not matches:
        return None
    match = matches[0]
    noun_phrase = _END.sub("", step[match.end() :]).split()[:_NOUN_WORDS]
    if match[1].lower() == "all":
        # Up to the first plural: "all activities", not "all day".
        lower = [word.lower() for word in noun_phrase]
        plurals = [n for n, word in enumerate(lower, 1) if singular(word) != word]
        noun_phrase = noun_phrase[: plurals[0]] if plurals else []
    if not noun_phrase:
        return None
    last_word = noun_phrase[-1]
    end = step.index(last_word, match.end()) + len(last_word)
    noun = last_word.lower().removesuffix("'s").removesuffix("s'").strip("'-")
    return Iteration(step[match.start() : end], singular(noun))


def has_parts(step: str, tool: Tool | None) -> bool:
    """Return whether a step may have similar parts (P9).

    Its words suggest parts, or it mentions several values for a tool with one argument. A tool returning both ends of a
    range needs no parts.
    """
    if tool is not None:
        both_ends = {"start", "end"}
        parameter_names = " ".join(parameter.name for parameter in tool.parameters)
        tool_words = set(words(f"{tool.name} {tool.description} {parameter_names}"))
        if both_ends <= set(words(step)) and both_ends <= tool_words:
            return False
    if _PARTS.search(step):
        return True
    required = tool.required if tool else ()
    if len(required) != 1 or required[0].type == "list":
        return False
    name = required[0].name.lower()
    step_words = re.findall(r"\w+", step.lower())
    return any(word != name and singular(word) == name for word in step_words)


def is_compound(goal: str) -> bool:
    return _COMPOUND.search(goal) is not None


def is_vague(step: str) -> bool:
    """Return whether a step names no object, as in ``Process the data`` (P3)."""
    after_verb = significant_words(step)[1:]
    return all(word in VAGUE for word in after_verb)


def advice(goal: str) -> str:
    text = goal.lower()
    sentences = [sentence for pattern, sentence in _ADVICE if re.search(pattern, text)]
    return " ".join(sentences) or "none"


# The key of an item's own result (rule D-29)
ATTACHED: Final = "_dendrite_result"
NEURON: Final = "neuron_"
# Common keys of lists, without the noun of the items
USUAL: Final = ("items", "entries", "data", "results", "result", "list", "records", "objects")
_DEPTH: Final = 5  # of nested objects whose lists count
# Items whose fields represent all: items of one list mostly have the same
_SAMPLE: Final = 5
HAVING: Final = re.compile(
    r"\b(?:that\s+(?:has|have)|with|having)\s+(?:an?\s+|any\s+|some\s+|the\s+)?(\w+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list in the result of a step."""

    name: str  # its key, "" if it is the whole result
    items: tuple[Value, ...]
    named: bool  # whether its key is the noun of its items
    is_nested: bool = False  # in an object of the result

    @property
    def digest(self) -> str:
        bare = [without_attached(item) for item in self.items]
        return hashlib.md5(json_text(bare).encode(), usedforsecurity=False).hexdigest()


def without_attached(item: Value) -> Value:
    if not isinstance(item, Mapping):
        return item
    return {key: value for key, value in item.items() if key != ATTACHED}


def resolve_reference(value: Value, cache_dir: Path) -> Value:
    """Load the value that a reference points to; return other values unchanged."""
    # Code may return a reference from its data.
    reference = recognise_reference(value, cache_dir=cache_dir)
    if reference is None:
        return value
    try:
        return load_data_reference(reference.ref_id, cache_dir=cache_dir)
    except DataReferenceError:
        return value


def find_list(context: Mapping[str, Value], noun: str, cache_dir: Path) -> ItemList | None:
    """Return the newest list named by the noun, else the newest that has items (D-22)."""
    filled: list[ItemList] = []
    for key in reversed([key for key in context if key.startswith(NEURON)]):
        for item_list in lists_in(resolve_reference(context[key], cache_dir), noun):
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
        yield ItemList("", tuple(value), named=False)
        return
    if not isinstance(value, Mapping):
        return
    lists = _lists_by_key([value])
    outer = {key for key in lists if isinstance(value.get(key), list)}
    noun_keys: list[str] = []
    if noun:
        noun_keys = [key for key in lists if words(key)[-1:] == [singular(noun)]]
        if value.get("item_noun") == noun and "items" in lists:
            noun_keys.append("items")
    usual = [key for key in USUAL if key in lists]
    for key in dict.fromkeys((*noun_keys, *usual, *lists)):
        yield ItemList(key, tuple(lists[key]), named=key in noun_keys, is_nested=key not in outer)


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


def filter_items(items: Sequence[Value], step: str) -> tuple[Value, ...]:
    """Return the items matching a step's ``with X`` (D-32).

    If none matches, return all items. An item has X if its field ``X``, ``X_count`` or ``has_X`` has a value.
    """
    for match in HAVING.finditer(step):
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
    if not isinstance(item, Mapping):
        return None
    like_ids = [key for key in item if re.search(r"(?:_id|Id)$", str(key))]
    for name in ("id", f"{noun}_id", *like_ids):
        if isinstance(item.get(name), int | str):
            return name, item[name]
    return None


_FIELD: Final = re.compile(r"\{\s*(\w+)\s*\}")
_NAMES: Final = ("number", "key", "name", "title", "date", "path", "url", "item")
# Characters of a field in a goal: enough for a title or a path
MOST_VALUE: Final = 200


def naming_field(item: Value, noun: str) -> str:
    """Return the field that identifies an item, such as its id, else ``""``."""
    if not isinstance(item, Mapping):
        return "item"
    identity = item_identity(item, noun)
    return identity[0] if identity else next((name for name in _NAMES if item.get(name)), "")


def rule_template(step: str, iteration: Iteration, item: Value) -> str | None:
    """Return the goal of an item's sub-task by a rule: ``Get kudos for activity {id}``."""
    field = naming_field(item, iteration.noun)
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
