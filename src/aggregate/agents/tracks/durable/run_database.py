"""The database of runs: location, tables, errors, retries, and signs of life of its processes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa
from dbos import DBOSPortableJSONSerializer, error as dbos_errors
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from aggregate.base.concurrency import doubling_delay
from aggregate.base.disk.writing import state_folder
from aggregate.base.errors import DatabaseAwayError, StateError
from aggregate.project.configuration import Project

Engine = sa.Engine
SQLITE = "sqlite:///"
PATIENCE_SECONDS = 60.0  # of a run without its database: a restart takes less; workers wait on
_RETRY_SECONDS = 0.1
_MAX_RETRY_SECONDS = 2.0  # a person waits for the run to go on
# Messages of a server during a restart
_PASSING = ("starting up", "shutting down", "recovery mode", "too many")
QUEUE = "tickets"
BEATS_PER_LEASE = 3  # two renewals may fail before a process counts as dead
_STOP_SECONDS = 5.0  # for a beat under way when the process ends
_T = TypeVar("_T")
DATABASE = "conductor.sqlite"  # by default, in the project's state folder
JSON = DBOSPortableJSONSerializer()  # of workflows' inputs, outputs and steps

METADATA = sa.MetaData()


def table(name: str, keys: str, *others: sa.schema.SchemaItem) -> sa.Table:
    columns = (sa.Column(key, sa.Text, primary_key=True) for key in keys.split())
    return sa.Table(name, METADATA, *columns, *others)


def column(name: str, kind: type[sa.types.TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


# Runs: DBOS knows only tickets (its workflows).
RUNS = table(
    "conductor_runs",
    "run_id",
    *map(column, ("project", "track")),
    column("number", sa.Integer),
    *map(column, ("state", "tickets")),
    # Makes one of two simultaneous beginnings fail: see ``Runs.begin``.
    sa.UniqueConstraint("project", "track", "number"),
)
# Segments of prompts: DBOS would keep a copy for each ticket.
SEGMENTS = table("conductor_segments", "run_id digest", column("segment"))
# Endings of approvals, conditions, lists and rounds; the first one counts.
ENDINGS = table("conductor_endings", "run_id key", column("state"), column("text"))
# Changes of tickets: each commit with its additions to its parents, and named commits.
PACKS = table("conductor_packs", "run_id commit", column("parents"), column("data", sa.LargeBinary))
REFS = table("conductor_refs", "run_id name", column("commit"))


def execute(engine: Engine, statement: sa.Executable, rows: Any = None) -> Sequence[Any]:  # noqa: ANN401 - as SQLAlchemy has it
    def execute() -> Sequence[Any]:
        with engine.begin() as connection:
            result = connection.execute(statement, rows)
            return result.all() if result.returns_rows else ()

    return retry_while_away(engine, execute)


def insert_into(engine: Engine, table: sa.Table) -> Any:  # noqa: ANN401 - of either kind, which share no type
    dialect = sqlite if engine.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


def workflow_table(engine: Engine, *columns: str) -> sa.TableClause:
    schema = "dbos" if engine.dialect.name == "postgresql" else None
    names = ("workflow_uuid", *columns)
    return sa.table("workflow_status", *map(sa.column, names), schema=schema)


def refuse_row(name: str, fault: str = "is not JSON of this program") -> NoReturn:
    raise StateError(
        f"{name} in the database {fault} and is not read: an older version or another program wrote it; "
        "end the run with `aggregate conduct cancel`, delete it with `aggregate conduct forget`, or use another "
        "--database"
    )


def database_url(text: str) -> str:
    for scheme in ("postgres://", "postgresql://"):
        if text.startswith(scheme):
            return "postgresql+psycopg://" + text.removeprefix(scheme)
    if text.startswith(("postgresql+psycopg://", SQLITE)):
        return text
    if "://" in text:
        scheme = text.split("://")[0]
        raise StateError(f"{scheme}://... is not a database for runs: use postgresql:// or a file")
    return f"{SQLITE}{Path(text).absolute()}"


def locate_database(project: Project, database: str) -> str:
    return database_url(database or str(state_folder(project.folder) / DATABASE))


def database_exists(url: str) -> bool:
    """Return whether a database exists, without creating it."""
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()


@contextmanager
def database_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, dbos_errors.DBOSException, OSError) as error:
        where = sa.make_url(url).render_as_string(hide_password=True)
        kind = DatabaseAwayError if _is_away(error) else StateError
        raise kind(
            f"{where}: the database cannot be used ({first_line(error)}): check --database and that it is up"
        ) from error


def _is_away(error: Exception) -> bool:
    """Return whether a server is unreachable or restarting, rather than refusing access."""
    text = str(error)
    is_refusal = "FATAL" in text and not any(words in text for words in _PASSING)
    return isinstance(error, OperationalError) and "sqlite" not in text and not is_refusal


def first_line(error: Exception) -> str:
    """Return the first line of a database's error."""
    return str(getattr(error, "orig", None) or error).strip().split("\n")[0]


