"""Threads, child processes and the delays between attempts."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.concurrency.child_calls import *
    from aggregate.base.concurrency.child_processes import *
    from aggregate.base.concurrency.child_server import *
    from aggregate.base.concurrency.threads import *
else:
    __getattr__ = door(
        __name__,
        {
            "child_server": "frame",
            "child_calls": "Call Children PATIENCE begin_in_child in_child in_children",
            "child_processes": "AlternatingProcess PoolProcess wait_for_any",
            "threads": "ahead doubling_delay ordered_map result_within run_in_thread",
        },
    )
