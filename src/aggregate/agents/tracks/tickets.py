"""Tickets: what the workers of a track are asked, and in which order."""

from collections.abc import Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from aggregate.base.values import FailurePolicy, MergeStrategy
from aggregate.project.configuration import TokenAmount, TokenNumber

TICKET_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_Text = Annotated[str, Field(min_length=1)]
# Tickets that a list may be spread over where nobody said otherwise: more than a person reads, less than anybody is
# surprised to pay for.
USUAL_CHILDREN = 32
EXPRESSION_CHARACTERS = 2_000  # of a condition: it is one line
MOST_CHILDREN = 1000  # a track is written by whoever wrote the project, a list by a model
Dollars = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class TicketKind(StrEnum):
    WORK = "work"
    APPROVAL = "approval"


class Ticket(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=TICKET_ID)  # part of file names
    title: str = ""  # one line; a plan's task of the same text is marked with it
    kind: TicketKind = TicketKind.WORK  # an approval waits for aggregate conduct approve or reject
    prompt: _Text  # what the worker is asked, behind its context
    focus_files: tuple[_Text, ...] = ()  # shown in full
    depends_on: tuple[_Text, ...] = ()  # tickets, or a variable for all that collect into it
    collect_into: str = ""  # the variable that the answer goes into, such as "$findings"
    merge_strategy: MergeStrategy | None = None  # how the variable is merged; concat
    custom_function: str = ""  # for custom: a Python expression or a JavaScript function
    # How files that are not in focus are shown: by default as the persona says, else by structure.
    aggregation_strategy: Literal["", "tier3", "auto", "summarize", "full"] = ""
    # The most tokens of all that the worker is shown; title and prompt are the task that files are chosen for.
    budget: TokenAmount | None = None
    persona: str = ""  # of the configuration, with its instructions, model, strategy and budget
    tools: tuple[_Text, ...] = ()
    timeout: float = Field(default=600, gt=0, le=86_400)  # seconds of one attempt
    retries: int = Field(default=2, ge=0, le=10)
    # Expressions over results in JavaScript: where it is not true, the ticket is not run; the list that it is run for.
    when: str = Field(default="", max_length=EXPRESSION_CHARACTERS)
    for_each: str = Field(default="", max_length=EXPRESSION_CHARACTERS)
    max_children: int = Field(default=USUAL_CHILDREN, ge=1, le=MOST_CHILDREN)
    # The JSON Schema that the answer must meet, or a file with it in the track's folder.
    answer: dict[str, Any] | _Text | None = None
    max_cost: Dollars | None = None  # of all attempts together
    # Of one attempt; they can only lower what the user allows.
    max_tokens: TokenNumber | None = None
    max_seconds: float | None = Field(default=None, gt=0)
    max_steps: int | None = Field(default=None, ge=1)

    @property
    def name(self) -> str:
        return self.title or self.id

    @property
    def asks(self) -> bool:
        """Whether a worker is asked: approvals wait for a person, and a list is spread over other tickets."""
        return self.kind is TicketKind.WORK and not self.for_each

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The schema of the answer; a file's was put in its place when the tickets were read."""
        return self.answer if isinstance(self.answer, dict) else None

    @property
    def variable(self) -> str:
        return self.collect_into or self.id


class Tickets(BaseModel):
    """A track's ``tickets.toml``; their order is that of their results."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # A failed ticket's dependents are shown the failure, are not shown it, or are not run.
    on_error: FailurePolicy = FailurePolicy.REPORT
    max_cost: Dollars | None = None  # of a run; once spent, no further ticket is begun
    tickets: tuple[Ticket, ...] = ()


def dependencies(tickets: Sequence[Ticket]) -> dict[str, tuple[str, ...]]:
    by_name: dict[str, set[str]] = {}
    for ticket in tickets:
        by_name.setdefault(ticket.id, set()).add(ticket.id)
        if ticket.collect_into:
            by_name.setdefault(ticket.collect_into, set()).add(ticket.id)
    position = {ticket.id: i for i, ticket in enumerate(tickets)}
    waits_for: dict[str, tuple[str, ...]] = {}
    for ticket in tickets:
        needed: set[str] = set().union(*(by_name.get(name, ()) for name in ticket.depends_on))
        waits_for[ticket.id] = tuple(sorted(needed, key=position.__getitem__))
    return waits_for


def find_cycle(tickets: Sequence[Ticket]) -> tuple[str, ...]:
    """Return tickets that wait for each other, each for the next one and the last for the first; ``()`` for none."""
    try:
        TopologicalSorter(dependencies(tickets)).prepare()
    except CycleError as error:
        ids: list[str] = error.args[1]
        return tuple(reversed(ids[1:]))
    return ()
