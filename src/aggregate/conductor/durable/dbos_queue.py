"""Durable runs on DBOS: assignments are workflows on a queue, attempts are their steps.

What is set here and in ``workplace``, and why:

- The executor's id is unique to the process: a second one of the same id would run again what the first is still at.
- The application's version is fixed: a change of code would hide pending work.
- Values are JSON, and pickles are refused: see ``serialization``.
- A workflow's id is the assignment's key: one ticket is never begun twice.
- An attempt is a step: an answer that was recorded is never asked for again.
- A worker's places are counted once more: on a busy machine the queue gives out more than it should.
- Results come from polling: SQLite has no LISTEN/NOTIFY.
"""

import logging
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, EnqueueOptions, WorkflowStatus

from aggregate.conductor.assignment import Assignment, TicketOutcome
from aggregate.conductor.attempt import WorkerStopping
from aggregate.conductor.durable.database import database_errors, retry_while_away
from aggregate.conductor.durable.serialization import JSON, refuse_pickles, refuse_row
from aggregate.errors import StateError
from aggregate.models.group import RunStatus

APPLICATION = "aggregate-conductor"
VERSION = "aggregate-conductor-2"
"""Of what stands in workflows' inputs and steps; to be raised when one side could no longer read the other's."""
QUEUE = "tickets"
WORKFLOW = "ticket"
POLL_SECONDS = 0.02
PLACES = 8
"""Tickets that a worker works on at one time where nobody said otherwise."""
MAX_STARTS = 20
"""Starts of one ticket in processes that were killed; one that kills its workers is given up after these."""
_BEGUN = "begun"
"""The attribute of a workflow whose answer has begun to come."""
_ENDED = ["SUCCESS", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


def prepare_database(engine: sa.Engine) -> None:
    """Create or bring up to date the tables of DBOS, and the queue; to be done before anything else is.

    Raises:
        StateError: The database cannot be reached.
    """
    _keep_quiet()
    with database_errors(str(engine.url)):
        DBOS.migrate(engine.url.render_as_string(hide_password=False))
    DbosQueue(engine).set_places(None)


class DbosQueue:
    """A desk in a database; many processes may use it at one time."""

    def __init__(self, engine: sa.Engine) -> None:
        refuse_pickles()
        self._engine = engine
        self._client = DBOSClient(
            system_database_engine=engine,
            application_name=APPLICATION,
            use_listen_notify=False,
            serializer=JSON,
            lazy=True,
            retry_connection_errors=False,
        )

    def set_places(self, places: int | None) -> None:
        """Say how many tickets every worker on this database works on at one time; ``None`` leaves it as it was."""
        with database_errors(str(self._engine.url)):
            self._client.register_queue(
                QUEUE,
                worker_concurrency=places or PLACES,
                polling_interval_sec=POLL_SECONDS,
                on_conflict="always_update" if places else "never_update",
            )

    def places(self) -> int:
        """Return how many tickets a worker on this database works on at one time."""
        queue = retry_while_away(self._engine, lambda: self._client.retrieve_queue(QUEUE))
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
        retry_while_away(self._engine, lambda: self._client.enqueue(options, assignment.to_json()))

    def begun(self, key: str) -> None:
        """Note that the answer to an assignment has begun to come; without a database nobody needs to know."""
        with suppress(StateError, WorkerStopping):
            retry_while_away(
                self._engine, lambda: self._client.update_workflow_attributes(key, {_BEGUN: True}), patience=0
            )

    def ended(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        """Return the outcomes that there are, by key."""
        return {one.workflow_id: _outcome(one) for one in self._find(keys, status=_ENDED)}

    def keys(self, run_id: str) -> set[str]:
        """Return the keys of all tickets of a run that were put here, whatever they hold."""
        found = self._list(workflow_id_prefix=f"{run_id}/", load_input=False, load_output=False)
        return {one.workflow_id for one in found}

    def waiting(self, keys: Collection[str]) -> set[str]:
        """Return which of ``keys`` were put here and have not ended."""
        over = {workflow.workflow_id for workflow in self._find(keys, status=_ENDED, load_output=False)}
        return self.known(keys).keys() - over

    def withdraw(self, keys: Collection[str]) -> None:
        """Cancel what has not ended; what a worker still gives for it is dropped."""
        waiting = sorted(self.waiting(keys))
        if waiting:
            retry_while_away(self._engine, lambda: self._client.cancel_workflows(waiting))

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
            retry_while_away(self._engine, lambda: self._client.delete_workflows(known))

    def _find(
        self, keys: Collection[str], *, status: list[str] | None = None, load_output: bool = True
    ) -> list[WorkflowStatus]:
        if not keys:
            return []
        return self._list(workflow_ids=list(keys), status=status, load_input=False, load_output=load_output)

    def _list(self, **wanted: Any) -> list[WorkflowStatus]:  # noqa: ANN401 - what list_workflows takes
        try:
            return retry_while_away(self._engine, lambda: self._client.list_workflows(**wanted))
        except (ValueError, RecursionError):  # JSON that DBOS reads by itself, such as a workflow's attributes
            refuse_row("a ticket's row")


def _outcome(workflow: WorkflowStatus) -> TicketOutcome:
    ticket = workflow.workflow_id.rpartition("/")[2]
    if workflow.status == "SUCCESS":
        try:
            outcome = TicketOutcome.from_json(str(workflow.output))
        except ValueError:
            refuse_row(f"the outcome of {ticket}")
        if outcome.ticket != ticket:
            refuse_row(f"the outcome of {ticket}")
        return outcome
    if workflow.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        reason = f"given up: {MAX_STARTS} workers were killed while they had it"
    else:
        # Where DBOS may not read an error it hands over the text of the row.
        readable = isinstance(workflow.error, Exception)
        reason = f"its worker failed: {workflow.error if readable else 'the reason is not JSON'}"
    return TicketOutcome(ticket, RunStatus.ERROR, errors=(reason,))


def _keep_quiet() -> None:
    """Take DBOS's own log off standard error: what a user should know is raised, and the rest is retried."""
    log = logging.getLogger("dbos")
    for handler in list(log.handlers):
        log.removeHandler(handler)
    log.addHandler(logging.NullHandler())
