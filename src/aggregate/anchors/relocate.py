"""Find a slice again: exact text first, then its neighbourhood, and never a guess between equals."""

from collections.abc import Mapping
from typing import Any

from aggregate.anchors.anchor import Anchor, has_anchor, line_numbers, read_anchor
from aggregate.anchors.exact_match import ExactMatches, SymbolAt, exact_matches
from aggregate.anchors.fuzzy_match import FuzzyMatch, fuzzy_matches
from aggregate.anchors.resolution import AnchorState, Resolution
from aggregate.anchors.search_text import SearchText
from aggregate.text.lines import line_count

MOST_CANDIDATES = 8
"""Places that an ambiguous slice names."""


def relocate(piece: Mapping[str, Any], text: str, *, symbol_at: SymbolAt | None = None) -> Resolution:
    """Return where a slice stands in ``text``; see ``FuzzyAnchor.resolve``."""
    if not has_anchor(piece):
        return _by_numbers(piece, text)
    try:
        anchor = read_anchor(piece)
    except ValueError as error:
        return _orphaned(f"the anchor of this slice is damaged ({error}); capture it anew")
    target = SearchText.of(anchor, text)
    exact = exact_matches(target, symbol_at)
    if exact.chosen is not None and exact.firm:
        return _unchanged(anchor, exact.chosen)
    if exact.tied:
        return _ambiguous(anchor, exact)
    edited = fuzzy_matches(target)
    best = edited[0] if edited and edited[0].sure else None
    if exact.chosen is not None:
        rival = next((place for place in edited if place.sure and _apart(place, exact.chosen, anchor.size)), None)
        return _unchanged(anchor, exact.chosen) if rival is None else _torn(anchor, exact.chosen, rival)
    if best is not None:
        return _edited(anchor, target, best)
    if exact.rivals and not any(place.gone for place in edited):
        return _ambiguous(anchor, exact)
    return _orphaned(_gone(anchor))


def _apart(place: FuzzyMatch, start: int, size: int) -> bool:
    return place.end <= start or start + size <= place.start


def _by_numbers(piece: Mapping[str, Any], text: str) -> Resolution:
    """Take a slice without an anchor at its word, as far as the text reaches (rule M-X17)."""
    numbers, total = line_numbers(piece), line_count(text)
    if numbers is None:
        return _orphaned("start_line and end_line of this slice must be whole numbers")
    start, end = numbers
    if start > end:
        return _orphaned(f"lines {start}-{end} are reversed")
    if end < 1 or start > total:
        return _orphaned(f"lines {start}-{end} lie outside this file of {total} line{'s' * (total != 1)}")
    shown = max(start, 1), min(end, total)
    reason = (
        ""
        if shown == (start, end)
        else f"lines {start}-{end} reach beyond this file of {total} line{'s' * (total != 1)}"
    )
    return Resolution(*shown, AnchorState.FRESH if not reason else AnchorState.MOVED, reason)


def _unchanged(anchor: Anchor, place: int) -> Resolution:
    start, end = place + 1, place + anchor.size
    if start == anchor.start:
        return Resolution(start, end, AnchorState.FRESH)
    return Resolution(
        start, end, AnchorState.MOVED, f"moved from {_lines(anchor.start, anchor.start + anchor.size - 1)}"
    )


def _edited(anchor: Anchor, target: SearchText, place: FuzzyMatch) -> Resolution:
    old = _lines(anchor.start, anchor.start + anchor.size - 1)
    if target.coded[place.start : place.end] == target.piece:
        reason = f"only white space changed in {old}"
    else:
        verb = "was" if anchor.size == 1 else "were"
        reason = f"{old} {verb} edited: {min(round(place.alike * 100), 99)} % alike"
    return Resolution(place.start + 1, place.end, AnchorState.EDITED, reason)


def _ambiguous(anchor: Anchor, exact: ExactMatches) -> Resolution:
    shown = exact.rivals[:MOST_CANDIDATES]
    places = ", ".join(str(place + 1) for place in shown) + (", …" if exact.total > len(shown) else "")
    if exact.tied:
        reason = f"{exact.total} places match equally well: lines {places}"
    else:
        word = "line" if places.isdecimal() else "lines"
        reason = f"the same text stands at {word} {places}, but what surrounds it is not what surrounded the slice"
    return Resolution(0, 0, AnchorState.AMBIGUOUS, reason, tuple((at + 1, at + anchor.size) for at in shown))


def _torn(anchor: Anchor, chosen: int, rival: FuzzyMatch) -> Resolution:
    """Name the two places of a slice that stands elsewhere while its old place only changed a little."""
    there, here = (chosen + 1, chosen + anchor.size), (rival.start + 1, rival.end)
    reason = f"the same text stands at {_lines(*there)}, but {_lines(*here)}, where it stood, still resembles it"
    return Resolution(0, 0, AnchorState.AMBIGUOUS, reason, tuple(sorted((there, here))))


def _gone(anchor: Anchor) -> str:
    verb = "exists" if anchor.size == 1 else "exist"
    return f"{_lines(anchor.start, anchor.start + anchor.size - 1)} no longer {verb} in this file"


def _orphaned(reason: str) -> Resolution:
    return Resolution(0, 0, AnchorState.ORPHANED, reason)


def _lines(start: int, end: int) -> str:
    return f"line {start}" if start == end else f"lines {start}-{end}"
