"""Threads, child processes that answer requests, and the delays between attempts."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.concurrency.children import *
    from aggregate.base.concurrency.threads import *
    from aggregate.base.concurrency.worker_pool import *
else:
    __getattr__ = door(
        __name__,
        {
            "children": "Call PATIENCE in_child in_children",
            "threads": "doubling_delay ordered_map run_async run_in_thread",
            "worker_pool": "DeadlinePassed PoolProcess WorkerPool",
        },
    )
