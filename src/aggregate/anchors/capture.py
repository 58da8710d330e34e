"""Capture a slice: its lines, what surrounds them, and enough to notice every change."""

from collections.abc import Sequence

from aggregate.anchors.anchor import read_anchor
from aggregate.anchors.exact_match import rivalry
from aggregate.anchors.fingerprints import bare_lines, content_hash, is_trivial, line_fingerprints, pack
from aggregate.anchors.search_text import SearchText
from aggregate.errors import AnchorError
from aggregate.models.file_item import SliceDict

WINDOW = 32
"""Lines above and below a slice whose prints are kept."""
ANCHOR_LINES = 4
"""Telling lines above and below whose text is kept (LHDiff, ICSM 2013, takes four)."""
WHOLE = 40
"""Slices up to this many lines keep the text of all of them, longer ones that of their two ends."""
END_LINES = 12
CLIP = 200
"""Longer lines are known by their print alone: a minified file must not land in the configuration."""


def capture(
    text: str, start_line: int, end_line: int, *, tag: str | None = None, comment: str | None = None, symbol: str = ""
) -> SliceDict:
    """Return the slice of ``text`` from ``start_line`` to ``end_line``, clamped to the text, with its anchor keys.

    Raises:
        AnchorError: The lines are reversed or all outside the text.
    """
    lines = bare_lines(text)
    if start_line > end_line or end_line < 1 or start_line > len(lines):
        raise AnchorError(
            f"Lines {start_line}-{end_line} cannot be captured from a text of {len(lines)} lines; "
            "give a first and a last line that stand in it."
        )
    start, end = max(start_line, 1) - 1, min(end_line, len(lines))
    prints = line_fingerprints(lines)
    piece: SliceDict = {
        "start_line": start + 1,
        "end_line": end,
        "tag": tag,
        "comment": comment,
        "content_hash": content_hash(lines[start:end]),
        "anchor_lines": [*_telling(lines[:start][::-1])[::-1], *_telling(lines[end:])],
        "lines": _kept(lines[start:end]),
        "prints_before": pack(prints[max(start - WINDOW, 0) : start]),
        "prints": pack(prints[start:end]),
        "prints_after": pack(prints[end : end + WINDOW]),
        "hash_before": content_hash(lines[:start]),
        "hash_after": content_hash(lines[end:]),
        "copies": 0,
        "rival": 0,
        "total_lines": len(lines),
        "symbol": symbol,
    }
    copies, rival = rivalry(SearchText.of(read_anchor(piece), text))
    return {**piece, "copies": copies, "rival": rival}


def _telling(lines: Sequence[str]) -> list[str]:
    """Return the first few lines within the window that say something about their place."""
    return [line for line in lines[:WINDOW] if not is_trivial(line) and len(line) <= CLIP][:ANCHOR_LINES]


def _kept(lines: list[str]) -> list[str]:
    """Return the lines whose text is kept."""
    chosen = lines if len(lines) <= WHOLE else [*lines[:END_LINES], *lines[-END_LINES:]]
    return [line for line in chosen if len(line) <= CLIP]
