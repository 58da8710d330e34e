"""Exact token counts, offline."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.tokens.batch import count_batch
    from aggregate.base.tokens.count import count, count_all
    from aggregate.base.tokens.counter import TokenCounter
else:
    __getattr__ = door(
        __name__,
        {
            "batch": "count_batch",
            "count": "count count_all",
            "counter": "TokenCounter",
        },
    )
