"""Durable runs: a database, worker processes, and signs of life.

Signs of life show which workers are dead. DBOS is the library for all this; no other package imports DBOS.
``dbos_queue.open_database`` opens a database.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.tracks.durable.dbos_queue import SegmentTable
    from aggregate.agents.tracks.durable.run_database import *
    from aggregate.agents.tracks.durable.run_records import *
    from aggregate.agents.tracks.durable.worker_process import *
else:
    __getattr__ = door(
        __name__,
        {
            "run_database": "SEGMENTS database_url retry_while_away",
            "dbos_queue": "SegmentTable",
            "run_records": "Run Runs conducting is_conducted open_engine worker_heartbeat",
            "worker_process": "WorkerProcess",
        },
    )
