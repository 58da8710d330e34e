"""Programs by their full path, none of which a project brought."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.disk.programs.programs import *
else:
    __getattr__ = door(
        __name__, {"programs": "TOOL_MODULES find_program guard_process guard_project search_path"}
    )
