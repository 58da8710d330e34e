"""What goes to a worker and what comes back, as values that fit into a database."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field, TypeAdapter

from aggregate.base.values import SEPARATOR, Prompt, RunStatus, Section, Segment, Stability

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""As it is read again: less than nothing in a database would leave a run more than its limit."""
_ROUND = "~"
"""What stands between a ticket and its round; no ticket's id has it."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One ticket on its way to a worker; it needs nothing of the project's files.

    Attributes:
        key: Unique among all runs, ``<run>/<ticket>``; with the attempt's number it tells a repeated call from a new
            one.
        prompt: The context, with its segments, for clients that cache prefixes.
        message: The task, behind the context.
        persona: Instructions that go before everything, or ``""``.
        tools: Names of the tools that the worker may use.
        timeout: Seconds that one attempt may take.
        retries: Further attempts after a failed one.
        attempt: The number of this attempt, from 1.
        ahead: Others wait until the answer to this one begins to come; it warms a cache up for them.
        urgent: It goes before those that wait in the queue: others wait for it, or it has waited for others.
        answer: The JSON Schema that the answer must meet, ``None`` for any text.
        max_cost: US dollars that all attempts together may cost, ``None`` for no limit.
        provider: Whom to ask, ``""`` for the worker's own; a persona names one.
        model: Which of the provider's models, ``""`` for the worker's own, or for the usual one of ``provider``.
        base_url: Where the provider is reached, ``""`` for its own address; workers ask only addresses that they know.
        max_tokens: The most tokens of all requests and answers of one attempt, ``None`` for what the worker allows.
        max_steps: The most steps of an assignment with tools, ``None`` for what the worker allows.
        task: The ticket's own words, which goals are made of; ``""`` for those of ``message``.
    """

    key: str
    ticket: str
    prompt: Prompt
    message: str = ""
    persona: str = ""
    tools: tuple[str, ...] = ()
    timeout: float = 600
    retries: int = 0
    attempt: int = 1
    ahead: bool = False
    urgent: bool = False
    answer: Mapping[str, Any] | None = None
    max_cost: float | None = None
    provider: str = ""
    model: str = ""
    base_url: str = ""
    max_tokens: int | None = None
    max_steps: int | None = None
    task: str = ""

    @property
    def text(self) -> str:
        """Everything that the worker is shown, as one text."""
        return SEPARATOR.join(part for part in (self.prompt.markdown, self.message) if part)

    def pieces(self) -> Iterator[bytes]:
        """Yield ``text`` piece by piece, for the reason that ``Prompt.pieces`` has."""
        yield from self.prompt.pieces()
        if self.prompt.segments and self.message:
            yield SEPARATOR.encode()
        yield self.message.encode()

    def to_json(self) -> str:
        """Return the assignment as JSON."""
        data = asdict(replace(self, prompt=Prompt(())))
        segments = [
            {name: getattr(segment, name) for name in ("section", "text", "stability", "source")}
            for segment in self.prompt.segments
        ]
        data["prompt"] = {"segments": segments}
        # A worker of an earlier version need not know a field that says nothing.
        said = {name: value for name, value in data.items() if value not in (None, "")}
        return json.dumps(said)  # ASCII: a database holds no half of a surrogate pair

    @classmethod
    def from_json(cls, text: str) -> "Assignment":
        """Return the assignment that ``to_json`` wrote."""
        data: dict[str, Any] = json.loads(text)
        data["prompt"] = Prompt(
            tuple(
                Segment(
                    Section(segment["section"]),
                    segment["text"],
                    Stability(segment["stability"]),
                    segment["source"],
                )
                for segment in data["prompt"]["segments"]
            )
        )
        data["tools"] = tuple(data["tools"])
        return cls(**data)


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """What a worker answers.

    Attributes:
        tokens: What it has cost, input and output together; 0 where the worker does not know.
        warning: What is doubtful about it, or ``""``.
        cost: What it has cost in US dollars, ``None`` where the price is not known.
    """

    text: str
    tokens: int = 0
    warning: str = ""
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class TicketOutcome:
    """How a ticket ended.

    Attributes:
        status: ``success``, ``error`` or ``timeout``.
        text: The answer, ``""`` unless it succeeded.
        tokens: What all attempts have taken, as far as is known.
        errors: Why attempts failed, in order; the last one is the ticket's reason where it failed.
        warning: What is doubtful about the answer, or ``""``.
        cost: What all attempts have cost in US dollars, as far as is known; ``None`` where nothing is.
        seconds: How long all attempts took, without the waits between them.
    """

    ticket: str
    status: RunStatus
    text: str = ""
    tokens: Annotated[int, Field(ge=0)] = 0
    errors: tuple[str, ...] = ()
    warning: str = ""
    cost: Amount | None = None
    seconds: Amount = 0.0

    @property
    def failure(self) -> str | None:
        """Why there is no answer, ``None`` where there is one."""
        if self.status is RunStatus.SUCCESS:
            return None
        return self.errors[-1] if self.errors else "no reason given"

    @property
    def attempts(self) -> int:
        """How often a worker was asked."""
        return len(self.errors) + (self.status is RunStatus.SUCCESS)

    def to_json(self) -> str:
        """Return the outcome as JSON."""
        return json.dumps(asdict(self))  # ASCII: a database holds no half of a surrogate pair

    @classmethod
    def from_json(cls, text: str) -> "TicketOutcome":
        """Return the outcome that ``to_json`` wrote.

        Raises:
            ValueError: It is none; a database may hold what somebody else wrote.
        """
        return _OUTCOME.validate_json(text, strict=True)


