"""The queue of tickets on DBOS.

Assignments are workflows, and attempts are steps. The settings here and in ``worker_process``:

- The executor's id is unique to the process: a second one of the same id would repeat unfinished work of the first.
- The application's version is fixed: a change of code would hide pending work.
- Values are JSON, and pickles are refused: see ``refuse_pickles``.
- A workflow's id is the assignment's key: one ticket is never begun twice.
- An attempt is a step: a recorded answer is never requested again.
- A worker counts its attempts itself: between two polls DBOS ignores workflows whose threads have not begun, so on a
  busy machine the queue hands out too many.
- Results come from polling: SQLite has no LISTEN/NOTIFY.
"""

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, EnqueueOptions, WorkflowStatus
from dbos._serialization import DefaultSerializer

from aggregate.agents.tracks.assignment import (
    Assignment,
    RecordedStep,
    TicketOutcome,
    TicketStatus,
    run_of,
    ticket_of,
)
from aggregate.agents.tracks.durable.run_database import (
    JSON,
    QUEUE,
    SEGMENTS,
    Engine,
    batches,
    begins_with,
    database_errors,
    execute,
    insert_into,
    refuse_row,
    retry_while_away,
    workflow_table,
)
from aggregate.agents.tracks.durable.run_records import open_engine
from aggregate.prompt.document import Prompt, Section, Segment, Stability

