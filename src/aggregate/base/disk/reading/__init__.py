"""Read what a stranger may have left, within bounds, and tell where a path leads."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.disk.reading.files import *
    from aggregate.base.disk.reading.paths import *
else:
    __getattr__ = door(
        __name__,
        {
            "files": "CONTENT_BYTES SETTINGS_BYTES UnreadableError open_regular read_bytes read_regular read_text",
            "paths": "confined is_file is_inside project_root real_path without_links",
        },
    )
