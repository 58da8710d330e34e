"""``tickets.toml``: a track's tickets, read and checked as a whole."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic

from aggregate.agents.tracks.answer_schema import with_schema
from aggregate.agents.tracks.fan_out import fault_of
from aggregate.agents.tracks.tickets import Ticket, TicketKind, Tickets, dependencies, find_cycle
from aggregate.base.errors import ConfigError
from aggregate.base.values import MergeStrategy
from aggregate.project.configuration import line_of_key, parse_toml, read_toml_text, validate_table

TICKETS = "tickets.toml"
MOST_BYTES = 5_000_000  # ten thousand tickets with a paragraph each, read in about a second
# Of all expressions to be read: ten thousand take about seven seconds, and each may be made to take two.
MOST_SECONDS = 30.0
_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")  # what a variable may be called (rule O-20)
Problem = tuple[tuple[str | int, ...], str]  # the keys of a value in the file, and what is wrong


def load_tickets(path: Path) -> Tickets:
    """Read, validate and check a track's tickets; what is wrong is told with file and line."""
    text = read_toml_text(path, limit=MOST_BYTES)
    loaded = validate_table(Tickets, parse_toml(text, path), path=path, text=text)
    problems = chain(_problems(loaded.tickets), _problems_of_expressions(loaded.tickets))
    tickets: list[Ticket] = []
    if (problem := next(problems, None)) is None:  # the first one is enough
        for i, ticket in enumerate(loaded.tickets):
            try:
                # With its schema's file read, so that a run keeps the one that it began with.
                tickets.append(with_schema(ticket, path.parent))
            except ValueError as error:
                problem = ("tickets", i, "answer"), f'"{ticket.id}": {error}'
                break
    if problem:
        keys, message = problem
        line = line_of_key(text, keys)
        raise ConfigError(message, path=str(path), key=".".join(map(str, keys)), line=line)
    return loaded.model_copy(update={"tickets": tuple(tickets)})


def check_tickets(tickets: Tickets) -> Tickets:
    for _keys, message in _problems(tickets.tickets):
        raise ValueError(message)
    return tickets


def _problems(tickets: Sequence[Ticket]) -> Iterator[Problem]:
    if not tickets:
        yield (), "there are no tickets: add a [[tickets]] table with id and prompt"
        return
    position: dict[str, int] = {}
    for i, ticket in enumerate(tickets):
        if ticket.id in position:
            yield ("tickets", i, "id"), f'two tickets have the id "{ticket.id}": give each its own'
        position[ticket.id] = i
    merged_by: dict[str, Ticket] = {}
    known = {name for ticket in tickets for name in (ticket.id, ticket.collect_into)} - {""}
    for i, ticket in enumerate(tickets):
        for key, message in (
            *_problems_of_variable(ticket, merged_by),
            *_problems_of_approval(ticket),
        ):
            yield ("tickets", i, key), message
        for j, name in enumerate(ticket.depends_on):
            if name not in known:
                nobody = "no ticket collects into it"
                what = nobody if name.startswith("$") else "there is no such ticket"
                message = f'"{ticket.id}" depends on "{name}", but {what}: correct the name'
                yield ("tickets", i, "depends_on", j), message
    if cycle := find_cycle(tickets):
        way = " -> ".join(f'"{ticket_id}"' for ticket_id in (*cycle, cycle[0]))
        message = f"tickets wait for each other: {way}: remove one dependency"
        yield ("tickets", position[cycle[0]], "depends_on"), message


def _problems_of_variable(
    ticket: Ticket, merged_by: dict[str, Ticket]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a ticket's variable, by key (rules O-20, O-22, O-24, O-47)."""
    name, strategy = ticket.collect_into, ticket.merge_strategy
    if name and not _VARIABLE.fullmatch(name):
        yield "collect_into", f'"{name}" is no variable: write one such as "$findings"'
    if strategy and not name:
        yield (
            "merge_strategy",
            "merge_strategy needs collect_into: name the variable that is merged",
        )
    custom = strategy is MergeStrategy.CUSTOM
    if custom != bool(ticket.custom_function):
        key = "merge_strategy" if custom else "custom_function"
        needed = 'custom_function and merge_strategy = "custom" need each other'
        yield key, f"{needed}: set both or neither"
    if strategy:
        earlier = merged_by.setdefault(name, ticket)
        if (earlier.merge_strategy, earlier.custom_function) != (strategy, ticket.custom_function):
            message = (
                f'"{earlier.id}" merges {name} in another way: a variable has one merge_strategy'
            )
            yield "merge_strategy", message


def _problems_of_approval(ticket: Ticket) -> Iterator[tuple[str, str]]:
    if ticket.kind is TicketKind.APPROVAL:
        for key in ("for_each", "answer", "tools", "focus_files"):
            if getattr(ticket, key):
                what = "is an approval, which no worker is asked for"
                yield key, f'"{ticket.id}" {what}: leave {key} out'


def _problems_of_expressions(tickets: Sequence[Ticket]) -> Iterator[Problem]:
    """Yield conditions and lists that can never be evaluated; the sandbox is asked, which takes a moment."""
    waits_for = dependencies(tickets)
    begin = monotonic()
    for i, ticket in enumerate(tickets):
        known = {*waits_for[ticket.id], *(name for name in ticket.depends_on if name[0] == "$")}
        for key in ("when", "for_each"):
            expression = getattr(ticket, key)
            if expression and (fault := fault_of(expression, known)):
                message = f'{key} of "{ticket.id}" cannot be evaluated: {fault}'
                yield ("tickets", i, key), message
            elif monotonic() - begin > MOST_SECONDS:
                message = f"the expressions up to this one take more than {MOST_SECONDS:g} s to read: simplify them"
                yield ("tickets", i, key), message
