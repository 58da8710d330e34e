"""Read a project's beads: its issues, ready or blocked."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.beads.bead import *
    from aggregate.project.beads.board import *
else:
    __getattr__ = door(
        __name__,
        {
            "bead": "Bead Board Dependency Hidden Standing assess bead_from_record completion_order hidden parse_time read_json_list read_jsonl",
            "board": "find_beads_files possible_beads_files read_bd read_board",
        },
    )
