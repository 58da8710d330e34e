"""What a provider keeps of a prompt: its policy, breakpoints, and the order of files that lets most be reused. Pure."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.cache.breakpoints import *
    from aggregate.sending.cache.fingerprint import *
    from aggregate.sending.cache.request_plan import *
else:
    __getattr__ = door(
        __name__,
        {
            "breakpoints": "EarlierRequest",
            "request_plan": "SimulatedCache charge plan_request",
            "fingerprint": "HashedPrompt PrefixReport compare_prefixes",
        },
    )
