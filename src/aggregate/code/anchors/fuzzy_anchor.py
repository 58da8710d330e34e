"""Capture slices of a text, and find them again.

In a later version, a slice is found by its text and context.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NotRequired, TypedDict

from aggregate.base.errors import AnchorError
from aggregate.base.text import line_count
from aggregate.code.anchors.anchor import (
    THRESHOLDS,
    Anchor,
    IndexedText,
    SearchText,
    content_hash,
    has_anchor,
    is_trivial,
    line_fingerprints,
    line_numbers,
    pack,
    read_anchor,
)
from aggregate.code.anchors.matches import ExactMatches, exact_matches, fuzzy_match, rivalry


class SliceDict(TypedDict):
    """Lines picked by the user, with an anchor (rule M-41).

    ``start_line`` and ``end_line`` are 1-based and inclusive. ``FuzzyAnchor.create_slice`` writes the anchor keys and
    only ``FuzzyAnchor.resolve`` reads them; without them, a slice is taken by its line numbers.
    """

    start_line: int
    end_line: int
    tag: NotRequired[str | None]
    comment: NotRequired[str | None]
    content_hash: NotRequired[str]
    anchor_lines: NotRequired[list[str]]
    lines: NotRequired[list[str]]
    prints_before: NotRequired[str]
    prints: NotRequired[str]
    prints_after: NotRequired[str]
    hash_before: NotRequired[str]
    hash_after: NotRequired[str]
    copies: NotRequired[int]
    rival: NotRequired[int]
    total_lines: NotRequired[int]


class AnchorState(Enum):
    """How certainly a slice was found; only the first three states have line numbers."""

    FRESH = "fresh"  # The same text at the same lines
    MOVED = "moved"  # The same text at other lines
    EDITED = "edited"  # The place is certain, its text was changed
    # Several places fit equally well, or the only one fits too poorly to be certain.
    AMBIGUOUS = "ambiguous"
    ORPHANED = "orphaned"  # The lines no longer exist in the text


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where and how certainly a slice was found.

    Attributes:
        start_line: First line, 1-based; ``0`` if the slice is ambiguous or orphaned, so that no wrong line is shown.
        end_line: Last line, inclusive; ``0`` likewise.
        state: Certainty of the place.
        reason: One sentence for the reader of the prompt; ``""`` for a fresh slice.
        candidates: Up to eight places ``(start_line, end_line)`` of an ambiguous slice.
    """

    start_line: int
    end_line: int
    state: AnchorState
    reason: str = ""
    candidates: tuple[tuple[int, int], ...] = ()

    @property
    def found(self) -> bool:
        """Whether the slice was found, so that its line numbers are valid."""
        return self.state in (AnchorState.FRESH, AnchorState.MOVED, AnchorState.EDITED)


def _nontrivial(lines: Sequence[str]) -> list[str]:
    lines = [line for line in lines[: THRESHOLDS.window_lines] if not is_trivial(line)]
    return _storable(lines)[: THRESHOLDS.anchor_lines]


def _storable(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if len(line) <= THRESHOLDS.stored_characters]


MOST_CANDIDATES = 8


def relocate(piece: Mapping[str, Any], text: IndexedText) -> Resolution:
    if not has_anchor(piece):
        return _by_numbers(piece, text)
    try:
        anchor = read_anchor(piece)
    except ValueError as error:
        return _orphaned(f"the anchor of this slice is damaged ({error}); capture it anew")
    target = SearchText.of(anchor, text)
    exact = exact_matches(target)
    old = f"lines {anchor.start}-{anchor.start + anchor.size - 1}"
    old, verb, exists = (
        (f"line {anchor.start}", "was", "exists") if anchor.size == 1 else (old, "were", "exist")
    )
    if exact.chosen is not None:
        start, end = exact.chosen + 1, exact.chosen + anchor.size
        if start == anchor.start:
            return Resolution(start, end, AnchorState.FRESH)
        return Resolution(start, end, AnchorState.MOVED, f"moved from {old}")
    if exact.tied:
        return _ambiguous(anchor, exact)
    match = fuzzy_match(target)
    if match and match.sure:
        if target.text.coded[match.start : match.end] == target.slice_window:
            reason = f"only white space changed in {old}"
        else:
            reason = f"{old} {verb} edited: {min(round(match.alike * 100), 99)} % alike"
        return Resolution(match.start + 1, match.end, AnchorState.EDITED, reason)
    if exact.rivals and not (match and match.gone):
        return _ambiguous(anchor, exact)
    return _orphaned(f"{old} no longer {exists} in this file")


