"""Read a project's beads: its issues, ready or blocked."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.beads.board import *
    from aggregate.project.beads.readiness import *
    from aggregate.project.beads.record import *
else:
    __getattr__ = door(
        __name__,
        {
            "board": "find_bd find_beads_files first_readable possible_beads_files read_board",
            "readiness": "Bead Board Dependency Hidden Standing assess completion_order hidden",
            "record": "bead_from_record parse_time read_json_list read_jsonl",
        },
    )
