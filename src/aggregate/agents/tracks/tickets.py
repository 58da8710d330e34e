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
USUAL_CHILDREN = 32
"""Tickets that a list may be spread over where nobody said otherwise: more than a person reads, less than anybody is
surprised to pay for."""
EXPRESSION_CHARACTERS = 2_000
"""Of a condition: it is one line."""
MOST_CHILDREN = 1000
"""The hard bound: a track is written by whoever wrote the project, and a list by a model."""
Dollars = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class TicketKind(StrEnum):
    """Who ends a ticket."""

    WORK = "work"
    APPROVAL = "approval"


class Ticket(BaseModel):
    """One worker's job."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=TICKET_ID, description="Names the ticket; part of file names.")
    title: str = Field(
        default="", description="One line; a plan's task of the same text is marked with it."
    )
    kind: TicketKind = Field(
        default=TicketKind.WORK,
        description="approval: nobody is asked; the ticket waits for aggregate conduct approve or reject.",
    )
    prompt: _Text = Field(description="What the worker is asked, behind its context.")
    focus_files: tuple[_Text, ...] = Field(default=(), description="Files to show in full.")
    depends_on: tuple[_Text, ...] = Field(
        default=(),
        description='Tickets, or a variable such as "$findings" for all that collect into it.',
    )
    collect_into: str = Field(
        default="", description='The variable that the answer goes into, such as "$findings".'
    )
    merge_strategy: MergeStrategy | None = Field(
        default=None, description="How the variable is merged; concat."
    )
    custom_function: str = Field(
        default="", description="For custom: a Python expression or a JavaScript function."
    )
    aggregation_strategy: Literal["", "tier3", "auto", "summarize", "full"] = Field(
        default="",
        description="How files that are not in focus are shown; the persona's strategy by default, else tier3, "
        "by structure.",
    )
    budget: TokenAmount | None = Field(
        default=None,
        description="The most tokens of all that the worker is shown: its title and prompt are the task that files "
        'are chosen for, such as 32000, "32k" or "auto".',
    )
    persona: str = Field(
        default="",
        description="A persona of the configuration, with its instructions, model, strategy and budget.",
    )
    tools: tuple[_Text, ...] = Field(
        default=(), description="Names of the tools that the worker may use."
    )
    timeout: float = Field(
        default=600, gt=0, le=86_400, description="Seconds that one attempt may take."
    )
    retries: int = Field(default=2, ge=0, le=10, description="Further attempts after a failed one.")
    when: str = Field(
        default="",
        max_length=EXPRESSION_CHARACTERS,
        description="An expression over results in JavaScript, such as results.check != 'no': where it is not true, "
        "the ticket is not run.",
    )
    for_each: str = Field(
        default="",
        max_length=EXPRESSION_CHARACTERS,
        description="An expression over results in JavaScript that gives a list, such as results.files: the ticket "
        "is run once for each item, which stands for {{item}}, {{item.field}} and {{index}} in its prompt.",
    )
    max_children: int = Field(
        default=USUAL_CHILDREN,
        ge=1,
        le=MOST_CHILDREN,
        description="With for_each: a longer list is a failure.",
    )
    answer: dict[str, Any] | _Text | None = Field(
        default=None,
        description="The JSON Schema that the answer must meet, or a file with it in the track's folder.",
    )
    max_cost: Dollars | None = Field(
        default=None,
        description="The most US dollars that the ticket may cost; once spent, it is not attempted again.",
    )
    max_tokens: TokenNumber | None = Field(
        default=None,
        description="The most tokens of all requests and answers of one attempt; it can only lower what you allow.",
    )
    max_seconds: float | None = Field(
        default=None,
        gt=0,
        description="The most seconds of one attempt; it can only lower timeout and what you allow.",
    )
    max_steps: int | None = Field(
        default=None,
        ge=1,
        description="The most steps of a ticket with tools; it can only lower what you allow.",
    )

    @property
    def name(self) -> str:
        """The title, or the id where there is none."""
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
        """The variable that the answer goes into; a ticket without one is shown under its own id."""
        return self.collect_into or self.id


class Tickets(BaseModel):
    """A track's ``tickets.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    on_error: FailurePolicy = Field(
        default=FailurePolicy.REPORT,
        description="What a failed ticket does to those that depend on it: report shows them the failure, "
        "skip hides it, fail keeps them from running.",
    )
    max_cost: Dollars | None = Field(
        default=None,
        description="The most US dollars that a run may cost; once spent, no further ticket is begun.",
    )
    tickets: tuple[Ticket, ...] = Field(
        default=(), description="The tickets, in the order of their results."
    )


def dependencies(tickets: Sequence[Ticket]) -> dict[str, tuple[str, ...]]:
    """Return for each ticket the ids that it waits for, in the tickets' order."""
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
