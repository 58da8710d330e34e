"""Aggregated results as text: what a reader of a prompt or a terminal sees."""

import re
from typing import Final

from aggregate.base.json_forms import json_text
from aggregate.base.values import Value, escape_surrogates
from aggregate.prompt.results.results import AggregatedResult, MergeStrategy

_BREAK: Final = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"


# A line's break, and its words up to a colon; labels are shorter.
_LINE: Final = re.compile(rf"([{_BREAK}])([^:{_BREAK}]{{1,300}}):")


def result_text(result: AggregatedResult, *, labels: bool = True) -> str:
    r"""Render the value of ``result`` (``concat`` with ``labels``, O-3); open and unknown groups give ``""``.

    A line inside an item that begins as the label of an item does gets a ``\`` before it, so that no item can pass a
    part of itself off as another's.
    """
    if result.value is None:
        return ""
    if result.strategy is not MergeStrategy.CONCAT or not issubclass(type(result.value), list):
        return value_text(result.value)
    texts = [value_text(item) for item in result.value]
    is_labelled = labels and len(result.labels) == len(texts)
    known = {_beginning(name) for name in result.labels if name} if is_labelled else set()
    if not known:
        return "\n\n".join(texts)

    def escaped(match: re.Match[str]) -> str:
        line_break, words = match.groups()
        return f"{line_break}\\{words}:" if _beginning(words) in known else match.group()

    items: list[str] = []
    for name, text in zip(map(escape_surrogates, result.labels), texts, strict=True):
        # The first line of an item with a label stands behind that label.
        body = _LINE.sub(escaped, text if name else f"\n{text}")
        items.append(f"{name}: {body}" if name else body[1:])
    return "\n\n".join(items)


def _beginning(label: str) -> str:
    words = label.strip().partition(":")[0]
    return "".join(filter(str.isalnum, words)).casefold() or words


def value_text(value: Value, *, indent: int | None = 2) -> str:
    """Return text as it is and anything else as JSON; the same value gives the same text in every process."""
    return escape_surrogates(value) if type(value) is str else json_text(value, indent=indent)
