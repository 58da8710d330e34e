"""Find the places of the very same text and tell which of them is the slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregate.code.anchors.anchor import REPEATED, THRESHOLDS, TRIVIAL
from aggregate.code.anchors.search_text import SearchText, score_context

# Give the path of the symbol that encloses a 1-based line of the new text.
SymbolAt = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """Where the text of a slice stands."""

    chosen: int | None = None
    rivals: tuple[int, ...] = ()  # places that cannot be told apart, or that fit too little
    tied: bool = False  # whether ``rivals`` fit equally well, so that nothing else can decide
    total: int = 0


def exact_matches(target: SearchText, symbol_at: SymbolAt | None = None) -> ExactMatches:
    """Look for the lines of the slice, letter by letter, and choose a place by its context alone."""
    places, total = _places(target)
    ranked = [(fit, place) for fit, place in _ranked(target, places) if target.same_text(place)]
    if not ranked:
        return ExactMatches()
    best_score = ranked[0][0]
    too_near = best_score - THRESHOLDS.lead
    tied = sorted(place for fit, place in ranked if fit > too_near or place in target.unbroken)
    # More than the best copy had at capture.
    needed = max(THRESHOLDS.copy_context, target.anchor.rival / 100 + THRESHOLDS.lead)
    if len(tied) == 1 and (not target.anchor.copies or best_score >= needed):
        return ExactMatches(chosen=tied[0], total=total)
    is_tie = len(tied) > 1
    rivals = tied if is_tie else sorted(place for _, place in ranked)
    # The two lines between which the slice lay are both without a copy; blank lines and braces between them and it
    # must be as they were.
    before = target.anchor.before
    sides = (range(before - 1, -1, -1), range(target.anchor.after, len(target.window)))
    between = [
        place
        for place in rivals
        if all(_leads_to_single(target, side, place - before) for side in sides)
    ]
    if len(between) == 1:
        return ExactMatches(chosen=between[0], total=total)
    if target.anchor.symbol and symbol_at is not None:
        inside = [place for place in rivals if symbol_at(place + 1) == target.anchor.symbol]
        if len(inside) == 1:
            return ExactMatches(chosen=inside[0], total=total)
    return ExactMatches(
        rivals=tuple(rivals), tied=is_tie, total=len(tied) if is_tie else max(total, len(ranked))
    )


def rivalry(target: SearchText) -> tuple[int, int]:
    """Return how many copies of the slice its own text holds, as far as counted, and in percent how the best fits."""
    places, total = _places(target)
    own = target.anchor.start - 1
    best = max((fit for fit, place in _ranked(target, places) if place != own), default=0.0)
    return total - 1, min(round(best * 100), 100)


def _leads_to_single(target: SearchText, side: range, shift: int) -> bool:
    # It must stand alone, at capture and now.
    coded = target.text.coded
    for index in side:
        char, fingerprint = target.window[index], target.anchor.window[index]
        if not 0 <= index + shift < len(coded) or coded[index + shift] != char:
            return False
        if not fingerprint & TRIVIAL:
            return not fingerprint & REPEATED and char in target.text.single_lines
    return False


def _ranked(target: SearchText, places: Sequence[int]) -> list[tuple[float, int]]:
    size = target.anchor.size
    ranked = [(score_context(target, place, place + size), place) for place in places]
    return sorted(ranked, key=lambda pair: (-pair[0], pair[1]))


def _places(target: SearchText) -> tuple[Sequence[int], int]:
    # Neighbours narrow places down where there are too many.
    anchor, most, reach = target.anchor, THRESHOLDS.scored_places, 0
    places = _find_all(target.text.coded, target.slice_window, most)
    total = len(places)
    while len(places) > most and reach < max(anchor.before, len(target.window) - anchor.after):
        reach = reach * 2 or 1
        low = max(anchor.before - reach, 0)
        with_neighbours = target.window[low : anchor.after + reach]
        starts = _find_all(target.text.coded, with_neighbours, most)
        places = [start + anchor.before - low for start in starts]
    return sorted({*places[:most], *target.unbroken}), total


def _find_all(coded: str, needle: str, most: int) -> list[int]:
    # One place more than can be scored at most: that tells that there are too many.
    starts: list[int] = []
    start = coded.find(needle)
    while start != -1 and len(starts) <= most:
        starts.append(start)
        start = coded.find(needle, start + 1)
    return starts
