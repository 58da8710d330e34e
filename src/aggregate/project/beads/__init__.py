"""Read a project's beads: its issues, ready or blocked."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.beads.board import possible_beads_files, read_board
    from aggregate.project.beads.readiness import (
        Bead,
        Board,
        Dependency,
        Hidden,
        Standing,
        assess,
        completion_order,
        hidden,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "board": "possible_beads_files read_board",
            "readiness": "Bead Board Dependency Hidden Standing assess completion_order hidden",
        },
    )
