"""Signs of life of worker and conductor processes, to detect dead ones."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

import sqlalchemy as sa
from dbos import error as dbos_errors
from sqlalchemy.exc import SQLAlchemyError

from aggregate.agents.tracks.durable.database import first_line, workflow_table

QUEUE = "tickets"
BEATS_PER_LEASE = 3  # two renewals may fail before a process counts as dead
_STOP_SECONDS = 5.0  # for a beat under way when the process ends


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
            except (SQLAlchemyError, dbos_errors.DBOSException) as error:
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
        columns = workflow_table(self.engine.dialect.name, "executor_id", "status", "queue_name").c
        taken = (columns.status == "PENDING") & (columns.queue_name == QUEUE)
        with self.engine.connect() as connection:
            rows = connection.execute(sa.select(columns.executor_id).distinct().where(taken))
            working = set(map(str, filter(None, rows.scalars())))
        return sorted(working - self.alive("") - {self.executor_id}) if working else []