_OUTCOME = TypeAdapter(TicketOutcome)


@dataclass(frozen=True, slots=True)
class TicketKeys:
    """The keys of a run's tickets.

    Attributes:
        rounds: The rounds of tickets that were retried; all others are in their first.
    """

    run_id: str
    rounds: Mapping[str, int] = field(default_factory=dict)

    def of(self, ticket_id: str) -> str:
        """Return the key of a ticket's latest round."""
        return self.in_round(ticket_id, self.rounds.get(ticket_id, 1))

    def in_round(self, ticket_id: str, number: int) -> str:
        """Return the key of one of a ticket's rounds, from 1."""
        suffix = f"{_ROUND}{number}" if number > 1 else ""
        return f"{self.run_id}/{ticket_id}{suffix}"

    def earlier(self, ticket_id: str) -> list[str]:
        """Return the keys of a ticket's rounds before the latest."""
        return [self.in_round(ticket_id, i) for i in range(1, self.rounds.get(ticket_id, 1))]


def ticket_of(key: str) -> str:
    """Return the ticket's id in a key."""
    return key.rpartition("/")[2].partition(_ROUND)[0]


def run_of(key: str) -> str:
    """Return the run in a key."""
    return key.rpartition("/")[0]


class EndingState(StrEnum):
    """How far a ticket is that no worker is asked for; all but ``WAITING`` stand for ever."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    LEFT_OUT = "left out"
    FAILED = "failed"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a ticket.

    Attributes:
        text: An approval's note, why it was left out or failed, or the JSON list that it is spread over.
    """

    state: EndingState
    text: str = ""

    def outcome(self, ticket_id: str) -> TicketOutcome:
        """Return it as the outcome of a ticket that was approved, rejected or failed."""
        if self.state is EndingState.APPROVED:
            return TicketOutcome(ticket_id, RunStatus.SUCCESS, self.text or "approved")
        reason = self.text
        if self.state is EndingState.REJECTED:
            reason = f"rejected: {self.text}" if self.text else "rejected"
        return TicketOutcome(ticket_id, RunStatus.ERROR, errors=(reason,))


class Endings(Protocol):
    """Keeps one ending for each key, whatever happens to processes meanwhile."""

    def all(self) -> Mapping[str, Ending]:
        """Return the endings of the run, by key."""
        ...

    def record(self, key: str, ending: Ending) -> Ending:
        """Write an ending where there is none, and return the one that counts."""
        ...


class TaskQueue(Protocol):
    """Keeps each assignment by its key until it has one outcome, whatever happens to processes meanwhile."""

    def known(self, keys: Collection[str]) -> dict[str, bool]:
        """Return which of ``keys`` were put here before, and whether the answer to each has begun to come."""
        ...

    def put(self, assignment: Assignment) -> None:
        """Enqueue an assignment; one with a known key changes nothing."""
        ...

    def outcomes(self, keys: Collection[str]) -> dict[str, TicketOutcome]:
        """Return the outcomes that there are, by key."""
        ...

    def cancel(self, keys: Collection[str]) -> None:
        """Take back what has not ended; what a worker still gives for it is dropped."""
        ...


@dataclass(slots=True)
class AttemptAccount:
    """Is what a worker calls when its answer begins to come; one that asks more than once tells it what that took.

    Attributes:
        on_begun: Called when the answer begins to come.
        tokens: What the attempt has taken so far, as far as is known.
        cost: What that has cost in US dollars, ``None`` where it is not known.
    """

    on_begun: Callable[[], None]
    tokens: int = 0
    cost: float | None = None

    def __call__(self) -> None:
        """Pass on that the answer has begun to come."""
        self.on_begun()

    def note(self, tokens: int, cost: float | None) -> None:
        """Keep what all requests so far have taken together."""
        self.tokens, self.cost = tokens, cost
