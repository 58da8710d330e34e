"""Fixed rules on the words of goals and steps, without vocabulary of any domain.

They find the items of a step ("each activity"), its parts, a goal's number of items ("the first three files") and
counted noun ("how many files"), and which items of a list a text can mean. No model is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final

from aggregate.agents.tools import Tool

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
# Words of an item's name after "each", as in "each long bike ride"
_NOUN_WORDS: Final = 3
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
        names = " ".join(parameter.name for parameter in tool.parameters)
        tool_words = words(f"{tool.name} {tool.description} {names}")
        if {"start", "end"}.issubset(words(step)) and {"start", "end"}.issubset(tool_words):
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
    return VAGUE.issuperset(significant_words(step)[1:])


def advice(goal: str) -> str:
    """Return advice for splitting a goal, by its words (P0)."""
    text = goal.lower()
    sentences = [sentence for pattern, sentence in _ADVICE if re.search(pattern, text)]
    return " ".join(sentences) or "none"


# The number of items and the counted noun of a goal

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
_NO_COUNT: Final = re.compile(
    rf"(?:[\s-]+(?:full|whole|calendar|business|working|consecutive|past))?"
    rf"(?:[\s-]*(?:{_UNIT})s\b|-(?:{_UNIT})\b|\s+(?:{_UNIT})(?:\s+(?:period|window|span|range|of|ago)\b|\s*[.,;:!?]|\s*$))"
    rf"|\s+(?:of\s+)?(?:{_MONTH})\b|\s*[/.,-]\d"
    r"|\s*(?:%|percent(?:age|ile)?s?\b|per\s?cent\b|thirds?\b|quarters?\b|fifths?\b|tenths?\b)"
    # Measures; lines, rows, pages and reads are items.
    r"|\s+(?:[kmg]?bps?|[kmgt]i?b|base\s?pairs?|bases|bytes?|words|characters|letters|tokens|pixels"
    r"|[kcm]?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|[km]?g|kilograms?|grams?|pounds?|dollars|euros|m?s)(?![\w-])"
    # "5-star" and "3-digit" describe
    r"|-[^\W\d]"
)
_COUNTING: Final = re.compile(r"\b(?:how many|number of|count(?: of| up)?)\b\s*(.*)", re.DOTALL)
_SKIPPED: Final = frozenset(
    {"the", "all", "my", "our", "your", "their", "of", "every", "each", "total", "number"}
)
_NOUN_END: Final = re.compile(
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
        if len(digits) > MOST_DIGITS or _NO_COUNT.match(rest):
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
    phrase = _NOUN_END.split(rest, maxsplit=1)[0].split()
    if not phrase:
        return "items"
    pairs = zip(phrase, [*phrase[1:], ""], strict=True)
    ends = (word for word, next_word in pairs if _is_plural(word) and not _is_plural(next_word))
    return next(ends, phrase[-1]).strip("'-") or "items"


# The items that a text can mean (P18). The words check a choice; they never make one.

_AMOUNTS: Final = {"one": 1, "both": 2, "couple": 2, **NUMBERS}
_AMOUNT: Final = rf"(?<!of the )(?<!of these )(?<![\w.-])(\d{{1,4}}|{'|'.join(_AMOUNTS)})\b"
_EXCEPT: Final = re.compile(
    r"\b(?:except(?:ing)?(?: for)?|excluding|but(?! only\b)(?: not)?|other than|apart from|save for"
    r"|leav(?:e|ing) out|skip(?:ping)?|omit(?:ting)?|without|not)\b"
)
# Of these only an item's name makes an exception: "not now", "without a balcony"
_WEAK: Final = ("not", "without", "but", "but not")
_EACH: Final = re.compile(r"\b(?:per|each|every|apiece)\b")
_ORDINAL: Final = re.compile(r"\b(?:first|last|second|third|fourth|fifth|sixth)\b")
_OTHERS: Final = re.compile(r"\b(?:other(?! than)|others|rest|remaining)\b")
# Words of a condition: "all rooms that are free", "every second room", "a room next to room 4"
_FILTER: Final = re.compile(
    r"\b(?:that|which|who|whose|where|with|without|having|if|unless|until|under|over|below|above|than|between|only"
    r"|least|most|near|next to|beside|(?<!one )after|before|from|like|every (?:second|third|other))\b"
)
_ALL: Final = re.compile(
    r"\b(all|every|each|everything|whole list|entire list|the lot)\b((?:\s+[\w'-]+){0,5})"
)
_LINKS: Final = frozenset(
    [",", "and", "or", "&", "plus", "number", "numbers", "no", "id", "ids", "only", "please"]
)
_AFTER_NAMES: Final = frozenset(
    ["", ",", "and", "or", "&", "to", "through", "-", "for", "on", "only"]
)
_RANGES: Final = frozenset(["to", "through", "until", "-", "\u2013"])
_ARTICLES: Final = frozenset(
    ["of", "the", "my", "our", "your", "their", "these", "those", "them", "single", "one", "ones"]
)


@dataclass(frozen=True, slots=True)
class ItemClaim:
    """The number and names of the items that a text can mean."""

    least: int
    most: int
    names: frozenset[int] = frozenset()  # the only items meant; empty if the text names none
    excluded: frozenset[int] = frozenset()

    def fault(self, chosen: Sequence[int]) -> str:
        """Return why the chosen items contradict the text, or ``""``."""
        number = len(set(chosen))
        if self.excluded.intersection(chosen):
            return "the choice names excluded items"
        if self.names and self.names != set(chosen):
            return "the step names other items"
        if self.least <= number <= self.most:
            return ""
        expected = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{expected} items are expected, {number} were named"


def read_claim(
    text: str, noun: str, names: Sequence[Sequence[str]], fields: Sequence[str] = ()
) -> ItemClaim:
    """Parse which items a text is about: names, an exception, a number, or all.

    Args:
        text: A step, or the part of the goal about it.
        noun: The noun for one item, in the singular.
        names: The names of each item, such as its id and its title.
        fields: The names of the items' fields; "all rooms on floor 2" is a condition if ``floor`` is one.
    """
    total = len(names)
    text = text.lower()
    included, word, exception = _halves(text)
    excluded, _ = _named(exception, noun, names, is_exception=True)
    named, is_exact = _named(included, noun, names)
    everything = is_exact and _everything(included, noun)
    field = "|".join(re.escape(" ".join(plain_words(name))) for name in fields) or "(?!)"
    by_field = rf"\b(?:on|in|at|of|by) (?:the )?(?:{field})\b"
    is_filtered = any(re.search(words, included) for words in (_FILTER, by_field))
    is_filtered = is_filtered or bool(_OTHERS.search(text))
    is_list = is_exact and not _ORDINAL.search(included)  # not "the first and the Blue room"
    if named and is_list and not everything and not is_filtered:
        return ItemClaim(len(named), len(named), named, excluded)
    count = None if named and is_exact else _count(included, noun)
    is_exception = bool(word) and bool(excluded or word not in _WEAK or _ALL.search(included))
    least, most = 0, total
    if count is not None:
        least = most = count
    elif is_exception and not is_filtered:
        left_out = len(excluded) or _count(exception, noun) or 0
        least, most = (total - left_out, total - left_out) if left_out else (1, total - 1)
    elif everything and not is_filtered:
        least = total
    return ItemClaim(least, most, excluded=excluded)


def _halves(text: str) -> tuple[str, str, str]:
    """Split a text at an exception: the text without it, the introducing word, the exception."""
    match = _EXCEPT.search(text)
    if match is None or re.search(r"\b(?:none|nothing|no \w+)\s*$", text[: match.start()]):
        return text, "", ""  # "none but room 2" names it
    beginning, rest = text[: match.start()], text[match.end() :]
    separator = r"[,;.]\s*" if not beginning.strip() else r"[;.](?:\s|$)|,?\s*\bthen\b"
    excluded, *after = re.split(separator, rest, maxsplit=1)
    return f"{beginning} {' '.join(after)}", match[0], excluded


def _named(
    text: str, noun: str, names: Sequence[Sequence[str]], *, is_exception: bool = False
) -> tuple[frozenset[int], bool]:
    """Return the items named in a text, and whether the list is complete (not in "2 to 4")."""
    by_name = {name.lower(): n for n, of_item in enumerate(names) for name in of_item if name}
    items: set[int] = set()
    for name, n in by_name.items():
        is_word = len(name) > 1 and not name.isdigit()
        if is_word and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            items.add(n)
    is_exact, may_follow, is_after_noun = True, is_exception, False
    tokens = [*re.findall(r"[\w'.-]*\w|[,&\u2013-]", text), ""]
    for position, token in enumerate(tokens[:-1]):
        is_noun = singular(token) == noun
        # Behind the verb a number may count: "book 2 and 5" names, "book 2 of the rooms" does not
        is_name = is_after_noun or tokens[position + 1] in _AFTER_NAMES
        if token in by_name and may_follow and is_name and singular(tokens[position + 1]) != noun:
            items.add(by_name[token])
        elif token in _RANGES and {tokens[position - 1], tokens[position + 1]} <= by_name.keys():
            is_exact = False
        elif token not in _LINKS:
            may_follow, is_after_noun = is_noun or position == 0, is_noun
    return frozenset(items), is_exact


def _count(text: str, noun: str) -> int | None:
    """Return the number of items in a text: "two of the rooms", "the first room", "any three"."""
    first = extract_quantity(text)
    # "At least two" and "more than one bed" are no number.
    if first is not None or re.search(r"\b(?:than|least|most|until|up to)\b", text):
        return first
    for match in re.finditer(rf"{_AMOUNT}((?:\s+[\w'-]+){{0,3}})", text):
        word, following = match[1], match[2].split()
        before = text[: match.start()].split()[-1:]
        if word == "one" and (_EACH.search(text) or following[:1] in (["by"], ["at"], ["after"])):
            continue
        is_meant = noun in map(singular, following) or following[:1] == ["of"]
        is_alone = not following and (not word.isdigit() or before == ["all"])
        if is_meant or (is_alone and before not in (["for"], ["to"], ["by"])):
            return _AMOUNTS.get(word) or int(word)
    single = rf"(?<!every )(?<!each ){_ORDINAL.pattern} (?:{re.escape(noun)}|one)\b"
    return 1 if len(_ORDINAL.findall(text)) == 1 and re.search(single, text) else None


def _everything(text: str, noun: str) -> bool:
    """Return whether a text means all items: "all six rooms", but not "all free rooms"."""
    for match in _ALL.finditer(text):
        described = [word for word in match[2].split() if word not in _ARTICLES]
        nouns = [n for n, word in enumerate(described) if singular(word) == noun]
        if nouns or not described or match[1] not in ("all", "every", "each"):
            adjectives = described[: sum(nouns[:1])]
            return all(word in _AMOUNTS or word.isdigit() for word in adjectives)
    return False
