"""Attempts to answer an assignment, with recorded steps and time limits; failures become replies."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from threading import Event
from time import monotonic, sleep
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer
from aggregate.agents.tracks.assignment import Assignment, TicketOutcome, TicketStatus, WorkerReply
from aggregate.agents.tracks.work_trees import Trees
from aggregate.base.concurrency import doubling_delay, run_in_thread
from aggregate.base.errors import WorkerError
from aggregate.base.json_forms import failure_text
from aggregate.base.messages import shorten

_T = TypeVar("_T")
Action = Callable[[], dict[str, Any]]
Recorded = Callable[[str, Action], dict[str, Any]]
LEASE_SECONDS = 15.0  # longer than a pause of a busy machine, short beside an answer's minutes
STOP_SECONDS = 0.25  # until a waiting attempt notices the end of its process
REASON_CHARACTERS = 10_000  # of a failure in a report
# Before the second attempt; doubled before each further one. A client has retried passing faults by then.
BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 8.0  # a ticket has few retries, and its dependents wait meanwhile
# Behind the task after a refused answer
CORRECT_IT = "Your last answer was rejected: {}. Answer again without this fault."


class WorkerStopping(BaseException):
    """The worker process stops. A BaseException, so that it is not recorded as an outcome."""


@dataclass(slots=True)
class Steps:
    """Records the steps of one attempt until ``stop`` is set."""

    stop: Event = field(default_factory=Event)
    kept: Recorded = lambda _name, action: action()
    trees: Trees | None = None
    seconds: float = 0.0  # of all steps, including those before a kill

    def record(self, name: str, action: Action, seconds: float) -> dict[str, Any]:
        """Run ``action`` and record its result.

        If an earlier run has recorded the step, return this record instead. After ``seconds`` the action is abandoned,
        and the record contains only ``timeout``.
        """

        def measured() -> dict[str, Any]:
            started = monotonic()
            try:
                record = within(seconds, self.stop, name, action)
            except TimeoutError:
                record = {"timeout": True}
            return record | {"seconds": round(monotonic() - started, 3)}

        record = self.kept(name, measured)
        self.seconds += record["seconds"]
        return record


def within(seconds: float, stop: Event, name: str, work: Callable[[], _T]) -> _T:
    """Return the result of ``work``; raise a ``TimeoutError`` after ``seconds``."""
    end = monotonic() + seconds
    future = run_in_thread(name, work)
    while (left := end - monotonic()) > 0:
        if stop.is_set():
            raise WorkerStopping
        with suppress(TimeoutError):
            return future.result(timeout=min(left, STOP_SECONDS))
        if future.done():  # the work raised a TimeoutError itself
            return future.result()
    raise TimeoutError


@runtime_checkable
class Worker(Protocol):
    """Answers assignments; called from several threads at once."""

    def work(self, assignment: Assignment) -> WorkerReply | str:
        """Return the answer to an assignment, or raise an error.

        A ``WorkerError`` with ``again=False`` is not retried.
        """
        ...


@runtime_checkable
class ActingWorker(Protocol):
    """Works on tickets with tools; called from several threads at once."""

    def act(self, assignment: Assignment, steps: Steps) -> WorkerReply:
        """Return the answer to an assignment; record each action with ``steps``."""
        ...


# A worker, or a function in place of its ``work``
AnyWorker: TypeAlias = Worker | Callable[[Assignment], WorkerReply | str]


def attempt_assignment(
    worker: AnyWorker, assignment: Assignment, number: int, steps: Steps | None = None
) -> WorkerReply:
    """Let ``worker`` answer once, within the assignment's timeout."""
    started, steps = monotonic(), steps or Steps()
    numbered = replace(assignment, attempt=number)
    if assignment.tools and isinstance(worker, ActingWorker):
        reply = _ask(lambda: worker.act(numbered, steps), None)
    else:
        work = worker.work if isinstance(worker, Worker) else worker
        try:
            reply = within(
                assignment.timeout,
                steps.stop,
                f"worker-{assignment.ticket}",
                lambda: _ask(lambda: work(numbered), assignment.answer),
            )
        except TimeoutError:
            reason = f"timeout after {assignment.timeout:g} s"
            reply = WorkerReply(reason, status=TicketStatus.TIMED_OUT, again=True)
    return replace(reply, seconds=round(steps.seconds or monotonic() - started, 3))


