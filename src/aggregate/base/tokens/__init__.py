"""Exact token counts, offline."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.tokens.counter import *
    from aggregate.base.tokens.toktok import *
else:
    __getattr__ = door(
        __name__,
        {
            "counter": "count count_all count_batch count_few cut TokenCounter",
            "toktok": "count_exact counts_exactly",
        },
    )
