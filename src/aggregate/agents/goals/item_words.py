"""Find the number and names of items in steps (P18).

No model is asked. The words check a choice of items; they never make one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.agents.goals.heuristics import singular
from aggregate.agents.goals.quantities import NUMBERS, extract_quantity

_NUMBERS: Final = {"one": 1, "both": 2, "couple": 2, **NUMBERS}
_COUNT: Final = rf"\d{{1,4}}|{'|'.join(NUMBERS)}"
_EXCEPT: Final = re.compile(
    r"\b(?:except(?:ing)?(?: for)?|excluding|but(?! only\b)(?: not)?|other than|apart from|save for"
    r"|leav(?:e|ing) out|skip(?:ping)?|omit(?:ting)?|without|not)\b",
    re.IGNORECASE,
)
# Of these only an item's name makes an exception: "not now", "without a balcony"
_WEAK: Final = ("not", "without", "but", "but not")
_ONE: Final = re.compile(
    r"\b(?:(?:only|just|exactly|any) one|one of|a single|either)\b(?! by one)"
    r"|\bthe (?:very )?(?:first|last)(?: one)?(?=\s*(?:$|[.,;!?)]))"
)
_EACH: Final = re.compile(r"\b(?:per|each|every|apiece)\b")
_ABOUT: Final = re.compile(
    rf"\b(at least|(?:no |not )?more than|at most|up to|fewer than|less than)\s+({_COUNT}|one)\b"
    r"((?:\s+[\w'-]+){0,2})"
)
_ORDINAL: Final = "first|last|second|third|fourth|fifth|sixth"
_OTHERS: Final = re.compile(r"\b(?:other(?! than)|others|rest|remaining)\b")
_EVERY_OTHER: Final = re.compile(rf"\bevery (?:{_ORDINAL})\b")
_SEVERAL: Final = re.compile(
    r"\b(?<!of )(?:them|these|those)\b|\bone (?:by one|at a time|after (?:another|the other))\b"
)
_FILTER: Final = re.compile(
    r"\b(?:that|which|who|whose|where|with|without|having|if|unless|under|over|below|above|than|between|only|least|most)\b"
)
_ALL: Final = re.compile(
    r"\b(all|every|each|everything|whole list|entire list|the lot)\b((?:\s+[\w'-]+){0,5})"
)
_LINKS: Final = frozenset([",", "and", "or", "&", "plus"])
_BEFORE_NAMES: Final = frozenset(["number", "numbers", "no", "id", "ids", "only", "for", "please"])
_AFTER_NAMES: Final = frozenset(
    ["", ",", "and", "or", "&", "to", "through", "-", "for", "on", "only"]
)
_RANGES: Final = frozenset(["to", "through", "until", "-", "\u2013"])
_BESIDE: Final = re.compile(
    r"\b(?:like|near|next to|beside|after|before|above|below|than|from|around|opposite|or)\b"
)
_ARTICLES: Final = frozenset(
    ["of", "the", "my", "our", "your", "their", "these", "those", "them", "single", "one", "ones"]
)


@dataclass(frozen=True, slots=True)
class ItemClaim:
    """A text's claim about the number and names of items.

    The claim has the least and greatest number, the only items meant, and the excluded items.
    """

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


def read_claim(text: str, noun: str, names: Sequence[Sequence[str]], data: str) -> ItemClaim:
    """Parse which items a text is about.

    Args:
        text: A step, or the part of the goal about it.
        noun: The noun for one item, in the singular.
        names: The names of each item, such as its id and its title.
        data: All items as text; words such as "free" that occur there are a condition.
    """
    total = len(names)
    included, word, exception = _halves(text.lower())
    if re.search(r"\b(?:none|nothing|no \w+)\s*$", included):
        included, word, exception = f"{included} {exception}", "", ""
    excluded, _ = _named(exception, noun, names, is_exception=True)
    is_exception = bool(excluded or word not in _WEAK or _ALL.search(included))
    is_exception = is_exception and bool(word) and not _OTHERS.search(text.lower())
    named, is_exact = _named(included, noun, names)
    everything, is_filtered = _everything(included, noun, data)
    everything = everything and is_exact  # "all rooms from 2 to 4"
    bounds = None if named and is_exact else _bounds(included, noun, total)
    if named and is_exact and not everything and not _BESIDE.search(included):
        return ItemClaim(len(named), len(named), frozenset(named), frozenset(excluded))
    if bounds is None and is_exception:
        left_out = len(excluded) or _left_out(exception, noun)
        bounds = (total - left_out, total - left_out) if left_out else (1, total - 1)
    elif bounds is None and everything and not is_filtered:
        bounds = (total, total)
    elif bounds is None and _SEVERAL.search(included):
        bounds = (min(total, 2), total)
    return ItemClaim(*(bounds or (0, total)), excluded=frozenset(excluded))


def _halves(text: str) -> tuple[str, str, str]:
    """Split a text at an exception: the text without it, the introducing word, the exception."""
    match = _EXCEPT.search(text)
    if match is None:
        return text, "", ""
    beginning, rest = text[: match.start()], text[match.end() :]
    separator = r"[,;.]\s*" if not beginning.strip() else r"[;.](?:\s|$)|,?\s*\bthen\b"
    excluded, *after = re.split(separator, rest, maxsplit=1)
    return f"{beginning} {' '.join(after)}", match[0], excluded


def _tokens(text: str) -> list[str]:
    return re.findall(r"[\w'.-]*\w|[,&\u2013-]", text)


def _named(
    text: str, noun: str, names: Sequence[Sequence[str]], *, is_exception: bool = False
) -> tuple[set[int], bool]:
    """Return the items named in a text, and whether the list is complete (not in "2 to 4")."""
    by_name = {name.lower(): n for n, of_item in enumerate(names) for name in of_item if name}
    # "Tickets 101 and 102" are ABC-101 and ABC-102
    by_name = {re.sub(r"^[a-z]+-", "", name): n for name, n in by_name.items()} | by_name
    item_numbers = {
        n
        for name, n in by_name.items()
        if not name.isdigit()
        and len(name) > 1
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    }
    is_exact, may_follow, is_after_noun = True, is_exception, False
    tokens = [*_tokens(text), ""]
    for position, token in enumerate(tokens[:-1]):
        is_noun = singular(token) == noun
        # Behind the verb a number may count: "book 2 and 5" names, "book 2 of the rooms" does not
        is_name = is_after_noun or tokens[position + 1] in _AFTER_NAMES
        if token in by_name and may_follow and is_name and singular(tokens[position + 1]) != noun:
            item_numbers.add(by_name[token])
        elif token in _RANGES and {tokens[position - 1], tokens[position + 1]} <= by_name.keys():
            is_exact = False
        elif token not in _LINKS and token not in _BEFORE_NAMES:
            may_follow, is_after_noun = is_noun or position == 0, is_noun
    return item_numbers, is_exact


def _bounds(text: str, noun: str, total: int) -> tuple[int, int] | None:
    """Return a text's least and greatest number of items.

    For example, "at least two rooms" states 2 and ``total``. ``None`` if no number is stated.
    """
    if re.search(r"\buntil\b", text):
        return None
    match = _ABOUT.search(text)
    behind = match[3].split() if match else []
    # Not "rooms with more than one bed"
    if match and (not behind or behind[0] == "of" or noun in map(singular, behind)):
        number, word = _number(match[2]), match[1]
        if word in ("at least", "more than"):
            return number + (word == "more than"), total
        return 1, number - word.endswith("r than") - (word == "less than")
    count = _count(text, noun)
    return None if count is None else (count, count)


def _number(word: str) -> int:
    return _NUMBERS.get(word) or int(word)


def _count(text: str, noun: str) -> int | None:
    first = extract_quantity(text)
    if first is not None:
        return first
    if _ONE.search(text) and not _EACH.search(text):
        return 1
    pattern = (
        rf"(?<!of the )(?<!of these )(?<![\w.-])({_COUNT}|one|both|couple)\b((?:\s+[\w'-]+){{0,3}})"
    )
    for match in re.finditer(pattern, text):
        following = match[2].split()
        is_meant = any(singular(word) == noun for word in following) or following[:1] == ["of"]
        if match[1] == "one" and (
            _EACH.search(text) or following[:1] in (["by"], ["at"], ["after"])
        ):
            continue
        before = text[: match.start()].split()[-1:]
        if before == ["all"] and not following:
            return _number(match[1])
        is_alone = (
            not following and not match[1].isdigit() and before not in (["for"], ["to"], ["one"])
        )
        if is_meant or is_alone or match[1] == "both":
            return _number(match[1])
    if re.search(rf"(?<!every )(?<!each )\b(?:{_ORDINAL}) {re.escape(noun)}(?!\w)", text):
        return len(re.findall(rf"\b(?:{_ORDINAL})\b", text))
    return 1 if _is_one(text, noun) else None


def _is_one(text: str, noun: str) -> bool:
    """Return whether a text means one item: "a ticket", "it"."""
    if _EACH.search(text) or re.search(r"\band\b|,", text):
        return False
    article = r"(?:a|an|any|the|this|that|another)"
    behind = r"(?=\s*(?:$|[.;!?)])|\s+(?:for|about|with|that|which|on|in|at|from|to|of|named|called|now|please)\b)"
    phrase = rf"\b{article}(?:\s+[\w'-]+){{0,2}}?\s+{re.escape(noun)}{behind}"
    return bool(re.search(phrase, text) or re.match(r"(?:please )?\w+ it\b", text))


def _left_out(text: str, noun: str) -> int:
    """Return the number of items that an exception leaves out, 0 if unknown."""
    count = _count(text, noun)
    if count is not None:
        return count
    words = [word for word in _tokens(text) if word not in ("for", "please", "now")]
    is_one = words[:1] == ["the"] and len(words) <= 3 and singular(words[-1]) == words[-1]
    return int(is_one or words == ["one"])


def _everything(text: str, noun: str, data: str) -> tuple[bool, bool]:
    """Return whether a text means all items, and whether it adds a condition."""
    fields = set(re.findall(r"[a-z]{3,}", data.lower()))
    is_filtered = any(pattern.search(text) for pattern in (_FILTER, _OTHERS, _EVERY_OTHER))
    for match in _ALL.finditer(text):
        words = [word for word in match[2].split() if word not in _ARTICLES]
        nouns = [n for n, word in enumerate(words) if singular(word) == noun]
        says_them = not words or "them" in match[2].split()
        if not nouns and not says_them and match[1] in ("all", "every", "each"):
            continue
        rest = text[match.end(1) :]
        behind = [word for word in re.findall(r"[a-z]{3,}", rest) if singular(word) != noun]
        return True, is_filtered or any(word in fields for word in behind)
    return False, is_filtered
