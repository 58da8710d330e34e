"""Durable runs on DBOS: assignments are workflows on a queue, attempts are their steps.

What is set here, and why:

- The executor's id is unique to the process: a second one of the same id would run again what the first is still at.
- The application's version is fixed: a change of code would hide pending work.
- A workflow's id is the assignment's key: one ticket is never begun twice.
- An attempt is a step: an answer that was recorded is never asked for again.
- A worker's places are counted here once more: on a busy machine the queue gives out more than it should.
- Results come from polling: SQLite has no LISTEN/NOTIFY.
"""

import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from threading import BoundedSemaphore, Event, Lock
from time import monotonic, sleep
from typing import Any, Self

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions, WorkflowStatus
from sqlalchemy.exc import SQLAlchemyError

from aggregate.conductor.assignment import Assignment, Outcome
from aggregate.conductor.attempt import STOP_SECONDS, Attempt, Stopping, attempt
from aggregate.conductor.database import explained, open_engine, patiently
from aggregate.conductor.leases import LEASE_SECONDS, Leases, this_process
from aggregate.conductor.lifecycle import work
from aggregate.conductor.worker import Worker
from aggregate.errors import StateError
from aggregate.models.group import RunStatus

APPLICATION = "aggregate-conductor"
VERSION = "aggregate-conductor-1"
"""Of what stands in workflows' inputs and steps; to be raised when these change, and for nothing else."""
QUEUE = "tickets"
WORKFLOW = "ticket"
POLL_SECONDS = 0.02
PLACES = 8
"""Tickets that a worker works on at one time where nobody said otherwise."""
LISTEN_SECONDS = 0.05
"""How long a closing process waits for a listener that runs do not need, at the most."""
MAX_STARTS = 20
"""Starts of one ticket in processes that were killed; one that kills its workers is given up after these."""
CLOSE_SECONDS = 2.0
"""What a process that ends gives its attempts to notice; another worker takes them up."""
_ONLY = Lock()
"""Held by the one workplace that is open in this process."""
_BEGUN = "begun"
"""The attribute of a workflow whose answer has begun to come."""
_ENDED = ["SUCCESS", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


def prepare(engine: sa.Engine) -> None:
    """Create or bring up to date the tables of DBOS, and the queue; to be done before anything else is.

    Raises:
        StateError: The database cannot be reached.
    """
    _keep_quiet()
    with explained(str(engine.url)):
        DBOS.migrate(engine.url.render_as_string(hide_password=False))
    DurableDesk(engine).set_places(None)


class DurableDesk:
    """A desk in a database; many processes may use it at one time."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._client = DBOSClient(
            system_database_engine=engine,
            application_name=APPLICATION,
            use_listen_notify=False,
            lazy=True,
            retry_connection_errors=False,
        )

    def set_places(self, places: int | None) -> None:
        """Say how many tickets every worker on this database works on at one time; ``None`` leaves it as it was."""
        with explained(str(self._engine.url)):
            self._client.register_queue(
                QUEUE,
                worker_concurrency=places or PLACES,
                polling_interval_sec=POLL_SECONDS,
                on_conflict="always_update" if places else "never_update",
            )

    def places(self) -> int:
        """Return how many tickets a worker on this database works on at one time."""
        queue = patiently(self._engine, lambda: self._client.retrieve_queue(QUEUE))
        return (queue.worker_concurrency if queue else None) or PLACES

    def known(self, keys: Collection[str]) -> dict[str, bool]:
        """Return which of ``keys`` were put here before, and whether the answer to each has begun to come."""
        found = self._find(keys, load_output=False)
        return {one.workflow_id: _BEGUN in (one.attributes or {}) for one in found}

    def put(self, assignment: Assignment) -> None:
        """Enqueue an assignment; one with a known key changes nothing."""
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": assignment.key,
            "app_version": VERSION,
        }
        patiently(self._engine, lambda: self._client.enqueue(options, assignment.to_json()))

    def begun(self, key: str) -> None:
        """Note that the answer to an assignment has begun to come; without a database nobody needs to know."""
        with suppress(StateError, Stopping):
            patiently(self._engine, lambda: self._client.update_workflow_attributes(key, {_BEGUN: True}), patience=0)

    def ended(self, keys: Collection[str]) -> dict[str, Outcome]:
        """Return the outcomes that there are, by key."""
        return {one.workflow_id: _outcome(one) for one in self._find(keys, status=_ENDED)}

    def withdraw(self, keys: Collection[str]) -> None:
        """Cancel what has not ended; what a worker still gives for it is dropped."""
        waiting = sorted(self.known(keys).keys() - self.ended(keys).keys())
        if waiting:
            patiently(self._engine, lambda: self._client.cancel_workflows(waiting))

    def held(self, executor_id: str) -> set[str]:
        """Return the keys of what a worker took and has not ended."""
        found = self._client.list_workflows(
            executor_id=executor_id, status="PENDING", queue_name=QUEUE, load_input=False, load_output=False
        )
        return {one.workflow_id for one in found}

    def lay_again(self, keys: Collection[str]) -> None:
        """Lay what has not ended down for any worker once more."""
        if keys:
            self._client.resume_workflows(sorted(keys), queue_name=QUEUE)

    def forget(self, keys: Collection[str]) -> None:
        """Delete what the database has of ``keys``."""
        known = sorted(self.known(keys))
        if known:
            patiently(self._engine, lambda: self._client.delete_workflows(known))

    def _find(
        self, keys: Collection[str], *, status: list[str] | None = None, load_output: bool = True
    ) -> list[WorkflowStatus]:
        if not keys:
            return []
        return patiently(
            self._engine,
            lambda: self._client.list_workflows(
                workflow_ids=list(keys), status=status, load_input=False, load_output=load_output
            ),
        )


def _outcome(workflow: WorkflowStatus) -> Outcome:
    if workflow.status == "SUCCESS":
        return Outcome.from_json(str(workflow.output))
    ticket = workflow.workflow_id.rpartition("/")[2]
    if workflow.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        reason = f"given up: {MAX_STARTS} workers were killed while they had it"
    else:
        reason = f"its worker failed: {workflow.error}"
    return Outcome(ticket, RunStatus.ERROR, errors=(reason,))


class Workplace:
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
        self._leases = Leases(self._engine, this_process(), lease=lease, adopt=_adopt, beat=self._give_back)
        self._desk = DurableDesk(self._engine)
        self._places = BoundedSemaphore(self._desk.places())
        self._stop = Event()
        self._busy: set[str] = set()
        self._idle: set[str] = set()

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
            "enable_otlp": False,
            "log_level": "CRITICAL",
            "notification_listener_polling_interval_sec": LISTEN_SECONDS,
        }
        with explained(str(self._engine.url)):
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
                return work(self._worker, given, once=self._record, wait=self._wait).to_json()
            except SQLAlchemyError as error:
                raise Stopping from error  # nothing could be recorded: no outcome of the ticket's, which is given back
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
                {"name": "attempt"}, lambda: asdict(attempt(worker, assignment, number, begun=begun, stop=self._stop))
            )
        finally:
            self._places.release()
        return Attempt(**{**made, "status": RunStatus(made["status"])})

    def _give_back(self) -> None:
        """Lay down again what this process took and does not work on; DBOS would leave it for ever."""
        held = self._desk.held(self.executor_id)
        idle, self._idle = self._idle, held - self._busy
        self._desk.lay_again(idle & self._idle)  # seen twice: what was taken a moment ago is not busy yet

    def _wait(self, seconds: float) -> None:
        self._stop.wait(seconds)
        self._go_on()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise Stopping


def _keep_quiet() -> None:
    """Take DBOS's own log off standard error: what a user should know is raised, and the rest is retried."""
    log = logging.getLogger("dbos")
    for handler in list(log.handlers):
        log.removeHandler(handler)
    log.addHandler(logging.NullHandler())


def _refuse(*_: object) -> None:
    raise Stopping


def _disconnect(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    if connection is not None:
        connection.close()


def _adopt(executor_id: str) -> None:
    """Give a dead worker's tickets back to the queue; what is another's by now stays there.

    DBOS has this in its own service only; here it is called by its internal name, which a test holds on to.
    """
    DBOS._recover_pending_workflows([executor_id])
