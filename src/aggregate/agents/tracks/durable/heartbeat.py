"""Leases of processes: each worker renews its own, and recovers the tickets of dead ones.

DBOS has this only in its hosted service; else it recovers work when a process of the same id starts again, which on
another machine never happens.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import SQLAlchemyError

from aggregate.agents.tracks.durable.database import (
    LEASES,
    begins_with,
    first_line,
    retry_while_away,
    workflow_table,
)
from aggregate.agents.tracks.durable.dbos_queue import QUEUE
from aggregate.agents.tracks.run_files import LEASE_SECONDS

RENEWALS_PER_LEASE = 3  # two renewals may fail before a process counts as dead
_STOP_SECONDS = 5.0  # for a renewal under way when the process ends
_POSTGRES_CLOCK = "extract(epoch from clock_timestamp())"
_SQLITE_CLOCK = (
    "((julianday('now') - 2440587.5) * 86400.0)"  # 1970 is that day; days have so many seconds
)


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    executor_id: str
    host: str  # of the process id; "" if unknown, so that only the lease counts
    pid: int


def this_process() -> ProcessIdentity:
    name, pid, host = socket.gethostname(), os.getpid(), ""
    # Differs between machines and containers, whose process ids mean nothing to each other.
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        host = f"{name}:{boot}:{Path('/proc/self/ns/pid').readlink()}"
    return ProcessIdentity(f"{name}-{pid}-{token_hex(6)}", host, pid)


class Heartbeat:
    """The lease of this process, and a watch over the others.

    A process is dead when its lease has expired by the database's clock, or when it is gone on this machine. Each sets
    the length of its own lease. A slow process loses only time: a recovered ticket is not recorded twice.
    """

    def __init__(
        self, engine: sa.Engine, me: ProcessIdentity, *, lease: float = LEASE_SECONDS
    ) -> None:
        self.me = me
        self._engine = engine
        self._lease = lease
        self._stop = Event()
        self._thread: Thread | None = None
        # The database's clock: those of two machines may differ by more than a lease.
        is_postgres = engine.dialect.name == "postgresql"
        clock = _POSTGRES_CLOCK if is_postgres else _SQLITE_CLOCK
        self._now: sa.ColumnElement[float] = sa.literal_column(clock, sa.Double)
        self._is_mine = LEASES.c.executor_id == me.executor_id

    def renew_lease(self) -> None:
        """Renew the lease of this process, also before it takes a ticket."""
        until = self._now + self._lease
        with self._engine.begin() as connection:
            renewed = connection.execute(LEASES.update().where(self._is_mine).values(until=until))
            if not renewed.rowcount:  # new, or deleted by another worker
                values = {**asdict(self.me), "until": until}
                connection.execute(LEASES.insert().values(**values))

    def start(
        self, after_beat: Callable[[], None], away: Callable[[str], None] = lambda _reason: None
    ) -> None:
        """Renew the lease in a thread, and call ``after_beat`` each time.

        Each time that the database goes away, ``away`` is called with the reason.
        """

        def beat() -> None:
            is_away = False
            while not self._stop.wait(self._lease / RENEWALS_PER_LEASE):
                try:
                    self.renew_lease()
                    after_beat()
                    is_away = False
                except (SQLAlchemyError, dbos_errors.DBOSException) as error:
                    if not is_away:
                        away(first_line(error))
                    is_away = True

        self._thread = Thread(target=beat, name="conductor-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the lease at once, so that others take the tickets."""
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=_STOP_SECONDS)
        # Else the lease expires.
        with suppress(SQLAlchemyError), self._engine.begin() as connection:
            connection.execute(LEASES.update().where(self._is_mine).values(until=0))

    def dead(self) -> list[str]:
        """Return the ids of dead workers with tickets; delete the leases of others."""
        columns = workflow_table(self._engine.dialect.name, "executor_id", "status", "queue_name").c
        taken = (columns.status == "PENDING") & (columns.queue_name == QUEUE)
        with self._engine.begin() as connection:
            executors = connection.execute(
                sa.select(columns.executor_id).distinct().where(taken)
            ).scalars()
            working = {str(executor_id) for executor_id in executors if executor_id}
            leases = connection.execute(self._leases()).mappings().all()
            alive = {lease["executor_id"] for lease in leases if self._is_alive(lease)}
            over = {lease["executor_id"] for lease in leases} - alive - working
            connection.execute(LEASES.delete().where(LEASES.c.executor_id.in_(over)))
        return sorted(working - alive - {self.me.executor_id})

    def any_alive(self, prefix: str) -> bool:
        named = self._leases().where(begins_with(LEASES.c.executor_id, prefix))
        with self._engine.connect() as connection:
            leases = connection.execute(named).mappings().all()
        return any(map(self._is_alive, leases))

    def _leases(self) -> sa.Select[tuple[object, ...]]:
        return sa.select(LEASES, (LEASES.c.until - self._now).label("remaining"))

    def _is_alive(self, lease: sa.RowMapping) -> bool:
        if lease["remaining"] < 0:
            return False
        if not self.me.host or lease["host"] != self.me.host:
            return True
        try:
            os.kill(lease["pid"], 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # another user's process
            return True
        return True


@contextmanager
def conducting(
    engine: sa.Engine,
    run_id: str,
    *,
    lease: float,
    away: Callable[[str], None] = lambda _reason: None,
) -> Iterator[None]:
    """Hold the lease of a conducted run while the block runs.

    ``away`` is called in a thread with the reason when writing fails, such as onto a full disk.
    """
    heartbeat = _heartbeat(engine, run_id, lease)
    retry_while_away(engine, heartbeat.renew_lease)
    heartbeat.start(lambda: None, away)
    try:
        yield
    finally:
        heartbeat.stop()


def is_conducted(engine: sa.Engine, run_id: str) -> bool:
    heartbeat = _heartbeat(engine, run_id, 0)
    return retry_while_away(engine, lambda: heartbeat.any_alive(_prefix(run_id)))


def _heartbeat(engine: sa.Engine, run_id: str, lease: float) -> Heartbeat:
    # Another name than the process's as a worker.
    me = replace(this_process(), executor_id=f"{_prefix(run_id)}{token_hex(6)}")
    return Heartbeat(engine, me, lease=lease)


def _prefix(run_id: str) -> str:
    return f"conductor of {run_id}: "
