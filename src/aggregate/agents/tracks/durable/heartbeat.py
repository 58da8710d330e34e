"""Who is alive: each worker renews its lease again and again, and recovers what a dead one left.

DBOS has this in its hosted service only: by itself it recovers a dead process's work when a process of the same id
starts again, which on another machine never happens.
"""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import SQLAlchemyError

from aggregate.agents.tracks.durable.database import begins_with, first_line, retry_while_away
from aggregate.agents.tracks.durable.dbos_queue import QUEUE
from aggregate.agents.tracks.durable.schema import LEASES, workflow_table
from aggregate.agents.tracks.run_options import LEASE_SECONDS

RENEWALS_PER_LEASE = 3
"""So that two renewals may fail before others take a process for dead."""
_FORGOTTEN_SECONDS = 86_400
"""How long a lease that ran out stays, for a person who looks for what has happened."""
_STOP_SECONDS = 5.0
"""What a renewal that is under way gets when the process ends."""
_MAX_PID = (1 << 31) - 1
_POSTGRES_CLOCK = "extract(epoch from clock_timestamp())"
_SQLITE_CLOCK = (
    "((julianday('now') - 2440587.5) * 86400.0)"  # 1970 is that day; days have so many seconds
)


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that works on tickets.

    Attributes:
        host: Where its number means something; ``""`` where that is not known, and its end shows by its lease alone.
    """

    executor_id: str
    host: str
    pid: int


def this_process() -> ProcessIdentity:
    """Return this process under an id that no other ever has."""
    name, boot, pid = socket.gethostname(), _boot(), os.getpid()
    host = f"{name}:{boot}" if boot else ""
    return ProcessIdentity(f"{name}-{pid}-{token_hex(6)}", host, pid)


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
    """This worker's sign of life, and the watch over the others'.

    A worker is dead when its lease has run out, by the database's clock, or when its process is gone on this machine.
    Each says itself how long its lease is, so workers with different ones do not take each other for dead. One that
    was only slow loses nothing but time: what it still gives for a ticket that was recovered is not recorded twice.

    Args:
        lease: Seconds that a sign of life of this process holds.
        recover: Gives the tickets of a dead worker, named by its executor's id, back to the queue.
    """

    def __init__(
        self,
        engine: sa.Engine,
        me: ProcessIdentity,
        *,
        lease: float = LEASE_SECONDS,
        recover: Callable[[str], None],
        after_beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.me = me
        self._engine = engine
        self._lease = lease
        self._recover = recover
        self._after_beat = after_beat
        self._stop = Event()
        self._thread: Thread | None = None
        postgres = engine.dialect.name == "postgresql"
        columns = ("executor_id", "status", "queue_name")
        self._workflows = workflow_table(engine.dialect.name, "workflow_status", *columns)
        # The database's clock: those of two machines may differ by more than a lease.
        clock = _POSTGRES_CLOCK if postgres else _SQLITE_CLOCK
        self._now: sa.ColumnElement[float] = sa.literal_column(clock, sa.Double)

    def renew_lease(self) -> None:
        """Say that this process lives; to be done before it takes any ticket."""
        until = self._now + self._lease
        with self._engine.begin() as connection:
            renewed = connection.execute(LEASES.update().where(self._is_mine).values(until=until))
            if not renewed.rowcount:  # it is new, or another worker has deleted it
                values = {**asdict(self.me), "until": until}
                connection.execute(LEASES.insert().values(**values))

    def start(self) -> None:
        """Recover what dead workers left, and go on doing so in a thread."""
        self.recover_dead()
        self._thread = Thread(target=self._keep_beating, name="conductor-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the lease at once: what this process still has is another's to take."""
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=_STOP_SECONDS)
        # Where that fails the lease runs out by itself.
        with suppress(SQLAlchemyError), self._engine.begin() as connection:
            connection.execute(LEASES.update().where(self._is_mine).values(until=0))

    def recover_dead(self) -> list[str]:
        """Give the tickets of dead workers back to the queue; return whose they were."""
        with self._engine.begin() as connection:
            remaining = (LEASES.c.until - self._now).label("remaining")
            leases = connection.execute(sa.select(LEASES, remaining)).mappings().all()
            working = self._executors_at_work(connection)
            _delete_forgotten(connection, leases, working)
        alive = {lease["executor_id"] for lease in leases if self._is_alive(lease)}
        dead = sorted(working - alive - {self.me.executor_id})
        for executor_id in dead:
            self._recover(executor_id)
        return dead

    def any_alive(self, prefix: str) -> bool:
        """Tell whether a process whose id begins so gives signs of life."""
        remaining = (LEASES.c.until - self._now).label("remaining")
        named = begins_with(LEASES.c.executor_id, prefix)
        with self._engine.connect() as connection:
            leases = connection.execute(sa.select(LEASES, remaining).where(named)).mappings().all()
        return any(map(self._is_alive, leases))

    def _keep_beating(self) -> None:
        while not self._stop.wait(self._lease / RENEWALS_PER_LEASE):
            try:
                self.renew_lease()
                self.recover_dead()
                self._after_beat()
            except (SQLAlchemyError, dbos_errors.DBOSException):
                # The database is away: the lease runs out if it stays away, and that is right.
                continue

    @property
    def _is_mine(self) -> sa.ColumnElement[bool]:
        return LEASES.c.executor_id == self.me.executor_id

    def _executors_at_work(self, connection: sa.Connection) -> set[str]:
        columns = self._workflows.c
        taken = (columns.status == "PENDING") & (columns.queue_name == QUEUE)
        query = sa.select(columns.executor_id).distinct().where(taken)
        executors = connection.execute(query).scalars()
        return {str(executor_id) for executor_id in executors if executor_id}

    def _is_alive(self, lease: sa.RowMapping) -> bool:
        return _remaining(lease) >= 0 and not self._is_gone(lease)

    def _is_gone(self, lease: sa.RowMapping) -> bool:
        """Tell whether a worker's process has ended, which can be seen on this machine only."""
        pid = lease["pid"]
        if not self.me.host or lease["host"] != self.me.host:
            return False
        # SQLite keeps any type in any column, and what is no process must not end this thread.
        if type(pid) is not int or not 0 < pid <= _MAX_PID:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # another user's, so it is there
            return False
        return False


