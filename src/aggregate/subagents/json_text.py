"""JSON in the texts that agents return: bare, or inside one markdown fence."""

import json
import re
from typing import Final

from aggregate.models.plain import Value

_FENCED: Final = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:json5?|JSON)?[ \t]*\r?\n(.*)\n[ \t]*\1\s*", re.DOTALL)


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """The text holds no JSON object or array."""


def parsed(text: str) -> Value:
    """Return the object or array that ``text`` is.

    Bare scalars stay text: an agent that answers ``42`` or ``true`` has written words.

    Raises:
        NotJson: The text is something else, or JSON that this process cannot hold (too deep, a number too long).
    """
    fenced = _FENCED.fullmatch(text)
    body = (fenced.group(2) if fenced else text).strip()
    if not body.startswith(("{", "[")):
        raise NotJson("the text does not begin as JSON")
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is no JSON")
