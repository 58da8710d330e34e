"""The database of durable runs: one engine for DBOS and for the tables of our own."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any, TypeVar

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from aggregate.conductor.durable.serialization import refuse_row
from aggregate.conductor.tickets import Tickets, checked
from aggregate.disk.writing import create_private, private_folder
from aggregate.errors import StateError

_METADATA = sa.MetaData()
RUNS = sa.Table(
    "conductor_runs",
    _METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("project", sa.Text, nullable=False),
    sa.Column("track", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("tickets", sa.Text, nullable=False),
    sa.UniqueConstraint("project", "track", "number"),
)
LEASES = sa.Table(
    "conductor_leases",
    _METADATA,
    sa.Column("executor_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)
SQLITE = "sqlite:///"
RUNNING, FINISHED, CANCELLED = "running", "finished", "cancelled"
PATIENCE_SECONDS = 60.0
"""How long a run waits for a database that went away; workers wait for as long as it takes."""
_AGAIN_SECONDS = 0.5
_SUBSEC_SINCE = (3, 42)
_BUSY_SECONDS = 30
"""How long SQLite waits for other processes."""
_T = TypeVar("_T")


def database_url(text: str) -> str:
    """Return a URL for the engine: ``postgres://`` and ``postgresql://`` get their driver, a path becomes SQLite.

    Raises:
        StateError: It is neither SQLite nor Postgres.
    """
    for scheme in ("postgres://", "postgresql://"):
        if text.startswith(scheme):
            return "postgresql+psycopg://" + text.removeprefix(scheme)
    if text.startswith(("postgresql+psycopg://", SQLITE)):
        return text
    if "://" in text:
        raise StateError(f"{text.split('://')[0]}://... is no database that runs can use: give postgresql:// or a file")
    return f"{SQLITE}{Path(text).absolute()}"


def open_engine(url: str) -> sa.Engine:
    """Return an engine on a database with our tables in it.

    SQLite is put into write-ahead mode, in which a kill loses nothing; after a power failure the last transactions may
    be missing, and what they held is done again.

    Raises:
        StateError: The database cannot be reached.
    """
    with database_errors(url):
        if url.startswith(SQLITE):
            _make_private(Path(url.removeprefix(SQLITE)))
        engine = sa.create_engine(url, pool_size=16, max_overflow=48, pool_pre_ping=not url.startswith("sqlite"))
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _prepare_sqlite)
        else:
            sa.event.listen(engine, "handle_error", _is_away)
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            else:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7266437226)"))
            _METADATA.create_all(connection)
        return engine


@contextmanager
def database_errors(url: str) -> Iterator[None]:
    """Turn a database's errors into one sentence.

    Raises:
        StateError: The block failed in the database.
    """
    try:
        yield
    except (SQLAlchemyError, dbos_errors.DBOSException, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
        where = sa.make_url(url).render_as_string(hide_password=True)
        raise StateError(
            f"{where}: the database cannot be used ({reason}): check --database and that it is up"
        ) from error


def retry_while_away(engine: sa.Engine, ask: Callable[[], _T], *, patience: float = PATIENCE_SECONDS) -> _T:
    """Return what ``ask`` does, which may be repeated; a server that went away is waited for.

    Raises:
        StateError: It stays away for ``patience`` seconds, or something else is wrong with it.
    """
    end = monotonic() + patience
    with database_errors(str(engine.url)):
        while True:
            try:
                return ask()
            except DBAPIError as error:
                if not error.connection_invalidated or monotonic() >= end:
                    raise
            sleep(_AGAIN_SECONDS)


def _make_private(path: Path) -> None:
    """Make a new SQLite file readable by the user alone, for it holds every prompt and answer; SQLite would not."""
    private_folder(path.parent)
    with suppress(FileExistsError):
        os.close(create_private(path))


def _is_away(context: sa.engine.ExceptionContext) -> None:
    """Let no connection count as a lost one, whatever the reason: what is under way then waits for the server.

    DBOS knows some reasons by their words only; with the others it would give up a ticket that its process still holds.
    """
    if context.connection is None:
        context.is_disconnect = True


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    connection.isolation_level = "IMMEDIATE"
    for pragma in (f"busy_timeout={_BUSY_SECONDS * 1000}", "foreign_keys=ON", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    if sqlite3.sqlite_version_info < _SUBSEC_SINCE:
        # From Python 3.12 on DBOS takes the time by unixepoch('subsec'), which is NULL in an older SQLite.
        connection.create_function("unixepoch", 1, lambda _: time())
    _write_ahead(connection)


def _write_ahead(connection: Any) -> None:  # noqa: ANN401 - as above
    """Put the file into write-ahead mode; while another process does so SQLite refuses without waiting."""
    end = monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() >= end:
                raise
        sleep(0.02)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the database has it.

    Attributes:
        run_id: ``<project>/<track>/<NNN>``.
        number: Which run of the track.
        state: ``running``, ``finished`` or ``cancelled``.
        tickets_json: What is run, as ``Tickets`` writes it: a run that cannot be read can still be ended and deleted.
    """

    run_id: str
    number: int
    state: str
    tickets_json: str

    @property
    def tickets(self) -> Tickets:
        """What is run: the tickets of the moment when it began.

        Raises:
            StateError: They are none, or cannot be run.
        """
        try:
            return checked(Tickets.model_validate_json(self.tickets_json))
        except ValueError:  # pydantic's own error is one
            refuse_row(f"the run {self.run_id}")


