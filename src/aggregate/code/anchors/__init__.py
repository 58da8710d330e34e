"""Slices of lines, found again after edits."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.code.anchors.anchor import has_anchor, line_numbers
    from aggregate.code.anchors.fuzzy_anchor import AnchorState, FuzzyAnchor, Resolution
else:
    __getattr__ = door(
        __name__,
        {"anchor": "has_anchor line_numbers", "fuzzy_anchor": "AnchorState FuzzyAnchor Resolution"},
    )
