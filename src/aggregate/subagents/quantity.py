"""What a goal says of numbers: how many items it asks for, and what it wants counted."""

import re
from typing import Final

_UNIT: Final = "second|sec|minute|min|hour|hr|day|night|weekday|week|weekend|fortnight|month|quarter|year|decade"
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_QUANTITY: Final = re.compile(r"\b(?:first|top|last)\s+(\d+)\b")
_SPAN_OF_TIME: Final = re.compile(
    rf"(?:[\s-]+(?:full|whole|calendar|business|working|consecutive|past))?"
    rf"(?:[\s-]*(?:{_UNIT})s\b|-(?:{_UNIT})\b|\s+(?:{_UNIT})(?:\s+(?:period|window|span|range)\b|\s*[.,;:!?]|\s*$))"
)
_ONE_UNIT: Final = re.compile(rf"[\s-]+(?:{_UNIT})\b")
_DATE: Final = re.compile(rf"\s+(?:of\s+)?(?:{_MONTH})\b|\s*[/.-]\d")
MOST_DIGITS: Final = 9

_COUNTING: Final = re.compile(r"\b(?:how many|number of|count(?: of| up)?)\b\s*(.*)", re.DOTALL)
_SKIPPED: Final = frozenset({"the", "all", "my", "our", "your", "their", "of", "every", "each", "total", "number"})
_STOP: Final = re.compile(
    r"\b(?:did|do|does|have|has|had|are|were|is|was|will|would|can|could|in|on|at|from|to|for|with|by|of|that|which|who"
    r"|there|this|these|those|last|since|between|during|per|and|or|i|we|you|they|he|she|it|got|get)\b|[^\w\s'-]"
)


def extract_quantity(goal: str) -> int | None:
    """Return the number that follows ``first``, ``top`` or ``last``, or ``None`` (rules D-60, X-9).

    A number that counts time (``last 30 days``, ``last 24-hour``) or stands in a date (``first 15 January``) is passed
    over; the next one counts.
    """
    text = goal.lower()
    for match in _QUANTITY.finditer(text):
        number, rest = match.group(1), text[match.end() :]
        if len(number) > MOST_DIGITS or _SPAN_OF_TIME.match(rest) or _DATE.match(rest):
            continue
        if int(number) == 1 and _ONE_UNIT.match(rest):
            continue
        return int(number)
    return None


def counted_noun(goal: str) -> str | None:
    """Return what a goal wants counted, ``None`` for nothing: ``how many long runs did I do`` gives ``runs``."""
    match = _COUNTING.search(goal.lower())
    if match is None:
        return None
    rest = match.group(1).split()
    while rest and rest[0] in _SKIPPED:
        rest.pop(0)
    phrase = _STOP.split(" ".join(rest), maxsplit=1)[0].split()
    return phrase[-1].strip("'-") or "items" if phrase else "items"
