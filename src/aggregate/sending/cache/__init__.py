"""Prompt caches of providers: breakpoints, and a stable order of files (pure functions)."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.cache.breakpoints import *
    from aggregate.sending.cache.cache_diffs import *
    from aggregate.sending.cache.hashed_prompt import *
    from aggregate.sending.cache.request_plan import *
else:
    __getattr__ = door(
        __name__,
        {
            "breakpoints": "EarlierRequest lost_share REMEMBERED_PAUSES",
            "cache_diffs": "CHANGED_HEADING diff_segment file_lines gone_segment patched sent_lines shown_in_older unified_diff",
            "hashed_prompt": "BlockLayout compare_prefixes HashedPrompt HashedSegment PrefixReport SYSTEM",
            "request_plan": "block_prefixes charge messages_of plan_request RequestPlan role_and_words SimulatedCache",
        },
    )
