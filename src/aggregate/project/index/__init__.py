"""The index: a cache of results by content of files.

The cache is outside of the project.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.index.database import *
    from aggregate.project.index.rows import *
    from aggregate.project.index.store import *
else:
    __getattr__ = door(
        __name__,
        {
            "rows": "code_version Kind token_version",
            "store": "INDEX_FILE INDEX_FOLDER Index byte_limit index_path look_at open_index settled_mark user_index",
            "database": "clear_index read_report",
        },
    )
