"""What goes to a worker and what comes back, as values that fit into a database."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from aggregate.base.values import SEPARATOR, Prompt, RunStatus, Section, Segment, Stability

_LATER = (
    "answer",
    "max_cost",
    "provider",
    "model",
    "base_url",
    "max_tokens",
    "max_steps",
    "task",
)
"""Fields that workers of earlier versions do not know."""


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""As it is read again: less than nothing in a database would leave a run more than its limit."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One ticket on its way to a worker; it needs nothing of the project's files.

    Attributes:
        key: Unique among all runs, ``<run>/<ticket>``; with the attempt's number it tells a repeated call from a new
            one.
        ticket: The ticket's id.
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
    message: str
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
        # A worker of an earlier version knows none of these, and need not where they say nothing.
        for name in _LATER:
            if data[name] in (None, ""):
                del data[name]
        return json.dumps(data)  # ASCII: a database holds no half of a surrogate pair

    @classmethod
    def from_json(cls, text: str) -> "Assignment":
        """Return the assignment that ``to_json`` wrote."""
        data: dict[str, Any] = json.loads(text)
        segments = [
            Segment(
                Section(segment["section"]),
                segment["text"],
                Stability(segment["stability"]),
                segment["source"],
            )
            for segment in data["prompt"]["segments"]
        ]
        data["prompt"] = Prompt(tuple(segments))
        data["tools"] = tuple(data["tools"])
        return cls(**data)


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """What a worker answers.

    Attributes:
        text: The answer.
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
        ticket: Its id.
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