def _by_numbers(piece: Mapping[str, Any], text: IndexedText) -> Resolution:
    # Line numbers are trusted as far as the text reaches (rule M-X17).
    numbers, total = line_numbers(piece), line_count(text.source)
    if numbers is None:
        return _orphaned("start_line and end_line of this slice must be whole numbers")
    start, end = numbers
    extent = f"this file of {total} line{'s' * (total != 1)}"
    if start > end:
        return _orphaned(f"lines {start}-{end} are reversed")
    if end < 1 or start > total:
        return _orphaned(f"lines {start}-{end} are outside of {extent}")
    if start >= 1 and end <= total:
        return Resolution(start, end, AnchorState.FRESH)
    reason = f"lines {start}-{end} extend beyond {extent}"
    return Resolution(max(start, 1), min(end, total), AnchorState.MOVED, reason)


def _ambiguous(anchor: Anchor, exact: ExactMatches) -> Resolution:
    candidates = exact.rivals[:MOST_CANDIDATES]
    more = ", …" if exact.total > len(candidates) else ""
    positions = ", ".join(str(place + 1) for place in candidates) + more
    if exact.tied:
        reason = f"{exact.total} places match equally well: lines {positions}"
    else:
        word = "line" if positions.isdecimal() else "lines"
        reason = f"the same text is at {word} {positions}, but in other surroundings than the slice"
    pairs = tuple((place + 1, place + anchor.size) for place in candidates)
    return Resolution(0, 0, AnchorState.AMBIGUOUS, reason, pairs)


def _orphaned(reason: str) -> Resolution:
    return Resolution(0, 0, AnchorState.ORPHANED, reason)


class FuzzyAnchor:
    """Capture slices and find them again after edits (rule M-17)."""

    @staticmethod
    def create_slice(
        text: str,
        start_line: int,
        end_line: int,
        tag: str | None = None,
        comment: str | None = None,
    ) -> SliceDict:
        """Return the slice of some lines with its anchor.

        ``start_line`` and ``end_line`` are 1-based and inclusive. The numbers are clamped to the text.

        Raises:
            AnchorError: The lines are reversed or all outside the text.
        """
        indexed = IndexedText(text)
        lines = indexed.lines
        if start_line > end_line or end_line < 1 or start_line > len(lines):
            raise AnchorError(
                f"Lines {start_line}-{end_line} cannot be captured from a text of {len(lines)} lines; "
                "give a first and a last line inside the text."
            )
        start, end = max(start_line, 1) - 1, min(end_line, len(lines))
        fingerprints = line_fingerprints(lines)
        window = THRESHOLDS.window_lines
        ends, part = THRESHOLDS.end_lines, lines[start:end]
        # Short slices are stored whole, of longer ones the first and last lines.
        stored = part if len(part) <= 2 * ends else [*part[:ends], *part[len(part) - ends :]]
        piece: SliceDict = {
            "start_line": start + 1,
            "end_line": end,
            "tag": tag,
            "comment": comment,
            "content_hash": content_hash(lines[start:end]),
            "anchor_lines": [*_nontrivial(lines[:start][::-1])[::-1], *_nontrivial(lines[end:])],
            "lines": _storable(stored),
            "prints_before": pack(fingerprints[max(start - window, 0) : start]),
            "prints": pack(fingerprints[start:end]),
            "prints_after": pack(fingerprints[end : end + window]),
            "hash_before": content_hash(lines[:start]),
            "hash_after": content_hash(lines[end:]),
            "copies": 0,
            "rival": 0,
            "total_lines": len(lines),
        }
        copies, rival = rivalry(SearchText.of(read_anchor(piece), indexed))
        return {**piece, "copies": copies, "rival": rival}

    @staticmethod
    def resolve(piece: Mapping[str, Any], text: str) -> Resolution:
        """Find a slice in ``text`` and rate its certainty.

        The exact text decides first, then the context of its copies, then the remaining lines of the slice and its
        context. Line ends (LF, CR LF) do not count. Slices without anchor keys are taken by their numbers, clamped.
        Damaged or lost slices are orphans with a reason, never errors.

        Args:
            piece: What ``create_slice`` returned, or a mapping with ``start_line`` and ``end_line``.
            text: The current text.
        """
        return relocate(piece, IndexedText(text))

    @staticmethod
    def resolve_all(pieces: Iterable[Mapping[str, Any]], text: str) -> list[Resolution]:
        """Find several slices in the same text, which is indexed only once."""
        indexed = IndexedText(text)
        return [relocate(piece, indexed) for piece in pieces]
