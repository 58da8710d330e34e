"""A process that works on tickets: DBOS takes them from the queue, a worker answers, and a lease says that it lives."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from threading import BoundedSemaphore, Event, Lock
from time import monotonic, sleep
from typing import Any, Self

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from sqlalchemy.exc import SQLAlchemyError

from aggregate.conductor.assignment import Assignment
from aggregate.conductor.attempt import STOP_SECONDS, Attempt, WorkerStopping, attempt_assignment
from aggregate.conductor.durable.database import database_errors, open_engine
from aggregate.conductor.durable.dbos_queue import (
    APPLICATION,
    MAX_STARTS,
    POLL_SECONDS,
    QUEUE,
    VERSION,
    WORKFLOW,
    DbosQueue,
)
from aggregate.conductor.durable.heartbeat import LEASE_SECONDS, Heartbeat, this_process
from aggregate.conductor.durable.serialization import JSON
from aggregate.conductor.lifecycle import complete_assignment
from aggregate.conductor.worker import Worker
from aggregate.errors import StateError
from aggregate.models.group import RunStatus

LISTEN_SECONDS = 0.05
"""How long a closing process waits for a listener that runs do not need, at the most."""
CLOSE_SECONDS = 2.0
"""What a process that ends gives its attempts to notice; another worker takes them up."""
GIVEN_BACK = 3
"""How often one process gives a ticket back that it could not record: each time a model is asked again."""
_ONLY = Lock()
"""Held by the one workplace that is open in this process."""


class WorkerProcess:
    """This process as a worker: it takes tickets from the queue while the block runs.

    Only one can be open in a process, for DBOS keeps itself in globals.

    Args:
        engine: The database.
        worker: Who answers; called from several threads at once.
        lease: Seconds after which this process counts as dead if it gives no sign of life.

    Raises:
        StateError: On entering: another one is open in this process, or the database cannot be used.
    """

    def __init__(self, engine: sa.Engine, worker: Worker, *, lease: float = LEASE_SECONDS) -> None:
        self._engine = open_engine(engine.url.render_as_string(hide_password=False))
        self._worker = worker
        self._leases = Heartbeat(self._engine, this_process(), lease=lease, adopt=_adopt, beat=self._give_back)
        self._desk = DbosQueue(self._engine)
        self._places = BoundedSemaphore(self._desk.places())
        self._stop = Event()
        self._busy: set[str] = set()
        self._idle: set[str] = set()
        self._given: Counter[str] = Counter()

    @property
    def executor_id(self) -> str:
        """This process's name in the database."""
        return self._leases.me.executor_id

    def __enter__(self) -> Self:
        if not _ONLY.acquire(blocking=False):
            raise StateError("this process works on tickets already: wait for it, or use a process for each run")
        try:
            self._launch()
        except BaseException:
            _ONLY.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._close()
        finally:
            _ONLY.release()

    def _launch(self) -> None:
        """Sign in and let DBOS take tickets.

        Raises:
            StateError: The database cannot be used.
        """
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": self._engine.url.render_as_string(hide_password=False),
            "system_database_engine": self._engine,
            "application_version": VERSION,
            "executor_id": self.executor_id,
            "use_listen_notify": False,
            "serializer": JSON,
            "enable_otlp": False,
            "log_level": "CRITICAL",
            "notification_listener_polling_interval_sec": LISTEN_SECONDS,
        }
        with database_errors(str(self._engine.url)):
            self._leases.sign_in()
            DBOS(config=config)
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=MAX_STARTS)(self._workflow())
            DBOS.launch()
            self._leases.start(QUEUE)

    def _close(self) -> None:
        """Stop taking tickets, leave those under way to others, and take DBOS down."""
        self._stop.set()
        until = monotonic() + CLOSE_SECONDS
        while self._busy and monotonic() < until:
            sleep(POLL_SECONDS)
        self._leases.sign_out()
        # DBOS leaves threads behind that wait for what others record; they must not reach for the database any more.
        sa.event.listen(self._engine, "do_connect", _refuse)
        sa.event.listen(self._engine, "checkin", _disconnect)
        DBOS.destroy(destroy_registry=True)
        self._engine.dispose()

    def _workflow(self) -> Callable[[str], str]:
        """Return the workflow; DBOS marks functions, and a method cannot be marked."""

        def ticket(assignment: str) -> str:
            """Work on one assignment; after a kill this runs again and skips the steps that were recorded."""
            self._go_on()
            given = Assignment.from_json(assignment)
            self._busy.add(given.key)
            try:
                return complete_assignment(self._worker, given, once=self._record, wait=self._wait).to_json()
            except SQLAlchemyError as error:
                # Nothing could be recorded, so this is no outcome of the ticket's, which is given back.
                raise WorkerStopping from error
            finally:
                self._busy.discard(given.key)

        return ticket

    def _record(self, worker: Worker, assignment: Assignment, number: int) -> Attempt:
        """Make one attempt, in one of this worker's places until it is recorded: a kill repeats no more than these."""
        while not self._places.acquire(timeout=STOP_SECONDS):
            self._go_on()
        # Once, however many pieces come; and only where others wait for it.
        begun = cache(lambda: self._desk.begun(assignment.key) if assignment.ahead else None)
        try:
            made = DBOS.run_step(
                {"name": "attempt"},
                lambda: asdict(attempt_assignment(worker, assignment, number, begun=begun, stop=self._stop)),
            )
        finally:
            self._places.release()
        return Attempt(**{**made, "status": RunStatus(made["status"])})

    def _give_back(self) -> None:
        """Lay down again what this process took and does not work on; DBOS would leave it for ever."""
        held = self._desk.held(self.executor_id)
        idle, self._idle = self._idle, held - self._busy
        seen_twice = idle & self._idle  # what was taken a moment ago is not busy yet
        self._desk.lay_again({key for key in seen_twice if self._given[key] < GIVEN_BACK})
        self._given.update(seen_twice)

    def _wait(self, seconds: float) -> None:
        self._stop.wait(seconds)
        self._go_on()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise WorkerStopping


def _refuse(*_: object) -> None:
    raise WorkerStopping


def _disconnect(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    if connection is not None:
        connection.close()


def _adopt(executor_id: str) -> None:
    """Give a dead worker's tickets back to the queue; what is another's by now stays there.

    DBOS has this in its own service only; here it is called by its internal name, which a test holds on to.
    """
    DBOS._recover_pending_workflows([executor_id])
