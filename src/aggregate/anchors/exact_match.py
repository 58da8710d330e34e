"""Find the places of the very same text and tell which of them is the slice."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregate.anchors.fingerprints import REPEATED, TRIVIAL
from aggregate.anchors.scoring import MARGIN, ContextScore, score_context
from aggregate.anchors.search_text import SearchText

MOST_PLACES = 128
"""Places that are scored; where there are more, those with equal neighbours only."""
FLOOR = 0.5
"""Context that a text needs which did not stand alone when it was captured or does not now."""
TRIVIAL_FLOOR = 0.7
"""Context that blank lines and braces need: the greater part of both sides."""
NEARLY_ALL = 0.9
"""Context from which a side, or both, are all there."""
WIDE_MARGIN = 0.25
"""Lead that the best place needs over others where not nearly all is there."""
SIDE_LEAD = 0.05
"""Lead on one side, all of which is there, that makes a place a rival of one with the better mean."""
HALF = 0.3
"""Context that each side of a copied text needs."""
FIRM = 0.75
"""Context that leaves no doubt; a place with less is held against what became of the old place."""
WEAK_FLOOR = 0.25
"""Context that a short text needs which stood alone both times."""
CROWD = 0.6
"""Fit that is taken for granted among copies too many to be scored one by one."""
SUBSTANCE = 20
"""Letters and digits from which a text that stands alone is proof in itself (``git blame -M`` takes 20)."""

_WORD = re.compile(r"[^\W_]")

SymbolAt = Callable[[int], str]
"""Give the path of the symbol that encloses a 1-based line of the new text."""


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """Where the text of a slice stands.

    Attributes:
        chosen: Index of the first line of the place that is the slice, ``None`` where none is for certain.
        firm: Whether what surrounds that place leaves no doubt.
        rivals: Indices of the places that cannot be told apart, or of those that fit too little.
        tied: Whether ``rivals`` fit equally well, so that nothing else can decide.
        total: How many places there are, at least.
    """

    chosen: int | None = None
    firm: bool = False
    rivals: tuple[int, ...] = ()
    tied: bool = False
    total: int = 0


def exact_matches(target: SearchText, symbol_at: SymbolAt | None = None) -> ExactMatches:
    """Look for the lines of the slice, letter by letter, and choose a place by its context alone."""
    places, total = _places(target)
    ranked = [(found, place) for found, place in _ranked(target, places) if target.same_text(place)]
    if not ranked:
        return ExactMatches()
    best = ranked[0][0]
    unbroken = target.unbroken
    tied = sorted(place for found, place in ranked if found is best or place in unbroken or _rivals(found, best))
    one_sided = total + target.anchor.copies > 1 and _one_sided(best)
    if len(tied) == 1 and best.score >= _needed(target, total) and not one_sided:
        return ExactMatches(chosen=tied[0], firm=best.score >= FIRM, total=total)
    rivals = tied if len(tied) > 1 else sorted(place for _, place in ranked)
    seats = [place for place in rivals if _seated(target, place)]
    if len(seats) == 1:
        return ExactMatches(chosen=seats[0], firm=True, total=total)
    named = _in_symbol(rivals, target.anchor.symbol, symbol_at)
    if named is not None:
        return ExactMatches(chosen=named, total=total)
    tie = len(tied) > 1
    return ExactMatches(rivals=tuple(rivals), tied=tie, total=len(tied) if tie else max(total, len(ranked)))


def _seated(target: SearchText, place: int) -> bool:
    """Tell whether a place lies right between the two lines between which the slice lay, both of them without a copy.

    Blank lines and braces between them and the slice must be as they were.
    """
    anchor = target.anchor
    sides = (range(anchor.before - 1, -1, -1), range(anchor.after, len(target.window)))
    return all(_leads_to_single(target, side, place - anchor.before) for side in sides)


def _leads_to_single(target: SearchText, side: range, shift: int) -> bool:
    for i in side:
        char = target.window[i]
        if not 0 <= i + shift < len(target.coded) or target.coded[i + shift] != char:
            return False
        if not target.anchor.window[i] & TRIVIAL:
            return not target.anchor.window[i] & REPEATED and char in target.single_lines
    return False


def _one_sided(found: ContextScore) -> bool:
    """Tell whether all that speaks for a place stands on one side of it, so that it may be a copy's half."""
    sides = [side for side in (found.above, found.below) if side is not None]
    return found.score < FIRM and len(sides) == 2 and min(sides) < HALF


