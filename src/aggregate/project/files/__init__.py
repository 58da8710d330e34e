"""The files of a project: what a path or a glob stands for, and what one file holds."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.files.file_content import *
    from aggregate.project.files.image_header import *
    from aggregate.project.files.path_resolution import *
    from aggregate.project.files.walk import *
else:
    __getattr__ = door(
        __name__,
        {
            "file_content": "SourceFile UTF_8 decode modified_at read_file",
            "image_header": "ImageHeader read_image_header",
            "path_resolution": "FolderListing OUTSIDE ResolvedPath SECRET display_path display_prefix resolve_paths",
            "walk": "dependency_folders",
        },
    )
