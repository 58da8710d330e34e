"""The seven views of a file: pure functions from source text to a ``View``, in one table."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.code.views.ast_parser import *
    from aggregate.code.views.focused import *
    from aggregate.code.views.full import *
    from aggregate.code.views.rendering import *
    from aggregate.code.views.view_pool import *
else:
    __getattr__ = door(
        __name__,
        {
            "ast_parser": "ASTParser",
            "focused": "GAP focused",
            "full": "EXCLUDED",
            "rendering": "NOTEBOOK_SUFFIX PARSED is_the_text render_view summarise_file view_of",
            "view_pool": "render_all",
        },
    )
