"""Messages that stay short: what somebody probably meant, long texts with a gap."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.messages.messages import *
else:
    __getattr__ = door(
        __name__, {"messages": "did_you_mean nearest_path path_meant short_list shorten"}
    )
