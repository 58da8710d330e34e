"""What a goal says of numbers: how many items it asks for, and what it wants counted."""

import re
from itertools import dropwhile
from typing import Final

_UNIT: Final = "second|sec|minute|min|hour|hr|day|night|weekday|week|weekend|fortnight|month|quarter|year|decade"
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_ONES: Final = {
    word: n
    for n, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine"], 2)
}
_TEEN_WORDS: Final = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TEENS: Final = {word: n for n, word in enumerate(_TEEN_WORDS.split(), 10)}
_TEN_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS: Final = {word: 10 * n for n, word in enumerate(_TEN_WORDS.split(), 2)}
_SCALES: Final = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
    "k": 1000,
    "m": 1_000_000,
}
_SMALL: Final = {"a": 1, "one": 1} | _ONES | _TEENS | _TENS
_WORDS: Final = (
    rf"(?P<small>(?:{'|'.join(_TENS)})[\s-](?:{'|'.join(['one', *_ONES])})|{'|'.join([*_ONES, *_TEENS, *_TENS])})"
    r"(?:\s+(?P<times>dozen|hundred|thousand|million))?"
    r"|(?:an?\s+|one\s+)?(?P<scale>dozen|hundred|thousand|million)"
)
# The letter k means thousands in either case; m is a metre or a minute, and only M a million.
_QUANTITY: Final = re.compile(
    r"\b(?i:first|top|last)\s+"
    r"(?:(?P<digits>\d{1,3}(?:[,_'\u00a0\u202f]\d{3})+|\d+)(?P<fraction>\.\d+)?(?:(?P<letter>[kKM])|\s+(?P<name>(?i:thousand|million)))?"
    rf"|(?i:{_WORDS}))\b"
)
_SPAN_OF_TIME: Final = re.compile(
    rf"(?:[\s-]+(?:full|whole|calendar|business|working|consecutive|past))?"
    rf"(?:[\s-]*(?:{_UNIT})s\b|-(?:{_UNIT})\b|\s+(?:{_UNIT})(?:\s+(?:period|window|span|range|of|ago)\b|\s*[.,;:!?]|\s*$))"
)
_ONE_UNIT: Final = re.compile(rf"[\s-]+(?:{_UNIT})\b")
_DATE: Final = re.compile(rf"\s+(?:of\s+)?(?:{_MONTH})\b|\s*[/.,-]\d")
_SHARE: Final = re.compile(
    r"\s*(?:%|‰|percent(?:age|ile)?s?\b|per\s?cent\b|pct\b|thirds?\b|quarters?\b|fifths?\b|tenths?\b)"
)
_MEASURE: Final = re.compile(
    r"\s+(?:[kmg]?bps?|[kmgt]i?b|nt|aa|base\s?pairs?|bases|nucleotides|residues|(?:kilo|mega|giga)?(?:bytes?|bits?|bases?)"
    r"|words|characters|chars|letters|tokens|pixels|px|degrees"
    r"|[kcmn]?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|ft|inch(?:es)?|yards?"
    r"|[km]?g|kilograms?|grams?|lbs?|pounds?|dollars|euros|cents|usd|eur|m?s|ms|milliseconds?)(?![\w-])"
)
"""What is measured and not counted; lines, rows, pages and reads are items."""
_COMPOUND: Final = re.compile(r"-[^\W\d]")
"""``5-star`` and ``3-digit`` describe what follows and do not count it."""
_NO_COUNT: Final = (_SPAN_OF_TIME, _DATE, _SHARE, _MEASURE, _COMPOUND)
"""What follows a number that counts no items."""
MOST_DIGITS: Final = 9
"""Longer numbers are names, and no count of things."""

_COUNTING: Final = re.compile(r"\b(?:how many|number of|count(?: of| up)?)\b\s*(.*)", re.DOTALL)
_SKIPPED: Final = frozenset(
    {"the", "all", "my", "our", "your", "their", "of", "every", "each", "total", "number"}
)
_STOP: Final = re.compile(
    r"\b(?:did|do|does|have|has|had|are|were|is|was|will|would|can|could|in|on|at|from|to|for|with|by|of|that|which|who"
    r"|there|this|these|those|last|since|between|during|per|and|or|i|we|you|they|he|she|it|got|get)\b|[^\w\s'-]"
)
_PLURAL: Final = re.compile(
    r"(?:\w*[^siu]s|people|children|men|women|data|feet|mice|species|series)"
)


def extract_quantity(goal: str) -> int | None:
    """Return the number that follows ``first``, ``top`` or ``last``, or ``None`` (rules D-60, X-9).

    It may be written as ``5``, ``1,000``, ``10k``, ``2.5 million``, ``ten`` or ``two dozen``. A number that counts time
    (``last 30 days``), measures (``first 100 bp``, ``top 10%``), describes (``top 5-star hotels``) or stands in a date
    (``first 15 January``) is passed over; the next one counts.
    """
    for match in _QUANTITY.finditer(goal):
        number = _number(match)
        rest = goal[match.end() :].lower()
        if number is None or any(pattern.match(rest) for pattern in _NO_COUNT):
            continue
        if number == 1 and _ONE_UNIT.match(rest):
            continue
        return number
    return None


def _number(match: re.Match[str]) -> int | None:
    """Return the number that a goal names, ``None`` for one that is no count of things."""
    part = {name: (text or "").lower() for name, text in match.groupdict().items()}
    if not part["digits"]:
        words = re.split(r"[\s-]", part["small"]) if part["small"] else ["one"]
        return sum(_SMALL[word] for word in words) * _SCALES.get(part["times"] or part["scale"], 1)
    scale = _SCALES.get(part["letter"] or part["name"], 1)
    digits = re.sub(r"\D", "", part["digits"])
    fraction = part["fraction"].strip(".")
    if len(digits) > MOST_DIGITS or len(fraction) > MOST_DIGITS or (fraction and scale == 1):
        return None
    number, left = divmod(int(digits + fraction) * scale, 10 ** len(fraction))
    return None if left else number


def counted_noun(goal: str) -> str | None:
    """Return what a goal wants counted, ``None`` for nothing: ``how many long runs did I do`` gives ``runs``.

    The first plural that no other follows: ``how many reads mapped`` gives ``reads``.
    """
    match = _COUNTING.search(goal.lower())
    if match is None:
        return None
    rest = " ".join(dropwhile(_SKIPPED.__contains__, match.group(1).split()))
    phrase = _STOP.split(rest, maxsplit=1)[0].split()
    if not phrase:
        return "items"
    noun = phrase[-1]
    for word, following in zip(phrase, [*phrase[1:], ""], strict=True):
        if _PLURAL.fullmatch(word) and not _PLURAL.fullmatch(following):
            noun = word
            break
    return noun.strip("'-") or "items"
