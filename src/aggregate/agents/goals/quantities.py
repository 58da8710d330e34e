"""Find a goal's number of items, or its counted noun.

"The first three files" states a number, "how many files" asks for one (D-60, D-71, X-9).
"""

import re
from itertools import dropwhile
from typing import Final

_NUMBER_WORDS: Final = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
NUMBERS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 2)}
# Longer numbers are names
MOST_DIGITS: Final = 9
_NUMBER: Final = rf"\d{{1,3}}(?:[,_'\u00a0\u202f]\d{{3}})+|\d+|{'|'.join(NUMBERS)}"
_QUANTITY: Final = re.compile(
    rf"\b(?:first|top|last)\s+(?P<number>{_NUMBER})\b"
    # "the 3 first rides", but not "ride 3 first"
    rf"|\b(?:the|my|our|your|their|these|those)\s+(?P<before>{_NUMBER})\s+(?:first|top|last)\b",
    re.IGNORECASE,
)
_UNIT: Final = (
    "second|sec|minute|min|hour|hr|day|night|weekday|week|weekend|month|quarter|year|decade"
)
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
# Words behind a number of time, a date, a share, a measure or a description
_NO_COUNT: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:[\s-]+(?:full|whole|calendar|business|working|consecutive|past))?"
        rf"(?:[\s-]*(?:{_UNIT})s\b|-(?:{_UNIT})\b|\s+(?:{_UNIT})(?:\s+(?:period|window|span|range|of|ago)\b|\s*[.,;:!?]|\s*$))",
        rf"\s+(?:of\s+)?(?:{_MONTH})\b|\s*[/.,-]\d",
        r"\s*(?:%|percent(?:age|ile)?s?\b|per\s?cent\b|thirds?\b|quarters?\b|fifths?\b|tenths?\b)",
        # Measures; lines, rows, pages and reads are items.
        r"\s+(?:[kmg]?bps?|[kmgt]i?b|base\s?pairs?|bases|bytes?|words|characters|letters|tokens|pixels"
        r"|[kcm]?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|[km]?g|kilograms?|grams?|pounds?|dollars|euros|m?s)(?![\w-])",
        # "5-star" and "3-digit" describe
        r"-[^\W\d]",
    )
)

_COUNTING: Final = re.compile(r"\b(?:how many|number of|count(?: of| up)?)\b\s*(.*)", re.DOTALL)
_SKIPPED: Final = frozenset(
    {"the", "all", "my", "our", "your", "their", "of", "every", "each", "total", "number"}
)
_STOP: Final = re.compile(
    r"\b(?:did|do|does|have|has|had|are|were|is|was|will|would|can|could|in|on|at|from|to|for|with|by|of|that|which|who"
    r"|there|this|these|those|last|since|between|during|per|and|or|i|we|you|they|he|she|it|got|get)\b|[^\w\s'-]"
)
_is_plural: Final = re.compile(
    r"(?:\w*[^siu]s|people|children|men|women|data|feet|mice|species|series)"
).fullmatch


def extract_quantity(goal: str) -> int | None:
    """Return a goal's number beside ``first``, ``top`` or ``last``.

    Rules D-60 and X-9. Numbers of time (``last 30 days``), measures (``first 100 bp``), descriptions
    (``top 5-star hotels``) and dates (``first 15 January``) are skipped.
    """
    for match in _QUANTITY.finditer(goal):
        word = (match["number"] or match["before"]).lower()
        digits = re.sub(r"\D", "", word)
        rest = goal[match.end() :].lower()
        if len(digits) > MOST_DIGITS or any(pattern.match(rest) for pattern in _NO_COUNT):
            continue
        number = int(digits) if digits else NUMBERS[word]
        if number > 1 or not re.match(rf"[\s-]+(?:{_UNIT})\b", rest):
            return number
    return None


def counted_noun(goal: str) -> str | None:
    """Return the noun that a goal counts: ``runs`` for ``how many long runs did I do``."""
    match = _COUNTING.search(goal.lower())
    if match is None:
        return None
    rest = " ".join(dropwhile(_SKIPPED.__contains__, match.group(1).split()))
    phrase = _STOP.split(rest, maxsplit=1)[0].split()
    if not phrase:
        return "items"
    pairs = zip(phrase, [*phrase[1:], ""], strict=True)
    ends = (word for word, next_word in pairs if _is_plural(word) and not _is_plural(next_word))
    return next(ends, phrase[-1]).strip("'-") or "items"
