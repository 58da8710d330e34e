"""Safe access to an untrusted disk: bounded reads, writes without links, programs by full path."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.disk.programs import *
    from aggregate.base.disk.reading import *
    from aggregate.base.disk.writing import *
else:
    __getattr__ = door(
        __name__,
        {
            "programs": "find_program search_path",
            "reading": "read_bytes read_regular read_text UnreadableError",
            "writing": "confined private_folder state_folder without_links",
        },
    )
