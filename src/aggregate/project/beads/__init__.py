"""Beads: found, read from whatever a project keeps them in, and judged ready or blocked."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.beads.board import read_board
    from aggregate.project.beads.find import possible_beads_files
    from aggregate.project.beads.readiness import Hidden, Standing, assess, completion_order, hidden
else:
    __getattr__ = door(
        __name__,
        {
            "board": "read_board",
            "find": "possible_beads_files",
            "readiness": "Hidden Standing assess completion_order hidden",
        },
    )
