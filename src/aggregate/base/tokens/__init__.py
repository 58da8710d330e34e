"""Exact token counts, offline."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.tokens.counter import *
else:
    __getattr__ = door(__name__, {"counter": "TokenCounter count count_all count_batch"})
