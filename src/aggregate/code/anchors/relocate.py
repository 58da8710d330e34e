"""Find a slice again: exact text first, then its neighbourhood, and never a guess between equals."""

from collections.abc import Mapping
from typing import Any

from aggregate.base.text import line_count
from aggregate.code.anchors.anchor import Anchor, has_anchor, line_numbers, read_anchor
from aggregate.code.anchors.exact_match import ExactMatches, SymbolAt, exact_matches
from aggregate.code.anchors.fuzzy_match import FuzzyMatch, fuzzy_matches
from aggregate.code.anchors.resolution import AnchorState, Resolution
from aggregate.code.anchors.search_text import IndexedText, SearchText
from aggregate.code.anchors.thresholds import THRESHOLDS, Thresholds

MOST_CANDIDATES = 8
"""Places that an ambiguous slice names."""


def relocate(
    piece: Mapping[str, Any],
    text: IndexedText,
    *,
    symbol_at: SymbolAt | None = None,
    thresholds: Thresholds = THRESHOLDS,
) -> Resolution:
    """Return where a slice stands in ``text``; see ``FuzzyAnchor.resolve``."""
    if not has_anchor(piece):
        return _by_numbers(piece, text)
    try:
        anchor = read_anchor(piece, thresholds.window_lines)
    except ValueError as error:
        return _orphaned(f"the anchor of this slice is damaged ({error}); capture it anew")
    target = SearchText.of(anchor, text, thresholds)
    exact = exact_matches(target, symbol_at)
    if exact.chosen is not None:
        return _unchanged(anchor, exact.chosen)
    if exact.tied:
        return _ambiguous(anchor, exact)
    edited = fuzzy_matches(target)
    if edited and edited[0].sure:
        return _edited(anchor, target, edited[0])
    if exact.rivals and not any(place.gone for place in edited):
        return _ambiguous(anchor, exact)
    return _orphaned(
        f"{_old_lines(anchor)} no longer {'exists' if anchor.size == 1 else 'exist'} in this file"
    )


def _by_numbers(piece: Mapping[str, Any], text: IndexedText) -> Resolution:
    """Take a slice without an anchor at its word, as far as the text reaches (rule M-X17)."""
    numbers, total = line_numbers(piece), line_count(text.source)
    if numbers is None:
        return _orphaned("start_line and end_line of this slice must be whole numbers")
    start, end = numbers
    extent = f"this file of {total} line{'s' * (total != 1)}"
    if start > end:
        return _orphaned(f"lines {start}-{end} are reversed")
    if end < 1 or start > total:
        return _orphaned(f"lines {start}-{end} lie outside {extent}")
    if start >= 1 and end <= total:
        return Resolution(start, end, AnchorState.FRESH)
    reason = f"lines {start}-{end} reach beyond {extent}"
    return Resolution(max(start, 1), min(end, total), AnchorState.MOVED, reason)


def _unchanged(anchor: Anchor, place: int) -> Resolution:
    start, end = place + 1, place + anchor.size
    if start == anchor.start:
        return Resolution(start, end, AnchorState.FRESH)
    return Resolution(start, end, AnchorState.MOVED, f"moved from {_old_lines(anchor)}")


def _edited(anchor: Anchor, target: SearchText, place: FuzzyMatch) -> Resolution:
    if target.text.coded[place.start : place.end] == target.slice_window:
        reason = f"only white space changed in {_old_lines(anchor)}"
    else:
        verb = "was" if anchor.size == 1 else "were"
        reason = f"{_old_lines(anchor)} {verb} edited: {min(round(place.alike * 100), 99)} % alike"
    return Resolution(place.start + 1, place.end, AnchorState.EDITED, reason)


def _ambiguous(anchor: Anchor, exact: ExactMatches) -> Resolution:
    named = exact.rivals[:MOST_CANDIDATES]
    places = ", ".join(str(place + 1) for place in named) + (
        ", …" if exact.total > len(named) else ""
    )
    if exact.tied:
        reason = f"{exact.total} places match equally well: lines {places}"
    else:
        word = "line" if places.isdecimal() else "lines"
        reason = f"the same text stands at {word} {places}, but what surrounds it is not what surrounded the slice"
    candidates = tuple((place + 1, place + anchor.size) for place in named)
    return Resolution(0, 0, AnchorState.AMBIGUOUS, reason, candidates)


def _old_lines(anchor: Anchor) -> str:
    end = anchor.start + anchor.size - 1
    return f"line {anchor.start}" if anchor.size == 1 else f"lines {anchor.start}-{end}"


def _orphaned(reason: str) -> Resolution:
    return Resolution(0, 0, AnchorState.ORPHANED, reason)
