"""The index: what follows from a file's bytes alone, computed once per content and kept outside of the project."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.index.file_states import FileState, file_state
    from aggregate.project.index.group_states import describe_settled
    from aggregate.project.index.kinds import Kind, code_version
    from aggregate.project.index.report import clear_index, read_report
    from aggregate.project.index.settings import INDEX_FILE, INDEX_FOLDER, byte_limit, index_path
    from aggregate.project.index.shared import user_index
    from aggregate.project.index.store import Index, open_index
else:
    __getattr__ = door(
        __name__,
        {
            "file_states": "FileState file_state",
            "group_states": "describe_settled",
            "kinds": "Kind code_version",
            "report": "clear_index read_report",
            "settings": "INDEX_FILE INDEX_FOLDER byte_limit index_path",
            "shared": "user_index",
            "store": "Index open_index",
        },
    )
