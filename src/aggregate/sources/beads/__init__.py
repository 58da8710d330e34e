"""Beads: found, read from whatever a project keeps them in, and judged ready or blocked."""

from aggregate.sources.beads.board import BeadsReader, read_board
from aggregate.sources.beads.find import find_beads_dir
from aggregate.sources.beads.readiness import Hidden, Standing, assess, completion_order, hidden, ready

__all__ = [
    "BeadsReader",
    "Hidden",
    "Standing",
    "assess",
    "completion_order",
    "find_beads_dir",
    "hidden",
    "read_board",
    "ready",
]
