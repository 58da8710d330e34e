"""Prompt caches of providers: breakpoints, and a stable order of files (pure functions)."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.cache.breakpoints import *
    from aggregate.sending.cache.hashed_prompt import *
    from aggregate.sending.cache.request_plan import *
else:
    __getattr__ = door(
        __name__,
        {
            "breakpoints": "EarlierRequest",
            "request_plan": "SimulatedCache charge plan_request",
            "hashed_prompt": "HashedPrompt HashedSegment PrefixReport compare_prefixes",
        },
    )
