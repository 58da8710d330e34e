"""Runs in a database: opening it, the processes that conduct them, and their records.

The database is SQLite for one machine, or Postgres for many; only the module of the one in use is loaded.
"""

import json
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from secrets import token_hex

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from aggregate.agents.tracks.assignment import Ending, TicketStatus, ticket_of
from aggregate.agents.tracks.durable.run_database import (
    ENDINGS,
    METADATA,
    PACKS,
    REFS,
    RUNS,
    SEGMENTS,
    SQLITE,
    Engine,
    Heartbeat,
    database_errors,
    execute,
    insert_into,
    refuse_row,
    retry_while_away,
)
from aggregate.agents.tracks.tickets import Tickets, check_tickets
from aggregate.agents.tracks.work_trees import Pack
from aggregate.base.errors import StateError
from aggregate.project.configuration import Project

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


RUNNING, FINISHED, CANCELLED = "running", "finished", "cancelled"
_RECORD = 5  # the version of runs and workers' records, raised if an earlier one would be misread


class Runs:
    """The runs of a track."""

    def __init__(self, engine: Engine, project: str, track: str) -> None:
        self._engine = engine
        self._names = {"project": project, "track": track}
        columns = RUNS.c
        self._rows = sa.select(
            columns.run_id, columns.number, columns.state, columns.tickets
        ).where((columns.project == project) & (columns.track == track))

    @classmethod
    def of(cls, engine: Engine, project: Project, track: str) -> "Runs":
        name = project.config.project.name or project.folder.resolve().name
        return cls(engine, name, track)

    def latest(self) -> "Run | None":
        rows = execute(self._engine, self._rows.order_by(RUNS.c.number.desc()).limit(1))
        return Run(self._engine, *rows[0]) if rows else None

    def over(self) -> "list[Run]":
        query = self._rows.where(RUNS.c.state != RUNNING).order_by(RUNS.c.number)
        return [Run(self._engine, *row) for row in execute(self._engine, query)]

    def begin(self, tickets: Tickets, number: int) -> "Run":
        """Insert a new run; if another process was first, return that one's."""
        record = json.dumps({"record": _RECORD, "run": tickets.model_dump(mode="json")})
        run_id = "/".join((*self._names.values(), f"{number:03d}"))
        run = Run(self._engine, run_id, number, RUNNING, record)
        row = {"run_id": run_id, "number": number, "state": RUNNING, "tickets": record}
        try:
            execute(self._engine, RUNS.insert().values(**self._names, **row))
        except StateError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return self.latest() or run
        return run