APPLICATION = "aggregate-conductor"
# Of workflows' inputs and steps, raised if one side cannot read the other's
VERSION = "aggregate-conductor-6"
WORKFLOW = "ticket"
POLL_SECONDS = 0.02  # between two looks for work: short beside a model's answer
# On a server: with 0.02 s four workers on two cores took three times as long.
SHARED_POLL_SECONDS = 0.1
CONCURRENCY = 8  # tickets of one worker at a time, by default; a kill repeats at most these calls
MAX_STARTS = 20  # of a ticket whose workers are killed: more than restarts of a machine cause
_NOT_URGENT = 1  # DBOS starts with workflows without a number, then the least one
_DIGEST_BYTES = 16
_ROWS_AT_ONCE = 500  # SQLite takes 32,766 values, and 500 files are mostly some megabytes
_REMEMBERED = 20_000  # segments of files, and digests: the next ticket has nearly the same ones
_KEYS_AT_ONCE = 1_000  # of one statement: SQLite takes 32,766 values, Postgres 65,535
_ENDED = ["SUCCESS", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


@contextmanager
def open_database(url: str) -> Iterator[Engine]:
    engine = open_engine(url)
    try:
        prepare_database(engine)
        yield engine
    finally:
        engine.dispose()


def prepare_database(engine: Engine) -> None:
    """Create or update the DBOS tables, and register the queue."""
    # Errors are raised or retried, so DBOS's log stays off standard error; without a handler DBOS would add one.
    logging.getLogger("dbos").handlers = [logging.NullHandler()]
    with database_errors(str(engine.url)):
        DBOS.migrate(engine.url.render_as_string(hide_password=False))
    DbosQueue(engine).set_concurrency(None)


def refuse_pickles() -> None:
    """Make DBOS refuse pickled values in this process.

    DBOS has no setting for it: the format of a row overrides the configured serializer.
    """

    def refuse(_self: DefaultSerializer, _text: str) -> Any:  # noqa: ANN401 - replaces a method of this type
        refuse_row("a value")

    DefaultSerializer.deserialize = refuse  # type: ignore[method-assign, assignment]


class SegmentTable:
    """The segments of all prompts; equal segments are stored once per run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._written: set[tuple[str, str]] = set()
        self._read: dict[str, Segment] = {}

    def write(self, run_id: str, segments: Sequence[Segment]) -> list[str]:
        digests = [
            _remembered_digest(one) if one.section is Section.FILES else _digest_of(one)
            for one in segments
        ]
        by_digest = dict(zip(digests, segments, strict=True))
        new = [digest for digest in by_digest if (run_id, digest) not in self._written]
        # Another process may have written them.
        insert = insert_into(self._engine, SEGMENTS).on_conflict_do_nothing()
        for batch in batches(new, _ROWS_AT_ONCE):
            rows = [
                {"run_id": run_id, "digest": digest, "segment": _to_json(by_digest[digest])}
                for digest in batch
            ]
            execute(self._engine, insert, rows)
            self._written.update((run_id, digest) for digest in batch)
        return digests

    def read(self, run_id: str, digests: Sequence[str]) -> tuple[Segment, ...]:
        segments = {digest: self._read[digest] for digest in digests if digest in self._read}
        unread = [digest for digest in set(digests) if digest not in segments]
        columns = SEGMENTS.c
        for batch in batches(unread, _ROWS_AT_ONCE):
            query = sa.select(columns.digest, columns.segment)
            query = query.where(columns.run_id == run_id, columns.digest.in_(batch))
            # Workers handle an absent database: they wait for it.
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
            for digest, text in rows:
                if _digest(text) != digest:  # a foreign row
                    refuse_row(f"the segment {digest} of {run_id}")
                section, markdown, stability, source = json.loads(text)
                segment = Segment(Section(section), markdown, Stability(stability), source)
                segments[digest] = segment
        if len(self._read) + len(segments) > _REMEMBERED:
            self._read = {}
        # Results belong to one ticket: remembering them would waste memory.
        self._read |= {key: one for key, one in segments.items() if one.section is Section.FILES}
        for digest in digests:
            if digest not in segments:
                refuse_row(f"the segment {digest} of {run_id}", "is missing")
        return tuple(segments[digest] for digest in digests)


def _digest_of(segment: Segment) -> str:
    return _digest(_to_json(segment))


_remembered_digest = lru_cache(maxsize=_REMEMBERED)(_digest_of)


def _to_json(segment: Segment) -> str:
    # ASCII: a database refuses half a surrogate pair.
    return json.dumps([segment.section, segment.text, segment.stability, segment.source])


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


class DbosQueue:
    """The queue of assignments, for any number of processes."""

    def __init__(self, engine: Engine) -> None:
        refuse_pickles()
        self._engine = engine
        self._segments = SegmentTable(engine)
        self._workflows = workflow_table(engine, "status").c
        self._client = DBOSClient(
            system_database_engine=engine,
            application_name=APPLICATION,
            use_listen_notify=False,
            serializer=JSON,
            lazy=True,
            # DBOS would wait without end: ``retry_while_away`` waits instead.
            retry_connection_errors=False,
        )

    def set_concurrency(self, tickets: int | None) -> None:
        """Set how many tickets each worker answers at once; ``None`` changes nothing."""
        is_shared = self._engine.dialect.name == "postgresql"
        with database_errors(str(self._engine.url)):
            self._client.register_queue(
                QUEUE,
                worker_concurrency=tickets or CONCURRENCY,
                polling_interval_sec=SHARED_POLL_SECONDS if is_shared else POLL_SECONDS,
                on_conflict="always_update" if tickets else "never_update",
            )

    def concurrency(self) -> int:
        queue = retry_while_away(self._engine, lambda: self._client.retrieve_queue(QUEUE))
        return (queue.worker_concurrency if queue else None) or CONCURRENCY

    def known(self, keys: Collection[str]) -> set[str]:
        return self._where(keys, sa.true())

    def put(self, assignment: Assignment) -> None:
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": assignment.key,
            "app_version": VERSION,
        }
        if not assignment.urgent:
            options["priority"] = _NOT_URGENT
        digests = self._segments.write(run_of(assignment.key), assignment.prompt.segments)
        text = assignment.to_json()
        retry_while_away(self._engine, lambda: self._client.enqueue(options, text, digests))

    def assignment(self, text: str, digests: Sequence[str]) -> Assignment:
        bare = Assignment.from_json(text, Prompt(()))
        return replace(bare, prompt=Prompt(self._segments.read(run_of(bare.key), digests)))

    def outcomes(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        # Most tickets are under way, and reading a row costs more than finding it.
        ended = self._where(keys, self._workflows.status.in_(_ENDED))
        outcomes: dict[str, TicketOutcome] = {}
        for batch in batches(ended, _KEYS_AT_ONCE):
            find = partial(self._client.list_workflows, workflow_ids=batch, load_input=False)
            for workflow in retry_while_away(self._engine, find):
                outcomes[workflow.workflow_id] = _outcome(workflow)
        return outcomes

    def keys(self, run_id: str) -> set[str]:
        return self._keys_where(begins_with(self._workflows.workflow_uuid, f"{run_id}/"))

    def unfinished(self, keys: Collection[str]) -> set[str]:
        return self._where(keys, self._workflows.status.not_in(_ENDED))

    def cancelled(self, keys: Collection[str]) -> set[str]:
        return self._where(keys, self._workflows.status == "CANCELLED")

    def cancel(self, keys: Collection[str]) -> None:
        if unfinished := sorted(self.unfinished(keys)):
            retry_while_away(self._engine, lambda: self._client.cancel_workflows(unfinished))

    def steps(self, key: str) -> list[RecordedStep]:
        """Return the recorded steps of an assignment, in order."""
        steps = retry_while_away(self._engine, lambda: self._client.list_workflow_steps(key))
        return [
            RecordedStep(
                step["function_name"], step["output"], (step["completed_at_epoch_ms"] or 0) / 1000
            )
            for step in steps
        ]

    def taken_by(self, executor_id: str) -> set[str]:
        workflows = self._client.list_workflows(
            executor_id=executor_id,
            status="PENDING",
            queue_name=QUEUE,
            load_input=False,
            load_output=False,
        )
        return {workflow.workflow_id for workflow in workflows}

    def requeue(self, keys: Collection[str]) -> None:
        if keys:
            self._client.resume_workflows(sorted(keys), queue_name=QUEUE)

    def forget(self, keys: Collection[str]) -> None:
        for batch in batches(sorted(keys), _KEYS_AT_ONCE):
            retry_while_away(self._engine, partial(self._client.delete_workflows, batch))

    def _where(self, keys: Collection[str], condition: sa.ColumnElement[bool]) -> set[str]:
        met: set[str] = set()
        for batch in batches(keys, _KEYS_AT_ONCE):
            met |= self._keys_where(self._workflows.workflow_uuid.in_(batch) & condition)
        return met

    def _keys_where(self, condition: sa.ColumnElement[bool]) -> set[str]:
        """Return workflow keys without reading the rows, which may be damaged."""
        query = sa.select(self._workflows.workflow_uuid).where(condition)
        return {str(row[0]) for row in execute(self._engine, query)}


def _outcome(workflow: WorkflowStatus) -> TicketOutcome:
    ticket = ticket_of(workflow.workflow_id)
    if workflow.status == "SUCCESS":
        with suppress(ValueError):
            outcome = TicketOutcome.from_json(str(workflow.output))
            if outcome.ticket == ticket:
                return outcome
        refuse_row(f"the outcome of {ticket}")
    if workflow.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        reason = f"given up: {MAX_STARTS} workers were killed while they worked on it"
    elif isinstance(workflow.error, Exception):
        reason = f"its worker failed: {workflow.error}"
    else:
        # DBOS returns the text of an unreadable row.
        reason = "its worker failed: the reason is not JSON"
    return TicketOutcome.without_worker(ticket, TicketStatus.FAILED, reason)
