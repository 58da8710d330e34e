"""A file of a prompt: the entry that asks for it, its view, and the lines of the file that each line stands for."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.files.files import *
else:
    __getattr__ = door(
        __name__,
        {
            "files": "Entry FileEntry FileItem FileRecord FileRow GeneratedPolicy GeneratedView PackedSpans PackedView RenderedFile ShownText Span View ViewMode ViewRequest"
        },
    )