def _remaining(lease: sa.RowMapping) -> float:
    return lease["remaining"] or 0.0


def _delete_forgotten(
    connection: sa.Connection, leases: Sequence[sa.RowMapping], working: set[str]
) -> None:
    """Delete leases that ran out long ago, unless their worker still has tickets."""
    old = {lease["executor_id"] for lease in leases if _remaining(lease) < -_FORGOTTEN_SECONDS}
    connection.execute(LEASES.delete().where(LEASES.c.executor_id.in_(old - working)))


@contextmanager
def conducting(
    engine: sa.Engine,
    run_id: str,
    *,
    lease: float,
    away: Callable[[str], None] = lambda _reason: None,
) -> Iterator[None]:
    """Let others see while the block runs that this process conducts a run.

    Args:
        engine: The database.
        run_id: The run.
        lease: Seconds after which it counts as interrupted if this process gives no sign of life.
        away: Called in a thread with the reason, once for each time, while nothing can be written, such as onto a full
            disk: workers wait without a word until something can.
    """
    heartbeat = _heartbeat(engine, run_id, lease)
    retry_while_away(engine, heartbeat.renew_lease)
    stop = Event()

    def beat() -> None:
        is_away = False
        while not stop.wait(lease / RENEWALS_PER_LEASE):
            try:
                heartbeat.renew_lease()
                is_away = False
            except SQLAlchemyError as error:
                # The lease runs out, and that is right.
                if not is_away:
                    away(first_line(error))
                is_away = True

    thread = Thread(target=beat, name="conductor-run-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        heartbeat.stop()


def is_conducted(engine: sa.Engine, run_id: str) -> bool:
    """Tell whether a process conducts a run now: its lease holds, and it has not ended on this machine."""
    heartbeat = _heartbeat(engine, run_id, 0)
    return retry_while_away(engine, lambda: heartbeat.any_alive(_prefix(run_id)))


def _heartbeat(engine: sa.Engine, run_id: str, lease: float) -> Heartbeat:
    # A name of its own, for this process may work on tickets too.
    me = replace(this_process(), executor_id=f"{_prefix(run_id)}{token_hex(6)}")
    return Heartbeat(engine, me, lease=lease, recover=lambda _executor_id: None)


def _prefix(run_id: str) -> str:
    return f"conductor of {run_id}: "
