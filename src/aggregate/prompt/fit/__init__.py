"""What fits into a number of tokens: an order that the budget does not change, and how far down that order it goes."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.prompt.fit.amounts import auto_budget
    from aggregate.prompt.fit.kept_levels import grown_files
else:
    __getattr__ = door(
        __name__,
        {
            "amounts": "auto_budget",
            "kept_levels": "grown_files",
        },
    )
