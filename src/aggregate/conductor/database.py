"""The database of durable runs: one engine for DBOS and for the tables of our own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from aggregate.conductor.tickets import Tickets
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
WORKERS = sa.Table(
    "conductor_workers",
    _METADATA,
    sa.Column("executor_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("beat", sa.Double, nullable=False),
)
RUNNING, FINISHED, CANCELLED = "running", "finished", "cancelled"


def database_url(text: str) -> str:
    """Return a URL for the engine: ``postgres://`` and ``postgresql://`` get their driver, a path becomes SQLite.

    Raises:
        StateError: It is neither SQLite nor Postgres.
    """
    for scheme in ("postgres://", "postgresql://"):
        if text.startswith(scheme):
            return "postgresql+psycopg://" + text.removeprefix(scheme)
    if text.startswith(("postgresql+psycopg://", "sqlite:///")):
        return text
    if "://" in text:
        raise StateError(f"{text.split('://')[0]}://... is no database that runs can use: give postgresql:// or a file")
    return f"sqlite:///{Path(text).absolute()}"


def open_engine(url: str) -> sa.Engine:
    """Return an engine on a database with our tables in it.

    SQLite is put into write-ahead mode, in which a kill loses nothing; after a power failure the last transactions may
    be missing, and what they held is done again.

    Raises:
        StateError: The database cannot be reached.
    """
    with explained(url):
        if url.startswith("sqlite:///"):
            Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(url, pool_size=16, max_overflow=48, pool_pre_ping=not url.startswith("sqlite"))
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _prepare_sqlite)
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            else:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7266437226)"))
            _METADATA.create_all(connection)
        return engine


@contextmanager
def explained(url: str) -> Iterator[None]:
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


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    connection.isolation_level = "IMMEDIATE"
    for pragma in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the database has it.

    Attributes:
        run_id: ``<project>/<track>/<NNN>``.
        number: Which run of the track.
        state: ``running``, ``finished`` or ``cancelled``.
        tickets: What is run: those of the moment when it began.
    """

    run_id: str
    number: int
    state: str
    tickets: Tickets


class Runs:
    """The runs of one project's track."""

    def __init__(self, engine: sa.Engine, project: str, track: str) -> None:
        self._engine = engine
        self._project = project
        self._track = track

    def latest(self) -> RunRow | None:
        """Return the newest run, ``None`` where there is none."""
        mine = (RUNS.c.project == self._project) & (RUNS.c.track == self._track)
        query = sa.select(RUNS).where(mine).order_by(RUNS.c.number.desc()).limit(1)
        with explained(str(self._engine.url)), self._engine.connect() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            return None
        return RunRow(row["run_id"], row["number"], row["state"], Tickets.model_validate(json.loads(row["tickets"])))

    def begin(self, tickets: Tickets) -> RunRow:
        """Enter a new run under the next number; of two processes that try at once, both get the same one."""
        number = (latest.number if (latest := self.latest()) else 0) + 1
        run = RunRow(f"{self._project}/{self._track}/{number:03d}", number, RUNNING, tickets)
        values = {"project": self._project, "track": self._track, "tickets": tickets.model_dump_json()}
        try:
            with self._engine.begin() as connection:
                connection.execute(RUNS.insert().values(run_id=run.run_id, number=number, state=RUNNING, **values))
        except IntegrityError:
            entered = self.latest()
            if entered is not None:
                return entered
            raise
        return run

    def set_state(self, run: RunRow, state: str) -> None:
        """Write how a run stands; one that is over stays as it is."""
        with explained(str(self._engine.url)), self._engine.begin() as connection:
            running = (RUNS.c.run_id == run.run_id) & (RUNS.c.state == RUNNING)
            connection.execute(RUNS.update().where(running).values(state=state))

    def state(self, run: RunRow) -> str:
        """Return how a run stands now."""
        with explained(str(self._engine.url)), self._engine.connect() as connection:
            query = sa.select(RUNS.c.state).where(RUNS.c.run_id == run.run_id)
            return str(connection.execute(query).scalar() or CANCELLED)
