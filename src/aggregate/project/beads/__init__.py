"""Read a project's beads: its issues, ready or blocked."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.beads.bead import *
    from aggregate.project.beads.board import *
else:
    __getattr__ = door(
        __name__,
        {
            "bead": "Bead Board Dependency Hidden Standing assess completion_order hidden",
            "board": "possible_beads_files read_board",
        },
    )
