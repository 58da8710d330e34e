"""How large a row is, asked before any of it is read: whoever reaches the database may write into it."""

from collections.abc import Collection
from functools import cache
from typing import Any

import sqlalchemy as sa

from aggregate.agents.tracks.durable.serialization import refuse_row

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
