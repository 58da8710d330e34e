"""Slices of lines, found again after edits."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.code.anchors.anchor import *
    from aggregate.code.anchors.fuzzy_anchor import *
else:
    __getattr__ = door(
        __name__,
        {
            "anchor": "bare_lines has_anchor line_fingerprints line_numbers pack",
            "fuzzy_anchor": "AnchorState FuzzyAnchor Resolution",
        },
    )
