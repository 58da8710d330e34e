"""A worker process: DBOS takes tickets, a worker answers them."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from threading import BoundedSemaphore, Event, Lock
from time import monotonic, sleep
from typing import Any, Self

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from sqlalchemy.exc import SQLAlchemyError

from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.attempt import (
    LEASE_SECONDS,
    STOP_SECONDS,
    Action,
    Steps,
    WorkerStopping,
    attempt_assignment,
    complete_assignment,
)
from aggregate.agents.tracks.durable.dbos_queue import (
    APPLICATION,
    MAX_STARTS,
    POLL_SECONDS,
    VERSION,
    WORKFLOW,
    DbosQueue,
)
from aggregate.agents.tracks.durable.run_database import JSON, Engine, database_errors, refuse_row
from aggregate.agents.tracks.durable.run_records import PackTable, open_engine, worker_heartbeat
from aggregate.agents.tracks.work_trees import Trees
from aggregate.agents.tracks.worker import AnyWorker
from aggregate.base.errors import StateError

LISTEN_SECONDS = 0.05  # for an unused listener of a closing process; DBOS takes 1
CLOSE_SECONDS = 2.0  # for attempts of a closing process to stop; another worker takes them
MAX_REQUEUES = 3  # of an unrecorded ticket: each asks a model again
_ONLY = Lock()  # held by the open worker


class WorkerProcess:
    """Lets this process answer queued tickets during the block.

    A process has at most one ``WorkerProcess``, since DBOS uses globals. ``changed`` is set when an answer has ended.
    ``away`` is called with the reason when the database begins to fail.
    """

    def __init__(
        self,
        engine: Engine,
        worker: AnyWorker,
        *,
        lease: float = LEASE_SECONDS,
        changed: Event | None = None,
        away: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        # Its own engine, which is closed for good at the end
        self._url = engine.url.render_as_string(hide_password=False)
        self._engine = open_engine(self._url)
        self._worker = worker
        self._queue = DbosQueue(self._engine)
        self._heartbeat = worker_heartbeat(self._engine, lease)
        self._slots = BoundedSemaphore(self._queue.concurrency())
        self._stop = Event()
        self._changed = changed or Event()
        self._away = away
        # The keys at work, by the event to stop their attempts; a key taken over by others may come back here
        # while its attempt goes on.
        self._busy: dict[Event, str] = {}
        self._trees = Trees(partial(PackTable, self._engine))
        self._idle: set[str] = set()
        self._requeues: Counter[str] = Counter()

    @property
    def executor_id(self) -> str:
        return self._heartbeat.executor_id

    def __enter__(self) -> Self:
        if not _ONLY.acquire(blocking=False):
            raise StateError(
                "this process works on tickets already: wait for it, or use a process for each run"
            )
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": self._url,
            "system_database_engine": self._engine,
            "application_version": VERSION,
            "executor_id": self.executor_id,
            "use_listen_notify": False,
            "serializer": JSON,
            "log_level": "CRITICAL",  # an embedding program has its own log
            "notification_listener_polling_interval_sec": LISTEN_SECONDS,
        }
        try:
            with database_errors(self._url):
                # Before DBOS takes any ticket
                self._heartbeat.renew()
                DBOS(config=config)
                DBOS.workflow(name=WORKFLOW, max_recovery_attempts=MAX_STARTS)(self._workflow())
                DBOS.launch()
                self._recover_dead()
                self._heartbeat.start(self._look_after, self._away)
        except BaseException:
            _ONLY.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stop.set()
            for stop in list(self._busy):
                stop.set()
            end = monotonic() + CLOSE_SECONDS
            while self._busy and monotonic() < end:
                sleep(POLL_SECONDS)
            self._heartbeat.stop()
            # DBOS leaves threads behind, waiting for other processes; they must not reach for the
            # database any more. It sees to that on an engine of its own only.
            sa.event.listen(self._engine, "do_connect", _refuse_connection)
            sa.event.listen(self._engine, "checkin", _disconnect)
            DBOS.destroy(destroy_registry=True)
            self._engine.dispose()
            self._trees.close()
        finally:
            _ONLY.release()

    def _workflow(self) -> Callable[[str, list[str]], str]:
        """Return the workflow as a function, since DBOS cannot register methods."""

        def ticket(text: str, digests: list[str]) -> str:
            """Work on one assignment; steps recorded before a kill are skipped."""
            try:
                assignment = self._queue.assignment(text, digests)
                with self._at_work_on(assignment.key) as stop:
                    outcome = complete_assignment(
                        self._worker,
                        assignment,
                        attempt=partial(self._record_attempt, stop),
                        wait=partial(_wait, stop),
                    )
                return outcome.to_json()
            except SQLAlchemyError as error:
                # Nothing could be recorded, so this is not the ticket's outcome, and the ticket is given
                # back. DBOS would record the database's error as the ticket's once it is up again.
                raise WorkerStopping from error

        return ticket

    @contextmanager
    def _at_work_on(self, key: str) -> Iterator[Event]:
        stop = Event()
        self._busy[stop] = key
        try:
            if self._stop.is_set():
                raise WorkerStopping
            yield stop
        finally:
            del self._busy[stop]
            self._changed.set()

    def _record_attempt(
        self, stop: Event, worker: AnyWorker, assignment: Assignment, number: int
    ) -> WorkerReply:
        """Make and record one attempt in a free slot.

        So a kill repeats at most one attempt per slot.
        """
        while not self._slots.acquire(timeout=STOP_SECONDS):
            _wait(stop, 0)

        steps = Steps(stop, _keep, self._trees)
        try:
            if assignment.tools:  # its steps are kept one by one, which a step's own cannot be
                acted = asdict(attempt_assignment(worker, assignment, number, steps))
                recorded = _keep("attempt", lambda: acted)
            else:
                recorded = _keep(
                    "attempt", lambda: asdict(attempt_assignment(worker, assignment, number, steps))
                )
        finally:
            self._slots.release()
        try:
            return WorkerReply.from_recorded(recorded)
        except ValueError:
            refuse_row(f"an attempt at {assignment.ticket}")

    def _look_after(self) -> None:
        """Recover tickets of dead workers, stop cancelled ones, and requeue idle ones.

        An idle ticket was taken by this worker, which does not run it.
        """
        self._recover_dead()
        busy = dict(self._busy)
        cancelled = self._queue.cancelled(set(busy.values()))
        for stop, key in busy.items():
            if key in cancelled:
                stop.set()
        taken = self._queue.taken_by(self.executor_id)
        idle_before, self._idle = self._idle, taken - set(self._busy.values())
        idle_twice = idle_before & self._idle  # a new ticket is not busy yet
        self._queue.requeue({key for key in idle_twice if self._requeues[key] < MAX_REQUEUES})
        self._requeues.update(idle_twice)

    def _recover_dead(self) -> None:
        """Return tickets of dead workers to the queue.

        DBOS does this for its hosted service; here the function is called by its internal name, which a test checks.
        The public ``resume_workflows`` would take a ticket away from a worker that recovered it a moment ago, and reset
        the number of its starts.
        """
        if dead := self._heartbeat.dead():
            DBOS._recover_pending_workflows(dead)


def _keep(name: str, action: Action) -> dict[str, Any]:
    try:
        return DBOS.run_step({"name": name}, action)
    except SQLAlchemyError as error:  # no failure of the ticket's, which is given back
        raise WorkerStopping from error


def _wait(stop: Event, seconds: float) -> None:
    if stop.wait(seconds):
        raise WorkerStopping


def _refuse_connection(*_: object) -> None:
    raise WorkerStopping


def _disconnect(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    if connection is not None:
        connection.close()
