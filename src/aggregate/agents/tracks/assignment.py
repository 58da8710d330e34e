"""Assignments, replies and outcomes of tickets, stored in a database."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field, TypeAdapter

from aggregate.base.tokens import count
from aggregate.prompt.asking.results import ProducedText
from aggregate.prompt.document import END, SEPARATOR, Prompt, Section, Segment
from aggregate.sending.models import ToolCall

# Checked when read: a negative amount in a database would raise a run's limit.
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_ROUND = "~"  # between a ticket and its round; no ticket's id has it
_count_shared = lru_cache(maxsize=20_000)(count)


def tokens_of(*segments: Segment) -> int:
    """Count the tokens of segments with their separators; those of files are cached."""
    tokens = 0
    for segment in segments:
        # Results belong to one ticket: remembering them would waste memory.
        is_shared = segment.section is Section.FILES
        text = f"{segment.text}{SEPARATOR}"
        tokens += _count_shared(text) if is_shared else count(text)
    return tokens


@dataclass(frozen=True, slots=True)
class Assignment:
    """The work on one ticket: all that a worker needs."""

    key: str  # unique among all runs; with the attempt's number it identifies a call
    ticket: str
    prompt: Prompt  # the context, with its segments, for clients that cache prefixes
    message: str = ""  # the task, behind the context
    persona: str = ""  # instructions before everything
    tools: tuple[str, ...] = ()
    timeout: float = 600  # seconds of one attempt
    retries: int = 0
    attempt: int = 1
    urgent: bool = False  # it goes before others: some wait for it, or it has waited for some
    answer: Mapping[str, Any] | None = None  # the JSON Schema of the answer
    max_cost: float | None = None  # US dollars of all attempts together
    # The persona's model, empty for the worker's own. Workers ask only addresses that they know.
    provider: str = ""
    model: str = ""
    base_url: str = ""
    max_tokens: int | None = None  # of all attempts; else what the worker allows
    used_tokens: int = 0  # by earlier attempts in the process that works on it
    max_turns: int | None = None
    title: str = ""  # of the ticket, for its commit
    base: str = ""  # of its work tree; without a commit it reads the worker's folder
    folder: str = ""  # of the project in that tree
    verify: str = ""  # a command to succeed in the tree
    attempts: int = 3  # how often it may fail
    # The whole texts of cut results by name, for ``read_result`` (rule F-12)
    whole_results: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return SEPARATOR.join(part for part in (self.prompt.markdown, self.message) if part)

    @property
    def tokens(self) -> int:
        """The o200k tokens of ``text``."""
        if not self.message:
            return count(self.text)
        return count(self.message) + tokens_of(*self.prompt.segments)

    def pieces(self) -> Iterator[bytes]:
        """Yield ``text`` as UTF-8 in pieces."""
        yield from self.prompt.pieces(SEPARATOR if self.message else "")
        yield f"{self.message}{END}".encode()

    def to_json(self) -> str:
        """Return all fields but the prompt, whose segments are stored once per run."""
        data = asdict(replace(self, prompt=Prompt(())))
        # Workers of an earlier version may not know a new field.
        del data["prompt"], data["used_tokens"]
        filled = {name: value for name, value in data.items() if value not in (None, "", {})}
        return json.dumps(filled)  # ASCII: a database holds no half of a surrogate pair

    @classmethod
    def from_json(cls, text: str, prompt: Prompt) -> "Assignment":
        data: dict[str, Any] = json.loads(text)
        return cls(**{**data, "prompt": prompt, "tools": tuple(data["tools"])})


class TicketStatus(StrEnum):
    """A ticket's status in plans, attempts, records and reports."""

    NOT_RUN = "not run"  # not begun, or never to begin
    STARTED = "started"
    WAITING = "waits"  # for a person
    SPREAD = "spread"  # over its children
    CONFLICT = "conflict"  # its changes conflict with others': it runs again
    RETRIED = "retried"  # by a person: it runs again
    DONE = "done"
    UNCHANGED = "unchanged"  # answered, but it should have edited files and changed none
    FAILED = "failed"
    TIMED_OUT = "timed out"
    REJECTED = "rejected"  # by a person
    LEFT_OUT = "left out"  # its condition was not met

    @property
    def has_answer(self) -> bool:
        return self in (TicketStatus.DONE, TicketStatus.UNCHANGED)

    @property
    def has_failed(self) -> bool:
        return self in (TicketStatus.FAILED, TicketStatus.TIMED_OUT, TicketStatus.REJECTED)

    @property
    def is_final(self) -> bool:
        return self is TicketStatus.LEFT_OUT or self.has_answer or self.has_failed


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """The reply of one attempt or turn: the worker's fields, then the attempt's, then the turn's."""

    text: str  # the answer, or why there is none
    tokens: Annotated[int, Field(ge=0)] = 0  # input and output together; 0 if unknown
    warning: str = ""  # why it is doubtful
    cost: Amount | None = None  # in US dollars, if the price is known
    commit: str = ""  # of its changes, on the commit of its work tree
    verified: bool = False  # whether the ticket's check has passed there
    output_tokens: int = 0  # of ``tokens``
    model: str = ""  # that answered
    provider: str = ""  # of the client that asked it
    status: TicketStatus = TicketStatus.DONE
    again: bool = False  # whether another attempt may help
    refused: str = ""  # why an answer was refused, for the next attempt
    seconds: Amount = 0.0
    calls: tuple[ToolCall, ...] = ()  # of tools; ``text`` stands before them
    native: Any = None  # the turn in the provider's own form
    refuses_tools: bool = False  # whether the server or the model takes no tools

    @classmethod
    def from_recorded(cls, record: object) -> "WorkerReply":
        return _REPLY.validate_python(record)