def _rivals(other: ContextScore, best: ContextScore) -> bool:
    """Tell whether a place fits about as well as the best, or has all of one side where the best has not."""
    sides = ((other.above, best.above), (other.below, best.below))
    lead = MARGIN if best.score >= NEARLY_ALL else WIDE_MARGIN
    return other.score > best.score - lead or any(
        theirs is not None and ours is not None and theirs >= NEARLY_ALL and theirs > ours + SIDE_LEAD
        for theirs, ours in sides
    )


def rivalry(target: SearchText) -> tuple[int, int]:
    """Return how many copies of the slice its own text holds, as far as counted, and in percent how the best fits."""
    places, total = _places(target)
    own = target.anchor.start - 1
    best = max((found.score for found, place in _ranked(target, places) if place != own), default=0.0)
    if total > MOST_PLACES:
        best = max(best, CROWD)
    return total - 1, min(round(best * 100), 100)


def _ranked(target: SearchText, places: Sequence[int]) -> list[tuple[ContextScore, int]]:
    """Return places with what surrounds them, the best first; of equals the upper one."""
    size = target.anchor.size
    found = [(score_context(target, place, place + size), place) for place in places]
    return sorted(found, key=lambda pair: (-pair[0].score, pair[1]))


def _needed(target: SearchText, total: int) -> float:
    """Return the context that the only or best place needs."""
    if target.trivial.issuperset(target.piece) and len(target.window) > target.anchor.size:
        return max(TRIVIAL_FLOOR, target.anchor.rival / 100 + MARGIN)
    if target.anchor.copies:
        return max(FLOOR, target.anchor.rival / 100 + MARGIN)
    if total > 1:
        return FLOOR
    place = target.coded.find(target.piece)
    text = "\n".join(target.lines[place : place + target.anchor.size])
    enough = sum(1 for _, _ in zip(_WORD.finditer(text), range(SUBSTANCE), strict=False)) >= SUBSTANCE
    return 0.0 if enough else WEAK_FLOOR


def _places(target: SearchText) -> tuple[Sequence[int], int]:
    """Return places to score and how many there are at least; neighbours narrow them down where there are too many."""
    anchor, reach = target.anchor, 0
    found = _find_all(target.coded, target.piece)
    total = len(found)
    while len(found) > MOST_PLACES and reach < max(anchor.before, len(target.window) - anchor.after):
        reach = reach * 2 or 1
        low = max(anchor.before - reach, 0)
        needle = target.window[low : anchor.after + reach]
        found = [place + anchor.before - low for place in _find_all(target.coded, needle)]
    return sorted({*found[:MOST_PLACES], *target.unbroken}), total


def _find_all(coded: str, needle: str) -> list[int]:
    """Return where ``needle`` starts, overlapping, one place more than can be scored at most."""
    found: list[int] = []
    at = coded.find(needle)
    while at != -1 and len(found) <= MOST_PLACES:
        found.append(at)
        at = coded.find(needle, at + 1)
    return found


def _in_symbol(places: Sequence[int], symbol: str, symbol_at: SymbolAt | None) -> int | None:
    """Return the one place that lies in the symbol of the capture."""
    if not symbol or symbol_at is None:
        return None
    inside = [place for place in places if symbol_at(place + 1) == symbol]
    return inside[0] if len(inside) == 1 else None
