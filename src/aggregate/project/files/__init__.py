"""Resolve paths and globs of a project; read and decode files."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.files.file_content import *
    from aggregate.project.files.file_listing import *
else:
    __getattr__ = door(
        __name__,
        {
            "file_content": "ImageHeader SourceFile UTF_8 decode modified_at read_file read_image_header",
            "file_listing": "dependency_folders display_path display_prefix FolderListing is_history OUTSIDE resolve_paths ResolvedPath SECRET walk_files",
        },
    )
