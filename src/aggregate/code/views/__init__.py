"""The seven views of a file: functions from its text to a ``View``."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.code.views.custom import *
    from aggregate.code.views.masked import *
    from aggregate.code.views.outline import *
    from aggregate.code.views.rendering import *
else:
    __getattr__ = door(
        __name__,
        {
            "custom": "EXCLUDED",
            "masked": "find_symbol",
            "outline": "without_bodies",
            "rendering": "ASTParser ViewMaker focused gap_line is_the_text NOTEBOOK_SUFFIX PARSED render render_all render_view summarise_file view_of",
        },
    )
