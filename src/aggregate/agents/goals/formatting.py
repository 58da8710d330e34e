"""Earlier results as a model is shown them: short, newest first, in a fence that they cannot leave."""

from collections.abc import Mapping, Sequence
from typing import Final

from aggregate.base.text import fence, value_text
from aggregate.base.values import Value, is_reference, json_text

ONE: Final = 160
ALL: Final = 600
ANSWER: Final = 2000
"""Characters of one result, of all of them for arguments, and of all of them for an answer.

With these a question has a few hundred tokens.
"""
MEMORY: Final = "_memory"


def clip(text: str, most: int) -> str:
    """Return ``text``, or its beginning with a note of how much there is."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters in all)"


def fenced_data(value: Value, most: int = ONE) -> str:
    """Return one value in a fence."""
    return fence(clip(value_text(value, indent=None), most))


def known_results(context: Mapping[str, Value], *, each: int = ONE, most: int = ALL) -> str:
    """Return the results in a context in a fence, newest first; what is left out is counted.

    Args:
        context: Results by key.
        each: Characters of one.
        most: Characters of all.
    """
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
    if key == MEMORY and isinstance(value, Mapping):
        return memory_line(value)
    return " ".join(value_text(value, indent=None).split())


def memory_line(memory: Mapping[str, Value]) -> str:
    """Return the saved values that were recalled, each in a few words."""
    texts = (f"{key} ({clip(json_text(value), 60)})" for key, value in memory.items())
    return ", ".join(texts) or "nothing"


def fenced_memory(memory: Mapping[str, Value]) -> str:
    """Return the saved values that were recalled in a fence, a word without one where there are none."""
    return fenced_data(memory_line(memory), ALL) if memory else "nothing"


def field_names(names: Sequence[str], *, of: str = "") -> str:
    """Return names of fields, and of the list ``of`` whose items have them, in a fence: they came with the data."""
    line = ", ".join(" ".join(name.split()) for name in names)
    if of:
        line = f"{' '.join(of.split())}: {line}"
    return fence(clip(line or "none", ALL))
