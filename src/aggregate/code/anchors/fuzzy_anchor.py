"""The public face of anchors: capture slices, and find them again."""

from collections.abc import Iterable, Mapping
from typing import Any

from aggregate.base.values import SliceDict
from aggregate.code.anchors.capture import capture
from aggregate.code.anchors.exact_match import SymbolAt
from aggregate.code.anchors.relocate import relocate
from aggregate.code.anchors.resolution import Resolution
from aggregate.code.anchors.search_text import IndexedText


class FuzzyAnchor:
    """Capture slices of lines and find them again after edits (rule M-17). Pure functions: no file is read."""

    @staticmethod
    def create_slice(
        text: str,
        start_line: int,
        end_line: int,
        tag: str | None = None,
        comment: str | None = None,
        *,
        symbol: str = "",
    ) -> SliceDict:
        """Return lines ``start_line`` to ``end_line`` (1-based, inclusive) of ``text`` as a slice with its anchor.

        The numbers are clamped to the text. ``symbol`` is the path of the enclosing symbol, where the caller knows it.

        Raises:
            AnchorError: The lines are reversed or all outside the text.
        """
        return capture(text, start_line, end_line, tag=tag, comment=comment, symbol=symbol)

    @staticmethod
    def resolve(
        piece: Mapping[str, Any], text: str, *, symbol_at: SymbolAt | None = None
    ) -> Resolution:
        """Return where a slice stands in ``text`` and how sure that is.

        Evidence, in this order: the very text, told from its copies by the lines around it; the lines that are left of
        it and around it; nothing. Line ends (LF, CR LF) do not count. A slice without anchor keys is taken by its
        numbers, clamped. A damaged or hopeless slice is an orphan with its reason, never an error.

        Args:
            piece: What ``create_slice`` returned, or a mapping with ``start_line`` and ``end_line``.
            text: The text as it is now.
            symbol_at: Path of the symbol that encloses a line of ``text``; it tells apart what nothing else does.
        """
        return relocate(piece, IndexedText(text), symbol_at=symbol_at)

    @staticmethod
    def resolve_all(pieces: Iterable[Mapping[str, Any]], text: str) -> list[Resolution]:
        """Return where each slice stands in ``text``, as ``resolve`` does, reading the text only once."""
        indexed = IndexedText(text)
        return [relocate(piece, indexed) for piece in pieces]
