"""The database in use: SQLite for one machine, or Postgres for many.

Only the module of the database in use is loaded.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from secrets import token_hex

import sqlalchemy as sa

from aggregate.agents.tracks.durable.run_database import (
    METADATA,
    SQLITE,
    Engine,
    Heartbeat,
    database_errors,
    retry_while_away,
)

_POOL_SIZE = 16
# Connections beyond the pool, closed after use: each ticket has a thread, and so have the poller and the heartbeat.
# With SQLAlchemy's 15 workers wait for each other.
_MAX_OVERFLOW = 48


def open_engine(url: str) -> Engine:
    """Connect to a database; create missing tables.

    SQLite is in write-ahead mode: a kill loses nothing, a power failure the last transactions, which are repeated.
    """
    is_file = url.startswith(SQLITE)
    with database_errors(url):
        # A server may have closed a pooled connection.
        engine = sa.create_engine(
            url, pool_size=_POOL_SIZE, max_overflow=_MAX_OVERFLOW, pool_pre_ping=not is_file
        )
        if is_file:
            from aggregate.agents.tracks.durable.sqlite_locks import prepare
        else:
            from aggregate.agents.tracks.durable.postgres_leases import prepare
        lock = prepare(engine)
        with engine.begin() as connection:
            connection.execute(lock)  # otherwise several new processes would create the tables
            METADATA.create_all(connection)
        return engine


def worker_heartbeat(engine: Engine, lease: float) -> Heartbeat:
    name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(6)}"
    return _heartbeat(engine, name, lease)


@contextmanager
def conducting(
    engine: Engine, run_id: str, *, lease: float, away: Callable[[str], None] = lambda _reason: None
) -> Iterator[None]:
    """Mark this process as a run's conductor during the block."""
    heartbeat = _heartbeat(engine, f"{_prefix(run_id)}{token_hex(6)}", lease)
    retry_while_away(engine, heartbeat.renew)
    heartbeat.start(away=away)
    try:
        yield
    finally:
        heartbeat.stop()


def is_conducted(engine: Engine, run_id: str) -> bool:
    heartbeat = _heartbeat(engine, "", 0)
    return bool(retry_while_away(engine, lambda: heartbeat.alive(_prefix(run_id))))


def _heartbeat(engine: Engine, executor_id: str, lease: float) -> Heartbeat:
    if engine.dialect.name == "sqlite":
        from aggregate.agents.tracks.durable.sqlite_locks import LockFile

        return LockFile(engine, executor_id, lease)
    from aggregate.agents.tracks.durable.postgres_leases import Lease

    return Lease(engine, executor_id, lease)


def _prefix(run_id: str) -> str:
    # Part of file names, which a project's name may not fit into
    return f"conductor-{blake2b(run_id.encode(), digest_size=12).hexdigest()}-"
