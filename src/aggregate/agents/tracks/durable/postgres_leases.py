"""Postgres as the database of runs: connections and leases.

By itself DBOS recovers the work of a dead process only in its hosted service, or when a process with the same id starts
again, which never happens on another machine. A run on SQLite does not load this module.
"""

import sqlalchemy as sa

from aggregate.agents.tracks.durable.run_database import Heartbeat, begins_with, column, table

_SCHEMA_LOCK = 7266437226  # an advisory lock's number, unused by other programs
# The server's clock: those of two machines may differ by more than a lease.
_NOW: sa.ColumnElement[float] = sa.literal_column(
    "extract(epoch from clock_timestamp())", sa.Double
)
# Until when each process counts as alive, in seconds since 1970 by the server's clock
LEASES = table("conductor_processes", "executor_id", column("until", sa.Double))


def prepare(engine: sa.Engine) -> sa.TextClause:
    """Watch for lost connections; return the statement that locks the schema."""
    sa.event.listen(engine, "handle_error", _mark_disconnected)
    return sa.text(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")


def _mark_disconnected(context: sa.engine.ExceptionContext) -> None:
    """Mark a failed connection as lost, so DBOS retries it.

    DBOS recognises only some reasons by their words. For a reason such as a missing socket it would give up a ticket
    still held by its process.
    """
    if context.connection is None:
        context.is_disconnect = True


class Lease(Heartbeat):
    """A process's sign of life on a server; it expires.

    A lease must be renewed, and each process sets the length of its own lease. A process that is only slow loses time:
    a recovered ticket is not recorded twice.
    """

    def renew(self) -> None:
        is_mine = LEASES.c.executor_id == self.executor_id
        until = _NOW + self.lease
        with self.engine.begin() as connection:
            renewed = connection.execute(LEASES.update().where(is_mine).values(until=until))
            if not renewed.rowcount:  # new, or deleted by another process
                values = {"executor_id": self.executor_id, "until": until}
                connection.execute(LEASES.insert().values(**values))

    def end(self) -> None:
        with self.engine.begin() as connection:
            connection.execute(LEASES.delete().where(LEASES.c.executor_id == self.executor_id))

    def alive(self, prefix: str) -> set[str]:
        named = begins_with(LEASES.c.executor_id, prefix)
        with self.engine.begin() as connection:
            connection.execute(LEASES.delete().where(LEASES.c.until < _NOW))
            return set(connection.execute(sa.select(LEASES.c.executor_id).where(named)).scalars())
