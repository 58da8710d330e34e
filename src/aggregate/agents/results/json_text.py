"""JSON in the texts that agents return: bare, or inside one markdown fence with or without words around it."""

import json
import re
from typing import Final

from aggregate.base.values import Value

_FENCE: Final = re.compile(r"(`{3,50}|~{3,50})[ \t]*([\w+-]*)\s*")
_JSON: Final = ("", "json", "json5", "jsonc")


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """The text holds no JSON object or array, or more than one."""


def parse_json_text(text: str) -> tuple[Value, str]:
    """Return the object or array that ``text`` is, or that stands in its one JSON fence, and the words around that.

    Bare scalars stay text: an agent that answers ``42`` or ``true`` has written words.
    """
    body = text.strip()
    if body.startswith(("{", "[")):
        try:
            return _DECODER.decode(body), ""
        except (ValueError, RecursionError) as error:
            raise NotJson(str(error)) from None
    blocks = []
    position = 0
    while opening := _FENCE.search(body, position):
        value, after = None, opening.end()
        if opening[2].lower() in _JSON and body.startswith(("{", "["), after):
            try:
                # By value and not up to the next run of backticks: a text inside the JSON may hold one.
                value, after = _DECODER.raw_decode(body, after)
            except (ValueError, RecursionError):
                value = None
        if value is not None and (closing := re.compile(rf"\s*{opening[1]}").match(body, after)):
            blocks.append((value, f"{body[: opening.start()]} {body[closing.end() :]}".strip()))
        else:
            closing = re.compile(rf"(?<=\n)[ \t]*{opening[1]}").search(body, opening.end())
        if closing is None:
            break
        position = closing.end()
    if not blocks:
        raise NotJson("the text does not begin as JSON")
    if len(blocks) > 1:
        raise NotJson(f"the text holds {len(blocks)} JSON blocks, not one")
    return blocks[0]


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
