"""Who is alive: each worker signs its lease again and again, and takes over what a dead one left."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import SQLAlchemyError

from aggregate.conductor.durable.database import LEASES

LEASE_SECONDS = 15.0
_SIGNS_PER_LEASE = 3
_FORGOTTEN_SECONDS = 86_400
_STATUS = sa.table("workflow_status", sa.column("executor_id"), sa.column("status"), sa.column("queue_name"))


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that works on tickets.

    Attributes:
        executor_id: Its name in the database.
        host: Where its number means something; ``""`` where that is not known, and its end shows by its lease alone.
        pid: Its number there.
    """

    executor_id: str
    host: str
    pid: int


def this_process() -> ProcessIdentity:
    """Return this process under an id that no other ever has."""
    name, boot = socket.gethostname(), _boot()
    return ProcessIdentity(f"{name}-{os.getpid()}-{token_hex(6)}", f"{name}:{boot}" if boot else "", os.getpid())


def _boot() -> str:
    """Return what tells two machines, or two containers on one, apart; process ids mean nothing across them.

    ``""`` where the system does not say.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


class Heartbeat:
    """This worker's lease, and the watch over the others'.

    A worker is dead when its lease has run out, by the database's clock, or when its process is gone on this machine.
    Each says itself how long its lease is, so workers with different ones do not take each other for dead. One that
    was only slow loses nothing but time: what it still gives for a ticket that was taken over is not recorded twice.

    Args:
        engine: The database.
        me: This process.
        lease: Seconds that a sign of life of this process holds.
        adopt: Gives a dead worker's tickets back to the queue.
        beat: Called after each sign of life.
    """

    def __init__(
        self,
        engine: sa.Engine,
        me: ProcessIdentity,
        *,
        lease: float = LEASE_SECONDS,
        adopt: Callable[[str], None],
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.me = me
        self._engine = engine
        self._lease = lease
        self._adopt = adopt
        self._beat = beat
        self._stop = Event()
        self._thread: Thread | None = None
        postgres = engine.dialect.name == "postgresql"
        self._schema = "dbos" if postgres else None
        clock = "extract(epoch from clock_timestamp())" if postgres else "((julianday('now') - 2440587.5) * 86400.0)"
        self._now: sa.ColumnElement[float] = sa.literal_column(clock, sa.Double)

    def sign_in(self) -> None:
        """Enter this process; to be done before it takes any ticket."""
        with self._engine.begin() as connection:
            connection.execute(LEASES.insert().values(**self._values()))

    def start(self, queue: str) -> None:
        """Take over what dead workers left, and go on doing so in a thread."""
        self.watch(queue)
        self._thread = Thread(target=self._keep, args=(queue,), name="conductor-lease", daemon=True)
        self._thread.start()

    def sign_out(self) -> None:
        """End the lease at once: what this process still has is another's to take."""
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=5)
        with suppress(SQLAlchemyError), self._engine.begin() as connection:  # else it runs out by itself
            connection.execute(LEASES.update().where(LEASES.c.executor_id == self.me.executor_id).values(until=0))

    def watch(self, queue: str) -> list[str]:
        """Give the tickets of dead workers back to the queue; return whose they were."""
        with self._engine.begin() as connection:
            rows = connection.execute(sa.select(LEASES, (LEASES.c.until - self._now).label("left"))).mappings().all()
            status = sa.table("workflow_status", *(sa.column(c.name) for c in _STATUS.c), schema=self._schema)
            query = sa.select(status.c.executor_id).distinct()
            mine = (status.c.status == "PENDING") & (status.c.queue_name == queue)
            working = {str(one) for one in connection.execute(query.where(mine)).scalars() if one}
            forgotten = [row["executor_id"] for row in rows if (row["left"] or 0) < -_FORGOTTEN_SECONDS]
            connection.execute(LEASES.delete().where(LEASES.c.executor_id.in_(set(forgotten) - working)))
        alive = {row["executor_id"] for row in rows if (row["left"] or 0) >= 0 and not self._is_gone(row)}
        dead = sorted(working - alive - {self.me.executor_id})
        for one in dead:
            self._adopt(one)
        return dead

    def _keep(self, queue: str) -> None:
        while not self._stop.wait(self._lease / _SIGNS_PER_LEASE):
            try:
                self._sign()
                self.watch(queue)
                self._beat()
            except (SQLAlchemyError, dbos_errors.DBOSException):
                continue  # the database is away: the lease runs out if it stays away, and that is right

    def _sign(self) -> None:
        with self._engine.begin() as connection:
            mine = LEASES.c.executor_id == self.me.executor_id
            if not connection.execute(LEASES.update().where(mine).values(until=self._now + self._lease)).rowcount:
                connection.execute(LEASES.insert().values(**self._values()))

    def _values(self) -> dict[str, object]:
        me = self.me
        return {"executor_id": me.executor_id, "host": me.host, "pid": me.pid, "until": self._now + self._lease}

    def _is_gone(self, row: sa.RowMapping) -> bool:
        pid = row["pid"]
        # SQLite keeps any type in any column, and a number that is no process's must not end this thread.
        if not self.me.host or row["host"] != self.me.host or type(pid) is not int or not 0 < pid < 1 << 31:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False
