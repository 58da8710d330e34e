"""Write all or nothing, following no link, and keep what is the user's in its place."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.disk.writing.files import *
    from aggregate.base.disk.writing.user_folders import *
else:
    __getattr__ = door(
        __name__,
        {
            "files": "TEMPORARY_SUFFIX create_private exclusive_access private_folder replace_own replace_text temporary_name write_to_free",
            "user_folders": "CACHE_VARIABLE STATE_VARIABLE cache_folder home_folder state_folder user_state_folder",
        },
    )