def retry_while_away(
    engine: Engine, ask: Callable[[], _T], *, patience: float = PATIENCE_SECONDS
) -> _T:
    """Call ``ask`` until the server can be reached.

    This takes at most ``patience`` seconds. DBOS would wait without end, but a person should learn the reason.
    """
    end = monotonic() + patience
    failures = 0
    with database_errors(str(engine.url)):
        while True:
            try:
                return ask()
            except DBAPIError as error:
                if not error.connection_invalidated or monotonic() >= end:
                    raise
            failures += 1
            sleep(doubling_delay(failures, _RETRY_SECONDS, _MAX_RETRY_SECONDS))


def batches(items: Collection[_T], size: int) -> Iterator[list[_T]]:
    """Yield the items in lists of at most ``size``, for one SQL statement each."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def begins_with(column: sa.ColumnElement[str], text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a column begins with ``text``; SQLite's LIKE ignores case."""
    return sa.func.substr(column, 1, len(text)) == text


class Heartbeat(ABC):
    """This process's sign of life, and those of other processes."""

    def __init__(self, engine: sa.Engine, executor_id: str, lease: float) -> None:
        self.engine = engine
        self.executor_id = executor_id
        self.lease = lease
        self._stop = Event()
        self._thread: Thread | None = None

    @abstractmethod
    def renew(self) -> None:
        """Create or renew this process's sign of life."""

    @abstractmethod
    def end(self) -> None:
        """Withdraw the sign of life, so that others take over the tickets."""

    @abstractmethod
    def alive(self, prefix: str) -> set[str]:
        """Return the ids of living processes beginning with ``prefix``."""

    def start(
        self,
        after_beat: Callable[[], None] = lambda: None,
        away: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        """Renew the sign of life regularly in a thread.

        After each renewal ``after_beat`` is called. When the database begins to fail, ``away`` is called with the
        reason.
        """
        self._thread = Thread(
            target=self._beat, args=(after_beat, away), name="conductor-heartbeat", daemon=True
        )
        self._thread.start()

    def _beat(self, after_beat: Callable[[], None], away: Callable[[str], None]) -> None:
        is_away = False
        while not self._stop.wait(self.lease / BEATS_PER_LEASE):
            try:
                self.renew()
                after_beat()
                is_away = False
            except (SQLAlchemyError, dbos_errors.DBOSException, StateError) as error:
                if not is_away:
                    away(first_line(error))
                is_away = True

    def stop(self) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join(timeout=_STOP_SECONDS)
        with suppress(SQLAlchemyError):  # a lease expires anyway
            self.end()

    def dead(self) -> list[str]:
        """Return the ids of dead workers still holding tickets."""
        columns = workflow_table(self.engine, "executor_id", "status", "queue_name").c
        taken = (columns.status == "PENDING") & (columns.queue_name == QUEUE)
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(columns.executor_id).distinct().where(taken))
            working = set(map(str, filter(None, rows.scalars())))
        return sorted(working - self.alive("") - {self.executor_id}) if working else []