@dataclass(frozen=True, slots=True)
class Run:
    """The record of one run; its id is ``<project>/<track>/<NNN>``."""

    engine: Engine
    run_id: str
    number: int
    state: str  # running, finished or cancelled
    tickets_json: str

    @property
    def tickets(self) -> Tickets:
        try:
            recorded = json.loads(self.tickets_json)
            if not isinstance(recorded, dict) or recorded.get("record") != _RECORD:
                refuse_row(f"the run {self.run_id}", "was begun by another version")
            return check_tickets(Tickets.model_validate(recorded.get("run")))
        except (ValueError, RecursionError):  # pydantic's own error is one
            refuse_row(f"the run {self.run_id}")

    @property
    def packs(self) -> "PackTable":
        return PackTable(self.engine, self.run_id)

    @property
    def is_conducted(self) -> bool:
        return self.state == RUNNING and is_conducted(self.engine, self.run_id)

    def is_cancelled(self) -> bool:
        """Return whether the run was cancelled, or forgotten, since it was read."""
        rows = execute(self.engine, sa.select(RUNS.c.state).where(self._of_run(RUNS)))
        return not rows or rows[0].state == CANCELLED

    def end(self, state: str) -> None:
        running = self._of_run(RUNS) & (RUNS.c.state == RUNNING)
        execute(self.engine, RUNS.update().where(running).values(state=state))

    def reopen(self) -> "Run":
        execute(self.engine, RUNS.update().where(self._of_run(RUNS)).values(state=RUNNING))
        return replace(self, state=RUNNING)

    def forget(self) -> None:
        for table in (ENDINGS, PACKS, REFS, SEGMENTS):
            execute(self.engine, table.delete().where(self._of_run(table)))
        is_over = self._of_run(RUNS) & (RUNS.c.state != RUNNING)
        execute(self.engine, RUNS.delete().where(is_over))

    def endings(self) -> Mapping[str, Ending]:
        rows = execute(self.engine, self._endings())
        return {str(key): _ending(key, state, text) for key, state, text in rows}

    def record(self, key: str, ending: Ending) -> Ending:
        values = {"run_id": self.run_id, "key": key, "state": ending.status, "text": ending.text}
        insert = insert_into(self.engine, ENDINGS).values(**values)
        execute(self.engine, insert.on_conflict_do_nothing())
        for row in execute(self.engine, self._endings().where(ENDINGS.c.key == key)):
            return _ending(*row)
        return ending  # the run was forgotten meanwhile

    def decide(self, key: str, ending: Ending) -> bool:
        """Record a person's decision; return whether the ticket was waiting for one."""
        waits = self._of_run(ENDINGS) & (ENDINGS.c.key == key)
        waits &= ENDINGS.c.state == TicketStatus.WAITING
        update = ENDINGS.update().where(waits).values(state=ending.status, text=ending.text)
        return bool(execute(self.engine, update.returning(ENDINGS.c.key)))

    def retry(self, keys: Iterable[str]) -> None:
        """End the present rounds of tickets, whatever their endings, so that they run again."""
        state = TicketStatus.RETRIED
        for key in keys:
            values = {"run_id": self.run_id, "key": key, "state": state, "text": ""}
            insert = insert_into(self.engine, ENDINGS).values(**values)
            replacing = {"index_elements": ["run_id", "key"], "set_": {"state": state}}
            execute(self.engine, insert.on_conflict_do_update(**replacing))

    def _endings(self) -> sa.Select[tuple[str, str, str]]:
        columns = ENDINGS.c
        return sa.select(columns.key, columns.state, columns.text).where(self._of_run(ENDINGS))

    def _of_run(self, table: sa.Table) -> sa.ColumnElement[bool]:
        return table.c.run_id == self.run_id


def _ending(key: str, state: str, text: str) -> Ending:
    """Return the ending in a row; refuse a row of another program."""
    try:
        ending = Ending(TicketStatus(state), text)
        is_ours = ending.status is not TicketStatus.SPREAD or isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        refuse_row(f"the ending of {ticket_of(key)}")
    return ending


@dataclass(frozen=True, slots=True)
class PackTable:
    """The commits of a run as packs, and the names of some commits."""

    engine: Engine
    run_id: str

    def get(self, commit: str) -> Pack | None:
        query = sa.select(PACKS.c.parents, PACKS.c.data).where(
            (PACKS.c.run_id == self.run_id) & (PACKS.c["commit"] == commit)
        )
        for parents, data in execute(self.engine, query):
            return Pack(commit, tuple(parents.split()), bytes(data))
        return None

    def put(self, pack: Pack) -> None:
        insert = insert_into(self.engine, PACKS).values(
            run_id=self.run_id, commit=pack.commit, parents=" ".join(pack.parents), data=pack.data
        )
        execute(self.engine, insert.on_conflict_do_nothing())

    def ref(self, name: str) -> str:
        query = sa.select(REFS.c["commit"]).where(self._named(name))
        return next((str(row[0]) for row in execute(self.engine, query)), "")

    def move(self, name: str, before: str, after: str) -> bool:
        """Move a name from one commit to another; return whether this process did."""
        if before:
            stands = self._named(name) & (REFS.c["commit"] == before)
            change = REFS.update().where(stands).values(commit=after)
        else:
            values = {"run_id": self.run_id, "name": name, "commit": after}
            change = insert_into(self.engine, REFS).values(**values).on_conflict_do_nothing()
        return bool(execute(self.engine, change.returning(REFS.c.name)))

    def forget(self) -> None:
        for table in (PACKS, REFS):
            execute(self.engine, table.delete().where(table.c.run_id == self.run_id))

    def _named(self, name: str) -> sa.ColumnElement[bool]:
        return (REFS.c.run_id == self.run_id) & (REFS.c.name == name)
