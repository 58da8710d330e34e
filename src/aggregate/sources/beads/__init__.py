"""Beads: found, read from whatever a project keeps them in, and judged ready or blocked."""

from aggregate.sources.beads.board import read_board
from aggregate.sources.beads.readiness import Hidden, Standing, assess, completion_order, hidden

__all__ = [
    "Hidden",
    "Standing",
    "assess",
    "completion_order",
    "hidden",
    "read_board",
]
