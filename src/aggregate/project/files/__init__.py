"""."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.files.dependency_folders import dependency_folders
    from aggregate.project.files.file_content import (
        UTF_8,
        SourceFile,
        decode,
        modified_at,
        read_file,
    )
    from aggregate.project.files.image_header import ImageHeader, read_image_header
    from aggregate.project.files.path_resolution import OUTSIDE, SECRET, FolderListing, ResolvedPath
else:
    __getattr__ = door(
        __name__,
        {
            "dependency_folders": "dependency_folders",
            "file_content": "SourceFile UTF_8 decode modified_at read_file",
            "image_header": "ImageHeader read_image_header",
            "path_resolution": "FolderListing OUTSIDE ResolvedPath SECRET",
        },
    )
