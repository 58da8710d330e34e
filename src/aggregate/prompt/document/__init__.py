"""The finished prompt: segments, images, and lines' origins."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.document.document import *
    from aggregate.prompt.document.origins import *
else:
    __getattr__ = door(
        __name__,
        {
            "origins": "Label Origin OriginKind SourceMap pack_map unpack_map",
            "document": "Cut END Image Prompt SEPARATOR Screenshot Section Segment Stability",
        },
    )
