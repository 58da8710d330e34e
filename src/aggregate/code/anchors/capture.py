"""Capture a slice: its lines, what surrounds them, and enough to notice every change."""

from collections.abc import Sequence

from aggregate.base.errors import AnchorError
from aggregate.base.values import SliceDict
from aggregate.code.anchors.anchor import read_anchor
from aggregate.code.anchors.exact_match import rivalry
from aggregate.code.anchors.fingerprints import content_hash, is_trivial, line_fingerprints, pack
from aggregate.code.anchors.search_text import IndexedText, SearchText
from aggregate.code.anchors.thresholds import THRESHOLDS, Thresholds


def capture(
    text: str,
    start_line: int,
    end_line: int,
    *,
    tag: str | None = None,
    comment: str | None = None,
    symbol: str = "",
    thresholds: Thresholds = THRESHOLDS,
) -> SliceDict:
    """Return the slice of ``text`` from ``start_line`` to ``end_line``, clamped to the text, with its anchor keys.

    Raises:
        AnchorError: The lines are reversed or all outside the text.
    """
    indexed = IndexedText(text)
    lines = indexed.lines
    if start_line > end_line or end_line < 1 or start_line > len(lines):
        raise AnchorError(
            f"Lines {start_line}-{end_line} cannot be captured from a text of {len(lines)} lines; "
            "give a first and a last line that stand in it."
        )
    start, end = max(start_line, 1) - 1, min(end_line, len(lines))
    fingerprints = line_fingerprints(lines)
    window = thresholds.window_lines
    piece: SliceDict = {
        "start_line": start + 1,
        "end_line": end,
        "tag": tag,
        "comment": comment,
        "content_hash": content_hash(lines[start:end]),
        "anchor_lines": [
            *_telling(lines[:start][::-1], thresholds)[::-1],
            *_telling(lines[end:], thresholds),
        ],
        "lines": _both_ends(lines[start:end], thresholds),
        "prints_before": pack(fingerprints[max(start - window, 0) : start]),
        "prints": pack(fingerprints[start:end]),
        "prints_after": pack(fingerprints[end : end + window]),
        "hash_before": content_hash(lines[:start]),
        "hash_after": content_hash(lines[end:]),
        "copies": 0,
        "rival": 0,
        "total_lines": len(lines),
        "symbol": symbol,
    }
    copies, rival = rivalry(SearchText.of(read_anchor(piece, window), indexed, thresholds))
    return {**piece, "copies": copies, "rival": rival}


def _telling(lines: Sequence[str], thresholds: Thresholds) -> list[str]:
    """Return the first few lines within the window that say something about their place."""
    near = lines[: thresholds.window_lines]
    telling = [line for line in near if not is_trivial(line)]
    return _storable(telling, thresholds)[: thresholds.anchor_lines]


def _both_ends(lines: Sequence[str], thresholds: Thresholds) -> list[str]:
    """Return the lines of a slice whose text is kept: all of a short one, else the first and the last few."""
    count = thresholds.end_lines
    chosen = lines if len(lines) <= 2 * count else [*lines[:count], *lines[len(lines) - count :]]
    return _storable(chosen, thresholds)


def _storable(lines: Sequence[str], thresholds: Thresholds) -> list[str]:
    return [line for line in lines if len(line) <= thresholds.stored_characters]
