"""The door to durable runs: a database, opened, with the runs, the queue and the workers on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from aggregate.conductor.durable.database import open_engine
from aggregate.conductor.durable.dbos_queue import DbosQueue, prepare_database
from aggregate.conductor.durable.run_table import RunTable
from aggregate.conductor.durable.worker_process import WorkerProcess
from aggregate.conductor.worker import Worker


class RunDatabase:
    """A database that is open.

    Attributes:
        queue: The tickets of all runs.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.queue = DbosQueue(engine)

    def runs(self, project: str, track: str) -> RunTable:
        """Return the runs of a project's track."""
        return RunTable(self._engine, project, track)

    def worker_process(self, worker: Worker, *, lease: float) -> WorkerProcess:
        """Return this process as a worker on the queue, to be entered."""
        return WorkerProcess(self._engine, worker, lease=lease)


@contextmanager
def open_database(url: str) -> Iterator[RunDatabase]:
    """Yield the database of ``url`` with all tables in it, and close its connections afterwards.

    Raises:
        StateError: It cannot be used.
    """
    engine = open_engine(url)
    try:
        prepare_database(engine)
        yield RunDatabase(engine)
    finally:
        engine.dispose()
