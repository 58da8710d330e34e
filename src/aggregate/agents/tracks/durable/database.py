"""The database of runs: location, tables, errors and retries."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa
from dbos import DBOSPortableJSONSerializer, error as dbos_errors
from dbos._serialization import DefaultSerializer
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
_T = TypeVar("_T")
DATABASE = "conductor.sqlite"  # by default, in the project's state folder
JSON = DBOSPortableJSONSerializer()  # of workflows' inputs, outputs and steps

METADATA = sa.MetaData()


def _table(name: str, keys: str, *others: sa.schema.SchemaItem) -> sa.Table:
    columns = (sa.Column(key, sa.Text, primary_key=True) for key in keys.split())
    return sa.Table(name, METADATA, *columns, *others)


def _column(name: str, kind: type[sa.types.TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


# Runs: DBOS knows only tickets (its workflows).
RUNS = _table(
    "conductor_runs",
    "run_id",
    *map(_column, ("project", "track")),
    _column("number", sa.Integer),
    *map(_column, ("state", "tickets")),
    # Makes one of two simultaneous beginnings fail: see ``RunTable.begin``.
    sa.UniqueConstraint("project", "track", "number"),
)
# Segments of prompts: DBOS would keep a copy for each ticket.
SEGMENTS = _table("conductor_segments", "run_id digest", _column("segment"))
# Endings of approvals, conditions and lists; the first one counts.
ENDINGS = _table("conductor_endings", "run_id key", _column("state"), _column("text"))
# The rounds of retried tickets; earlier outcomes stay under earlier keys.
ROUNDS = _table("conductor_rounds", "run_id ticket", _column("round", sa.Integer))
# Changes of tickets: each commit with its additions to its parents, and named commits.
PACKS = _table(
    "conductor_packs", "run_id commit", _column("parents"), _column("data", sa.LargeBinary)
)
REFS = _table("conductor_refs", "run_id name", _column("commit"))


def workflow_table(dialect: str, *columns: str) -> sa.TableClause:
    schema = "dbos" if dialect == "postgresql" else None
    names = ("workflow_uuid", *columns)
    return sa.table("workflow_status", *map(sa.column, names), schema=schema)


def refuse_pickles() -> None:
    """Make DBOS refuse pickled values in this process.

    DBOS has no setting for it: the format of a row overrides the configured serializer.
    """

    def refuse(_self: DefaultSerializer, _text: str) -> Any:  # noqa: ANN401 - replaces a method of this type
        refuse_row("a value")

    DefaultSerializer.deserialize = refuse  # type: ignore[method-assign, assignment]


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


def project_name(project: Project) -> str:
    return project.config.project.name or project.folder.resolve().name


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
    engine: sa.Engine, ask: Callable[[], _T], *, patience: float = PATIENCE_SECONDS
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