def _ask(ask: Callable[[], WorkerReply | str], schema: Mapping[str, Any] | None) -> WorkerReply:
    """Call ``ask``; turn any exception into a failed reply."""
    tokens, cost, again = 0, None, True
    try:
        answer = ask()
        reply = WorkerReply(answer) if isinstance(answer, str) else answer
        tokens, cost = int(reply.tokens), reply.cost
        return _writable(_checked(reply, schema))
    except WorkerError as error:
        reason, again, tokens, cost = str(error), error.again, error.tokens, error.cost
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        reason = failure_text(error)
    return _writable(
        WorkerReply(reason, tokens, cost=cost, status=TicketStatus.FAILED, again=again)
    )


def _checked(reply: WorkerReply, schema: Mapping[str, Any] | None) -> WorkerReply:
    """Check an answer against its schema; return a failed reply if it does not match."""
    refused = "" if reply.text.strip() else "the answer is empty"
    if schema is not None and not refused:
        try:
            return replace(reply, text=checked_answer(reply.text, schema))
        except AnswerSchemaError as fault:
            refused = f"the answer does not match its schema: {fault}"
    if not refused:
        return reply
    return replace(
        reply,
        text="; ".join(filter(None, (refused, reply.warning))),
        warning="",
        status=TicketStatus.FAILED,
        again=True,
        refused=refused,
    )


def _writable(reply: WorkerReply) -> WorkerReply:
    """Make a reply's text and numbers storable in a database."""
    text = reply.text if reply.status.has_answer else shorten(reply.text, REASON_CHARACTERS)
    is_price = reply.cost is not None and isfinite(reply.cost) and reply.cost >= 0
    return replace(
        reply,
        text=_without_surrogates(text),
        warning=_without_surrogates(shorten(reply.warning, REASON_CHARACTERS)),
        model=_without_surrogates(reply.model),
        tokens=max(int(reply.tokens), 0),
        cost=reply.cost if is_price else None,
    )


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def complete_assignment(
    worker: AnyWorker,
    assignment: Assignment,
    *,
    attempt: Callable[[AnyWorker, Assignment, int], WorkerReply] = attempt_assignment,
    wait: Callable[[float], None] = sleep,
) -> TicketOutcome:
    """Attempt an assignment until it succeeds or retries run out.

    An answer with a schema mismatch gets one more attempt, regardless of ``retries``. A durable run passes a recorded
    ``attempt``.
    """
    replies: list[WorkerReply] = []
    current = assignment
    while True:
        reply = attempt(worker, current, len(replies) + 1)
        replies.append(reply)
        outcome = TicketOutcome(assignment.ticket, tuple(replies))
        if not reply.again:
            return outcome
        if spent := _spent(assignment, outcome):
            return outcome.failed(f"{reply.text}; not retried: {spent}")
        may_go_on = len(replies) <= assignment.retries
        if reply.refused:
            may_go_on = sum(bool(reply.refused) for reply in replies) == 1
        if not may_go_on:
            return outcome
        current = replace(assignment, used_tokens=outcome.tokens)
        if reply.refused:
            message = f"{assignment.message}\n\n{CORRECT_IT.format(reply.refused)}"
            current = replace(current, message=message)
        else:
            wait(doubling_delay(len(replies), BACKOFF_SECONDS, MAX_BACKOFF_SECONDS))


def _spent(assignment: Assignment, outcome: TicketOutcome) -> str:
    """Return why ``max_cost`` forbids another attempt, else ``""``."""
    if assignment.max_cost is None:
        return ""
    if any(reply.tokens and reply.cost is None for reply in outcome.replies):
        return "its cost is unknown, so max_cost cannot be enforced"
    is_spent = (outcome.cost or 0.0) >= assignment.max_cost
    return f"its max_cost, ${assignment.max_cost:g}, is spent" if is_spent else ""
