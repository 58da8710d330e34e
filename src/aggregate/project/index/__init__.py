"""The index: what follows from a file's bytes alone, computed once per content and kept outside of the project."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.index.connection import clear_index, read_report
    from aggregate.project.index.file_states import FileState, describe_settled, file_state
    from aggregate.project.index.kinds import Kind, code_version
    from aggregate.project.index.store import (
        INDEX_FILE,
        INDEX_FOLDER,
        Index,
        byte_limit,
        index_path,
        open_index,
        user_index,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "connection": "clear_index read_report",
            "file_states": "FileState describe_settled file_state",
            "kinds": "Kind code_version",
            "store": "INDEX_FILE INDEX_FOLDER Index byte_limit index_path open_index user_index",
        },
    )