class RunTable:
    """The runs of one project's track."""

    def __init__(self, engine: sa.Engine, project: str, track: str) -> None:
        self._engine = engine
        self._project = project
        self._track = track
        self._mine = (RUNS.c.project == project) & (RUNS.c.track == track)

    def latest(self) -> RunRow | None:
        """Return the newest run, ``None`` where there is none."""
        query = sa.select(RUNS).where(self._mine).order_by(RUNS.c.number.desc()).limit(1)
        return next(map(_run_row, self._execute(query)), None)

    def over(self) -> list[RunRow]:
        """Return the runs that are finished or cancelled, the oldest first."""
        query = sa.select(RUNS).where(self._mine, RUNS.c.state != RUNNING).order_by(RUNS.c.number)
        return [_run_row(row) for row in self._execute(query)]

    def begin(self, tickets: Tickets, number: int) -> RunRow:
        """Enter a new run; of two processes that do so at once under one number, both get the same run."""
        run = RunRow(f"{self._project}/{self._track}/{number:03d}", number, RUNNING, tickets.model_dump_json())
        values = {"project": self._project, "track": self._track, "tickets": run.tickets_json}
        try:
            self._execute(RUNS.insert().values(run_id=run.run_id, number=number, state=RUNNING, **values))
        except StateError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            return self.latest() or run
        return run

    def set_state(self, run: RunRow, state: str) -> None:
        """Write how a run stands; one that is over stays as it is."""
        running = (RUNS.c.run_id == run.run_id) & (RUNS.c.state == RUNNING)
        self._execute(RUNS.update().where(running).values(state=state))

    def state(self, run: RunRow) -> str:
        """Return how a run stands now; one that was forgotten is cancelled."""
        rows = self._execute(sa.select(RUNS.c.state).where(RUNS.c.run_id == run.run_id))
        return str(rows[0]["state"]) if rows else CANCELLED

    def forget(self, run: RunRow) -> None:
        """Delete a run that is over."""
        self._execute(RUNS.delete().where(RUNS.c.run_id == run.run_id, RUNS.c.state != RUNNING))

    def _execute(self, statement: sa.Executable) -> Sequence[sa.RowMapping]:
        def execute() -> Sequence[sa.RowMapping]:
            with self._engine.begin() as connection:
                result = connection.execute(statement)
                return result.mappings().all() if result.returns_rows else ()

        return retry_while_away(self._engine, execute)


def _run_row(row: sa.RowMapping) -> RunRow:
    run = RunRow(row["run_id"], row["number"], row["state"], row["tickets"])
    # SQLite keeps any type in any column.
    if any(type(part) is not str for part in (run.run_id, run.state, run.tickets_json)) or type(run.number) is not int:
        refuse_row("a run")
    return run
