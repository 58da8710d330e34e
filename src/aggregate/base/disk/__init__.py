"""The disk as a stranger may have left it: bounded reads, writes that follow no link, programs by their full path."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.disk.databases import *
    from aggregate.base.disk.programs import *
    from aggregate.base.disk.reading import *
    from aggregate.base.disk.user_folders import *
    from aggregate.base.disk.writing import *
else:
    __getattr__ = door(
        __name__,
        {
            "reading": "CONTENT_BYTES SETTINGS_BYTES UnreadableError is_file is_inside open_regular project_root read_bytes read_regular read_text real_path",
            "databases": "check_plain guard_connection has_triggers is_plain_table private_database",
            "programs": "TOOL_MODULES find_program guard_process guard_project search_path",
            "user_folders": "CACHE_VARIABLE STATE_VARIABLE cache_folder home_folder state_folder user_state_folder",
            "writing": "TEMPORARY_SUFFIX confined create_private exclusive_access private_folder replace_own replace_text temporary_name without_links write_to_free",
        },
    )
