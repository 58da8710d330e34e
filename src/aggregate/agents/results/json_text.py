"""JSON in the texts that agents return: bare, or inside one markdown fence with or without words around it."""

import json
import re
from dataclasses import dataclass
from typing import Final

from aggregate.base.values import Value

_FENCE: Final = re.compile(r"(`{3,50}|~{3,50})[ \t]*([\w+-]*)\s*")
_JSON: Final = ("", "json", "json5", "jsonc")
_NOT_BEGUN: Final = "the text does not begin as JSON"


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """The text holds no JSON object or array, or more than one."""


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """The object or array in a text, and the words around its fence, ``""`` where there are none."""

    value: Value
    around: str = ""


def parse_json_text(text: str) -> ParsedJson:
    """Return the object or array that ``text`` is, or that stands in its one JSON fence.

    Bare scalars stay text: an agent that answers ``42`` or ``true`` has written words.

    Raises:
        NotJson: The text is something else, or JSON that this process cannot hold (too deep, a number too long).
    """
    body = str.__str__(text).strip()  # a subclass may have a strip of its own
    if body.startswith(("{", "[")):
        try:
            return ParsedJson(_DECODER.decode(body))
        except (ValueError, RecursionError) as error:
            raise NotJson(str(error)) from None
    if "```" not in body and "~~~" not in body:
        raise NotJson(_NOT_BEGUN)
    fences = _fences(body)
    if len(fences) > 1:
        raise NotJson(f"the text holds {len(fences)} JSON blocks, not one")
    if not fences:
        raise NotJson(_NOT_BEGUN)
    value, start, end = fences[0]
    return ParsedJson(value, f"{body[:start]} {body[end:]}".strip())


def _fences(text: str) -> list[tuple[Value, int, int]]:
    fences: list[tuple[Value, int, int]] = []
    position = 0
    while opening := _FENCE.search(text, position):
        run, after = opening.group(1), opening.end()
        value = None
        if opening.group(2).lower() in _JSON and text.startswith(("{", "["), after):
            try:
                # By value and not up to the next run of backticks: a text inside the JSON may hold one.
                value, after = _DECODER.raw_decode(text, after)
            except (ValueError, RecursionError):
                value = None
        if value is not None and (closing := re.compile(rf"\s*{run}").match(text, after)):
            fences.append((value, opening.start(), closing.end()))
        else:
            closing = re.compile(rf"(?<=\n)[ \t]*{run}").search(text, opening.end())
        if closing is None:
            break
        position = closing.end()
    return fences


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
