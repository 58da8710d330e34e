"""What stands in the database: our own tables, how large a row may be, and values as JSON alone."""

from collections.abc import Collection
from functools import cache
from typing import Any, NoReturn

import sqlalchemy as sa
from dbos import DBOSPortableJSONSerializer
from dbos._serialization import DefaultSerializer

from aggregate.base.errors import StateError

METADATA = sa.MetaData()
RUNS = sa.Table(
    "conductor_runs",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("project", sa.Text, nullable=False),
    sa.Column("track", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("tickets", sa.Text, nullable=False),
    # Of two processes that begin a run at once, one finds that it is there: see ``RunTable.begin``.
    sa.UniqueConstraint("project", "track", "number"),
)
"""The runs: DBOS knows tickets (its workflows) only, not that they belong together."""
LEASES = sa.Table(
    "conductor_leases",
    METADATA,
    sa.Column("executor_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("until", sa.Double, nullable=False),  # seconds since 1970 by the database's clock
)
"""Who is alive, workers and those who conduct a run (``run_lease``): DBOS notices by its hosted service
alone that a process has died."""
SEGMENTS = sa.Table(
    "conductor_segments",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, nullable=False),
)
"""What the tickets of a run are shown: DBOS would keep a copy for each ticket."""
ENDINGS = sa.Table(
    "conductor_endings",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
"""What became of tickets that no worker is asked for: approvals, conditions, lists. The first ending counts."""
ROUNDS = sa.Table(
    "conductor_rounds",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("ticket", sa.Text, primary_key=True),
    sa.Column("round", sa.Integer, nullable=False),
)
"""Which time a ticket is run, for those that were retried: what it came to before stays under its earlier key."""


JSON = DBOSPortableJSONSerializer()
"""What workflows' inputs, outputs and steps are written with."""
NOT_JSON = "is not JSON of ours"
"""What is said of a row that somebody else wrote."""
ROW_BYTES = 32_000_000
"""The most that one row may hold. Tickets come from a file of 5 MB, and an answer of two million characters, several
times the longest that any model writes, is 28 MB at the worst: JSON inside JSON writes one as up to 14 bytes."""
TOO_LARGE = f"holds more than {ROW_BYTES // 1_000_000} MB"
_STATUS_TEXTS = (
    "status", "name", "config_name", "class_name", "authenticated_user", "authenticated_roles", "assumed_role",
    "queue_name", "executor_id", "application_version", "application_id", "deduplication_id", "queue_partition_key",
    "forked_from", "parent_workflow_id", "attributes", "schedule_name", "application_name", "serialization",
    "output", "error",
)  # fmt: skip
"""Columns of a workflow that DBOS reads with its status; its input is the worker's to read."""
_OUTPUT_TEXTS = ("output", "error")


def refuse_pickles() -> None:
    """Make DBOS refuse each pickled value before it is decoded, from now on and in the whole process.

    The library has no setting for that: the format of a row goes before the serializer of a client or a configuration.
    """
    DefaultSerializer.deserialize = _refuse  # type: ignore[method-assign, assignment]


def _refuse(_self: DefaultSerializer, _text: str) -> Any:  # noqa: ANN401 - in the place of a method that returns anything
    refuse_row("a value")


def refuse_row(name: str, fault: str = NOT_JSON) -> NoReturn:
    """Raise what is said of a row that is not read.

    Raises:
        StateError: Always.
    """
    raise StateError(
        f"{name} in the database {fault} and is not read: it comes from an older version or from somebody "
        "else; end the run with `aggregate conduct cancel`, delete it with `aggregate conduct forget`, or use another "
        "--database"
    )


def size_of(column: sa.ColumnElement[object], dialect: str) -> sa.ColumnElement[int]:
    """Return the bytes of what stands in a column of any type, 0 for nothing."""
    if dialect == "postgresql":
        size = sa.func.octet_length(sa.cast(column, sa.Text))
    else:  # octet_length is new in SQLite 3.43
        size = sa.func.length(sa.cast(column, sa.LargeBinary))
    return sa.func.coalesce(size, 0, type_=sa.Integer)


def workflow_table(dialect: str, name: str, *columns: str) -> sa.TableClause:
    """Return a table of DBOS with these columns and its key."""
    schema = "dbos" if dialect == "postgresql" else None
    return sa.table(
        name, *(sa.column(column) for column in ("workflow_uuid", *columns)), schema=schema
    )


def refuse_large_workflows(connection: sa.Connection, keys: Collection[str]) -> None:
    """Make sure that the rows of these workflows can be read.

    Raises:
        StateError: One of them is too large; it is named.
    """
    for too_large in _too_large(connection.dialect.name):
        for (key,) in connection.execute(too_large, {"keys": list(keys)}):
            refuse_row(f"the row of {key.rpartition('/')[2]}", TOO_LARGE)


@cache
def _too_large(dialect: str) -> tuple[sa.Select[Any], ...]:
    """Return the queries for the first of some workflows that is too large, made once: they name many columns."""
    queries: list[sa.Select[Any]] = []
    for name, columns in (("workflow_status", _STATUS_TEXTS), ("workflow_output", _OUTPUT_TEXTS)):
        table = workflow_table(dialect, name, *columns)
        size = sum((size_of(table.c[column], dialect) for column in columns), start=sa.literal(0))
        key = table.c.workflow_uuid
        is_asked = key.in_(sa.bindparam("keys", expanding=True))
        queries.append(sa.select(key).where(is_asked, size > ROW_BYTES).order_by(key).limit(1))
    return tuple(queries)
