"""``tickets.toml``: what the workers of a track are asked, and in which order."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from aggregate.conductor.dependency_graph import find_cycle, members_of
from aggregate.config.key_position import line_of_key
from aggregate.config.load import parse_toml, read_toml_text, validate_table
from aggregate.errors import ConfigError
from aggregate.models.group import FailurePolicy, MergeStrategy

TICKETS = "tickets.toml"
TICKET_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
"""What a variable may be called (rule O-20)."""
_Text = Annotated[str, Field(min_length=1)]


class Ticket(BaseModel):
    """One worker's job."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=TICKET_ID, description="Names the ticket; part of file names.")
    title: str = Field(default="", description="One line; a plan's task of the same text is marked with it.")
    prompt: _Text = Field(description="What the worker is asked, behind its context.")
    focus_files: tuple[_Text, ...] = Field(default=(), description="Files to show in full.")
    depends_on: tuple[_Text, ...] = Field(
        default=(), description='Tickets, or a variable such as "$findings" for all that collect into it.'
    )
    collect_into: str = Field(default="", description='The variable that the answer goes into, such as "$findings".')
    merge_strategy: MergeStrategy | None = Field(default=None, description="How the variable is merged; concat.")
    custom_function: str = Field(default="", description="For custom: a Python expression or a JavaScript function.")
    aggregation_strategy: Literal["tier3", "auto", "summarize", "full"] = Field(
        default="tier3", description="How files that are not in focus are shown; tier3 by structure."
    )
    persona: str = Field(default="", description="A persona of the configuration; its system prompt goes first.")
    tools: tuple[_Text, ...] = Field(default=(), description="Names of the tools that the worker may use.")
    timeout: float = Field(default=600, gt=0, le=86_400, description="Seconds that one attempt may take.")
    retries: int = Field(default=2, ge=0, le=10, description="Further attempts after a failed one.")

    @property
    def name(self) -> str:
        """The title, or the id where there is none."""
        return self.title or self.id

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
    tickets: tuple[Ticket, ...] = Field(default=(), description="The tickets, in the order of their results.")


def load_tickets(path: Path) -> Tickets:
    """Read, validate and check a track's tickets.

    Raises:
        ConfigError: An unknown key, a wrong type, a doubled id, an unknown dependency, a cycle, or a variable that is
            merged in two ways; the message names file and line.
    """
    text = read_toml_text(path)
    loaded = validate_table(Tickets, parse_toml(text, path), path=path, text=text)
    problem = next(_problems(loaded.tickets), None)
    if problem is not None:
        keys, message = problem
        key = ".".join(str(one) for one in keys)
        raise ConfigError(message, path=str(path), key=key, line=line_of_key(text, keys))
    return loaded


def checked(tickets: Tickets) -> Tickets:
    """Return tickets that did not come from a file, where they can be run.

    Raises:
        ValueError: They hold what ``load_tickets`` refuses.
    """
    problem = next(_problems(tickets.tickets), None)
    if problem is not None:
        raise ValueError(problem[1])
    return tickets


Problem = tuple[tuple[str | int, ...], str]


def _problems(tickets: Sequence[Ticket]) -> Iterator[Problem]:
    """Yield what is wrong with the tickets as a whole, and where."""
    if not tickets:
        yield (), "there are no tickets: add a [[tickets]] table with id and prompt"
        return
    seen: dict[str, int] = {}
    for i, ticket in enumerate(tickets):
        if ticket.id in seen:
            yield ("tickets", i, "id"), f'two tickets have the id "{ticket.id}": give each its own'
        seen[ticket.id] = i
    yield from _collecting(tickets)
    for i, ticket in enumerate(tickets):
        for j, name in enumerate(ticket.depends_on):
            if not members_of(tickets, name):
                what = "no ticket collects into it" if name.startswith("$") else "there is no such ticket"
                yield (
                    ("tickets", i, "depends_on", j),
                    f'"{ticket.id}" depends on "{name}", but {what}: correct the name',
                )
    if cycle := find_cycle(tickets):
        way = " -> ".join(f'"{name}"' for name in (*cycle, cycle[0]))
        yield ("tickets", seen[cycle[0]], "depends_on"), f"tickets wait for each other: {way}: remove one dependency"


def _collecting(tickets: Sequence[Ticket]) -> Iterator[Problem]:
    """Yield what is wrong with the variables (rules O-20, O-22, O-24, O-47)."""
    chosen: dict[str, Ticket] = {}
    for i, ticket in enumerate(tickets):
        at = ("tickets", i)
        if ticket.collect_into and not VARIABLE.fullmatch(ticket.collect_into):
            yield (*at, "collect_into"), f'"{ticket.collect_into}" is no variable: write one such as "$findings"'
        if ticket.merge_strategy and not ticket.collect_into:
            yield (*at, "merge_strategy"), "merge_strategy needs collect_into: name the variable that is merged"
        custom = ticket.merge_strategy is MergeStrategy.CUSTOM
        if custom != bool(ticket.custom_function):
            key = "merge_strategy" if custom else "custom_function"
            yield (*at, key), 'custom_function and merge_strategy = "custom" need each other: set both or neither'
        if ticket.merge_strategy is None:
            continue
        first = chosen.setdefault(ticket.collect_into, ticket)
        if (first.merge_strategy, first.custom_function) != (ticket.merge_strategy, ticket.custom_function):
            message = f'"{first.id}" merges {ticket.collect_into} in another way: a variable has one merge_strategy'
            yield (*at, "merge_strategy"), message