_REPLY = TypeAdapter(WorkerReply)


@dataclass(frozen=True, slots=True)
class TicketOutcome:
    """The replies to a ticket's attempts; the last one counts."""

    ticket: str
    replies: Annotated[tuple[WorkerReply, ...], Field(min_length=1)]
    # For each item of a ``for_each``; made from the children, so not in a database
    answers: tuple[ProducedText, ...] = ()

    @classmethod
    def without_worker(cls, ticket: str, status: TicketStatus, text: str = "") -> "TicketOutcome":
        return cls(ticket, (WorkerReply(text, status=status),))

    @property
    def last(self) -> WorkerReply:
        return self.replies[-1]

    @property
    def status(self) -> TicketStatus:
        return self.last.status

    @property
    def text(self) -> str:
        """The answer, ``""`` without one."""
        return self.last.text if self.status.has_answer else ""

    @property
    def errors(self) -> tuple[str, ...]:
        """The errors of all failed attempts, in order."""
        return tuple(reply.text for reply in self.replies if not reply.status.has_answer)

    @property
    def failure(self) -> str | None:
        """The error of the last attempt, ``None`` if it succeeded."""
        return None if self.status.has_answer else self.last.text or "no reason given"

    @property
    def tokens(self) -> int:
        return sum(reply.tokens for reply in self.replies)

    @property
    def cost(self) -> float | None:
        """The cost of all attempts in US dollars, None if no price is known."""
        costs = [reply.cost for reply in self.replies if reply.cost is not None]
        return round(sum(costs), 9) if costs else None

    @property
    def seconds(self) -> float:
        """The seconds of all attempts, without the waits between them."""
        return round(sum(reply.seconds for reply in self.replies), 3)

    def failed(self, reason: str) -> "TicketOutcome":
        """Return this outcome as a failure for ``reason``."""
        status = self.status if self.status.has_failed else TicketStatus.FAILED
        last = replace(self.last, text=reason, status=status)
        return replace(self, replies=(*self.replies[:-1], last), answers=())

    def to_json(self) -> str:
        fields = asdict(self)
        del fields["answers"]
        return json.dumps(fields)  # ASCII: a database refuses half a surrogate pair

    @classmethod
    def from_json(cls, text: str) -> "TicketOutcome":
        return _OUTCOME.validate_json(text, strict=True)


_OUTCOME = TypeAdapter(TicketOutcome)


def ticket_of(key: str) -> str:
    return key.rpartition("/")[2].partition(_ROUND)[0]


def run_of(key: str) -> str:
    return key.rpartition("/")[0]


class Ending(NamedTuple):
    """How a ticket ended without a worker.

    Examples are an approval, a false condition, a list of children, and a conflict.
    """

    status: TicketStatus
    text: str = ""  # a note, a reason, the JSON list of a spread, or the paths of a conflict

    def outcome(self, ticket_id: str) -> TicketOutcome:
        text = self.text
        if self.status is TicketStatus.DONE:
            text = text or "approved"
        elif self.status is TicketStatus.REJECTED:
            text = f"rejected: {text}" if text else "rejected"
        return TicketOutcome.without_worker(ticket_id, self.status, text)


def key_of(run_id: str, ticket_id: str, number: int) -> str:
    """Return the key of a ticket's round; running a ticket again begins a new one."""
    suffix = f"{_ROUND}{number}" if number > 1 else ""
    return f"{run_id}/{ticket_id}{suffix}"


class RecordedStep(NamedTuple):
    name: str
    record: object
    ended: float  # seconds since 1970


class TaskQueue(Protocol):
    """A durable queue of assignments, each with one final outcome."""

    def known(self, keys: Collection[str]) -> set[str]: ...  # the enqueued ones

    def put(self, assignment: Assignment) -> None: ...  # one with a known key changes nothing

    def outcomes(self, keys: Collection[str]) -> dict[str, TicketOutcome]: ...

    def cancel(self, keys: Collection[str]) -> None: ...  # later answers are dropped

    def steps(self, key: str) -> list[RecordedStep]: ...  # of an assignment, in order


class RunRecord(Protocol):
    """The durable record of a run beside its queue: endings by assignment key."""

    @property
    def run_id(self) -> str: ...

    def endings(self) -> Mapping[str, Ending]: ...

    def record(self, key: str, ending: Ending) -> Ending:
        """Record an ending, unless there is one; return the recorded one."""
        ...

    def is_cancelled(self) -> bool: ...
