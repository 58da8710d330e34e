"""Texts of step results, for models and readers."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aggregate.agents.results import LabelledOutput
from aggregate.base.json_forms import DEPTH, json_text, jsonable
from aggregate.base.text import fence
from aggregate.base.values import Value, is_reference
from aggregate.prompt.asking.results import value_text

# Characters in a question, which so has a few hundred tokens
ONE_RESULT: Final = 160
ALL_RESULTS: Final = 600  # for arguments
FOR_ANSWER: Final = 2000
MEMORY_KEY: Final = "_memory"


def clip(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters in all)"


def fenced_data(value: Value, most: int = ONE_RESULT) -> str:
    return fence(clip(value_text(value, indent=None), most))


def known_results(
    context: Mapping[str, Value], *, each: int = ONE_RESULT, most: int = ALL_RESULTS
) -> str:
    lines: list[str] = []
    entries = [
        (key, value) for key, value in reversed(list(context.items())) if key != "_original_goal"
    ]
    for number, (key, value) in enumerate(entries):
        line = f"{key}: {clip(_summary(key, value), each)}"
        if lines and sum(map(len, lines)) + len(line) > most:
            lines.append(f"({len(entries) - number} older ones are not shown)")
            break
        lines.append(line)
    return fence("\n".join(lines) or "nothing yet")


def _summary(key: str, value: Value) -> str:
    if is_reference(value):
        return f'{str(value["summary"]).splitlines()[0]} (_ref_id "{value["_ref_id"]}")'
    if key == MEMORY_KEY and isinstance(value, Mapping):
        return memory_line(value)
    return " ".join(value_text(value, indent=None).split())


def memory_line(memory: Mapping[str, Value]) -> str:
    texts = (f"{key} ({clip(json_text(value), 60)})" for key, value in memory.items())
    return ", ".join(texts) or "nothing"


def field_names(names: Sequence[str], *, of: str = "") -> str:
    """Return the names of a list's fields in a fence, after the list's name ``of``."""
    line = ", ".join(" ".join(name.split()) for name in names)
    if of:
        line = f"{' '.join(of.split())}: {line}"
    return fence(clip(line or "none", ALL_RESULTS))


SHOWN_ITEMS: Final = 10
# Keys of an envelope's content, the outermost first
WRAPPERS: Final = ("final", "summary", "answer", "result")
ENVELOPE: Final = ("success", "type", "goal", "depth", "neurons", "results", "_tool_metadata")
NAME_FIELDS: Final = ("name", "full_name", "title", "firstname", "username")
DENDRITES: Final = "dendrite_results"


def count_of(result: Value) -> int | None:
    """Return the whole number that is a result's content, if any (D-71, D-72, X-8)."""
    is_object = isinstance(result, Mapping)
    for value in (result.get("result"), result.get("count")) if is_object else (result,):
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
            return int(value)
    return None


def envelope_content(result: Value) -> Value:
    for _ in range(DEPTH):  # an envelope may hold itself
        if not isinstance(result, Mapping) or is_reference(result):
            break
        inner = next((result[key] for key in WRAPPERS if result.get(key) is not None), None)
        if inner is None:
            rest = {key: value for key, value in result.items() if key not in ENVELOPE}
            return rest if rest else result
        result = inner
    return result


def value_lines(value: Value) -> str:
    """Return the first items of a list, or an object's fields, as lines."""
    if is_reference(value):
        return str(value["summary"])
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if not isinstance(value, list | tuple):
        return value_text(value)
    lines = [_inline(item) for item in value[:SHOWN_ITEMS]]
    if rest := len(value) - len(lines):
        lines.append(f"... and {rest} more ({len(value)} in all)")
    return "\n".join(lines) or "0 items"


def _inline(value: Value) -> str:
    if isinstance(value, list | tuple) and len(value) > SHOWN_ITEMS:
        return f"{len(value)} items"
    return value_text(value, indent=None)


def subtasks_text(result: Mapping[str, Any]) -> str:
    """Return a line for each sub-task: ``Activity 7: Ann, Bo (2 total)`` (D-73)."""
    lists = {k: v for k, v in result.items() if k != DENDRITES and isinstance(v, list)}
    key, items = next(iter(lists.items()), ("item", []))
    singular = f"{key[:-3]}y" if key.endswith("ies") else key.removesuffix("s")
    noun = str(result.get("item_noun") or singular).replace("_", " ").capitalize() or "Item"
    lines = []
    for number, subtask in enumerate(result[DENDRITES], 1):
        item = items[number - 1] if number <= len(items) else None
        name = item.get("id") if isinstance(item, Mapping) else None
        heading = f"{noun} {name}" if name is not None else f"Item {number}"
        lines.append(f"{heading}: {_subtask(subtask)}")
    return "\n".join(lines)


def _subtask(subtask: Value) -> str:
    if isinstance(subtask, Mapping) and (subtask.get("success") is False or subtask.get("error")):
        return f"failed: {value_text(subtask.get('error') or 'no reason given', indent=None)}"
    value = envelope_content(subtask)
    noun = "items"
    if isinstance(value, Mapping):
        lists = [(str(key), items) for key, items in value.items() if isinstance(items, list)]
        noun, value = lists[0] if lists else (noun, value)
    if not isinstance(value, list):
        return value_lines(value).replace("\n", "; ")
    names = []
    for item in value:
        fields = item if isinstance(item, Mapping) else {"name": item if type(item) is str else ""}
        names += [str(fields[field]) for field in NAME_FIELDS if fields.get(field)][:1]
    if value and len(names) == len(value):
        return f"{', '.join(names)} ({len(value)} total)"
    return f"{len(value)} {noun}"


def is_prose(result: Value) -> bool:
    """Return whether a result is text by the model alone."""
    return isinstance(result, Mapping) and result.get("type") == "ai_response"


def is_failure(result: Value) -> bool:
    if not isinstance(result, Mapping):
        return False
    return result.get("success", True) is False or bool(jsonable(result.get("error")))


def labelled(results: Sequence[Value]) -> list[LabelledOutput]:
    """Convert results of sub-tasks to outputs for a merge."""
    outputs: list[LabelledOutput] = []
    for result in results:
        error = failure_message(result) if is_failure(result) else None
        outputs.append(LabelledOutput(result, error=error))
    return outputs


def failure_message(failure: Mapping[str, Any]) -> str:
    return str(failure.get("error") or "no reason given")
