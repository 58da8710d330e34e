"""Tickets of a track: their schema, dependencies, expressions and children.

``tickets.toml`` is read and checked as a whole. Conditions and lists are Python expressions over the results of
dependencies.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from aggregate.agents.results import VARIABLE, FailurePolicy
from aggregate.agents.sandbox import SandboxLimits, run_python
from aggregate.agents.tools import CHANGES
from aggregate.agents.tracks.answer_schema import read_schema
from aggregate.base.errors import ConfigError, SandboxError
from aggregate.base.json_forms import jsonable
from aggregate.base.text import fence
from aggregate.base.values import Value
from aggregate.project.configuration import parse_toml, read_toml_text, validate_table
from aggregate.project.tables import TokenAmount, TokenNumber
from aggregate.project.toml_text import key_lines, nearest_line
from aggregate.prompt.asking.results import MergeStrategy

TICKET_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_Text = Annotated[str, Field(min_length=1)]
# Children of a list by default: more than a person reads, few enough to pay for
USUAL_CHILDREN = 32
EXPRESSION_CHARACTERS = 2_000  # of a condition: it is one line
MOST_CHILDREN = 1000  # a model writes the list
Dollars = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class TicketKind(StrEnum):
    WORK = "work"
    APPROVAL = "approval"


class Ticket(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=TICKET_ID)  # part of file names
    title: str = ""  # one line
    kind: TicketKind = TicketKind.WORK  # an approval waits for aggregate conduct approve or reject
    prompt: _Text  # the task, behind the context
    focus_files: tuple[_Text, ...] = ()  # shown in full
    depends_on: tuple[_Text, ...] = ()  # tickets, or a variable for all its producers
    collect_into: str = ""  # the variable of the answer, such as "$findings"
    merge_strategy: MergeStrategy | None = None  # of the variable; by default concat
    custom_function: str = ""  # for custom: a Python expression or lambda
    # For files without focus: by default the persona's strategy, else their structure
    aggregation_strategy: Literal["", "tier3", "auto", "summarize", "full"] = ""
    # The most tokens of context and task
    budget: TokenAmount | None = None
    persona: str = ""  # of the configuration, with its instructions, model, strategy and budget
    tools: tuple[_Text, ...] = ()
    timeout: float = Field(default=600, gt=0, le=86_400)  # seconds of one attempt
    retries: int = Field(default=2, ge=0, le=10)
    # Python expressions over results: a condition, and a list of items
    when: str = Field(default="", max_length=EXPRESSION_CHARACTERS)
    for_each: str = Field(default="", max_length=EXPRESSION_CHARACTERS)
    max_children: int = Field(default=USUAL_CHILDREN, ge=1, le=MOST_CHILDREN)
    # The JSON Schema of the answer, or its file in the track's folder
    answer: dict[str, Any] | _Text | None = None
    max_cost: Dollars | None = None  # of all attempts together
    # Of one attempt; they can only lower the user's limits.
    max_tokens: TokenNumber | None = None
    max_seconds: float | None = Field(default=None, gt=0)
    max_turns: int | None = Field(default=None, ge=1)
    # A command to succeed in the work tree, if the user allows it, and how often it may fail
    verify: str = Field(default="", max_length=EXPRESSION_CHARACTERS)
    attempts: int = Field(default=3, ge=1, le=20)

    @property
    def name(self) -> str:
        return self.title or self.id

    @property
    def asks(self) -> bool:
        """Whether a worker answers the ticket; approvals and lists need none."""
        return self.kind is TicketKind.WORK and not self.for_each

    @property
    def changes_files(self) -> bool:
        """Whether the ticket needs a work tree, to change files or to run a check."""
        return bool(self.verify or {*self.tools}.intersection(CHANGES))

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the answer; a schema in a file was read before."""
        return self.answer if isinstance(self.answer, dict) else None

    @property
    def variable(self) -> str:
        return self.collect_into or self.id


class Tickets(BaseModel):
    """The content of ``tickets.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Dependents of a failed ticket see the failure, do not see it, or do not run.
    on_error: FailurePolicy = FailurePolicy.REPORT
    max_cost: Dollars | None = None  # of a run, after which no further ticket starts
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
    """Return the ids of tickets that depend on each other in a cycle, ``()`` for none."""
    try:
        TopologicalSorter(dependencies(tickets)).prepare()
    except CycleError as error:
        ids: list[str] = error.args[1]
        return tuple(reversed(ids[1:]))
    return ()


# A list has at most a thousand items, and each item goes into a prompt.
_LIMITS: Final = SandboxLimits(seconds=2.0, output_bytes=4 * 1024 * 1024)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE: Final = re.compile(r"\{\{\s*(item(?:\.[\w-]+)*|index)\s*\}\}")
_TITLE_CHARACTERS: Final = 60  # of an item in its ticket's title, which is one line of a table


class _ByName(ast.NodeTransformer):
    """Replaces ``results.name`` by ``results["name"]``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "results":
            return ast.Subscript(node.value, ast.Constant(node.attr), node.ctx)
        return node


def _read(expression: str) -> tuple[tuple[str, ...], str]:
    """Parse an expression into result names and Python code."""
    try:
        tree = _ByName().visit(ast.parse(expression.strip(), mode="eval"))
        python = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise SandboxError(f"SyntaxError: {reason or 'nested too deeply'}") from None
    names = (
        part.slice.value
        for part in ast.walk(tree)
        if isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == "results"
        and isinstance(part.slice, ast.Constant)
    )
    return tuple(dict.fromkeys(map(str, names))), python


def names_in(expression: str) -> tuple[str, ...]:
    """Return the names of results in an expression, in order."""
    return _read(expression)[0]


def evaluate(expression: str, results: Mapping[str, Value]) -> Value:
    _, python = _read(expression)
    try:
        run = run_python(python, {"results": dict(results)}, limits=_LIMITS, now=_EPOCH)
        return run.value
    except SandboxError as error:
        kind = f"{error.exception}: " if error.exception else ""
        raise SandboxError(f"{kind}{error}") from None


def parent_of(ticket_id: str) -> str:
    """Return the id of a child's parent; other ids are returned unchanged."""
    return ticket_id.partition("[")[0]


def items_of(value: Value, ticket: Ticket) -> list[Value]:
    """Return the items of a ticket's list as JSON.

    A ``ValueError`` is raised for too many items, or for a value that is not a list.
    """
    if not isinstance(value, list):
        raise ValueError("for_each is not a list: add an answer schema to the ticket that it names")
    if len(value) > ticket.max_children:
        raise ValueError(
            f"for_each gave {len(value):,} items, but max_children is {ticket.max_children:,}: raise max_children"
        )
    return [jsonable(item) for item in value]


def without_items(ticket: Ticket) -> Ticket:
    fixed_paths = tuple(path for path in ticket.focus_files if not _PLACE.search(path))
    return ticket.model_copy(update={"focus_files": fixed_paths}) if ticket.for_each else ticket


def child_of(ticket: Ticket, item: Value, number: int, total: int) -> Ticket:
    """Return the ticket for an item of a list.

    ``{{item}}``, ``{{item.field}}`` and ``{{index}}`` in prompt, title and focus files are replaced; a prompt without
    them gets the item at its end.
    """

    def fill(text: str) -> str:
        return _PLACE.sub(lambda match: _text(_at(match[1], item, number)), text)

    prompt = fill(ticket.prompt)
    if not _PLACE.search(ticket.prompt):
        prompt += f"\n\nItem {number + 1} of {total}:\n\n{fence(_text(item))}"
    title = fill(ticket.title)
    if title == ticket.title:
        words = " ".join(_text(item).split())
        if len(words) > _TITLE_CHARACTERS:
            words = f"{words[: _TITLE_CHARACTERS - 1]}…"
        title = f"{ticket.name}: {words}"
    changes = {
        "id": f"{ticket.id}[{number}]",  # no ticket of a file has such an id
        "title": title,
        "prompt": prompt,
        "focus_files": tuple(map(fill, ticket.focus_files)),
        "for_each": "",
        "when": "",
        "collect_into": "",
        "merge_strategy": None,
    }
    return ticket.model_copy(update=changes)


def _at(place: str, item: Value, number: int) -> Value:
    """Return the value for a placeholder such as ``item.name``, ``""`` for a missing field."""
    if place == "index":
        return number
    value = item
    for field in place.split(".")[1:]:
        value = value.get(field, "") if isinstance(value, dict) else ""
    return value


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TICKETS = "tickets.toml"
MOST_BYTES = 5_000_000  # ten thousand tickets with a paragraph each, read in about a second
Problem = tuple[tuple[str | int, ...], str]  # the keys of a value in the file, and its fault


def load_tickets(path: Path) -> Tickets:
    """Read and check a ``tickets.toml``; errors name the file and line."""
    text = read_toml_text(path, limit=MOST_BYTES)
    loaded = validate_table(Tickets, parse_toml(text, path), path=path, text=text)
    tickets: list[Ticket] = []
    problems = [*islice(_problems(loaded.tickets, evaluates=True), 1)]  # the first one is enough
    for i, ticket in enumerate(() if problems else loaded.tickets):
        try:
            # A run keeps its first schema.
            answer = None if ticket.answer is None else read_schema(ticket.answer, path.parent)
            tickets.append(ticket.model_copy(update={"answer": answer}))
        except ValueError as error:
            problems.append((("tickets", i, "answer"), f'"{ticket.id}": {error}'))
    for keys, message in problems:
        key, line = ".".join(map(str, keys)), nearest_line(key_lines(text), keys)
        raise ConfigError(message, path=str(path), key=key, line=line)
    return loaded.model_copy(update={"tickets": tuple(tickets)})


def check_tickets(tickets: Tickets) -> Tickets:
    for _keys, message in _problems(tickets.tickets):
        raise ValueError(message)
    return tickets


def _problems(tickets: Sequence[Ticket], *, evaluates: bool = False) -> Iterator[Problem]:
    """Yield the faults of tickets; with ``evaluates`` also those of conditions and lists."""
    if not tickets:
        yield (), "there are no tickets: add a [[tickets]] table with id and prompt"
        return
    position: dict[str, int] = {}
    for i, ticket in enumerate(tickets):
        if ticket.id in position:
            yield ("tickets", i, "id"), f'two tickets have the id "{ticket.id}": rename one'
        position[ticket.id] = i
    merged_by: dict[str, Ticket] = {}
    targets = {name for ticket in tickets for name in (ticket.id, ticket.collect_into)} - {""}
    for i, ticket in enumerate(tickets):
        for key, message in (*_problems_of_variable(ticket, merged_by), *_problems_of_work(ticket)):
            yield ("tickets", i, key), message
        for j, name in enumerate(ticket.depends_on):
            if name not in targets:
                nobody = "no ticket collects into it"
                reason = nobody if name.startswith("$") else "there is no such ticket"
                message = f'"{ticket.id}" depends on "{name}", but {reason}: correct the name'
                yield ("tickets", i, "depends_on", j), message
    if cycle := find_cycle(tickets):
        way = " -> ".join(f'"{ticket_id}"' for ticket_id in (*cycle, cycle[0]))
        message = f"tickets depend on each other: {way}: remove one dependency"
        yield ("tickets", position[cycle[0]], "depends_on"), message
    if evaluates:
        yield from _problems_of_expressions(tickets)


def _problems_of_variable(
    ticket: Ticket, merged_by: dict[str, Ticket]
) -> Iterator[tuple[str, str]]:
    """Yield the faults of the variable that a ticket collects into (rules O-20, O-22, O-24, O-47)."""
    name, strategy = ticket.collect_into, ticket.merge_strategy
    if name and not VARIABLE.fullmatch(name):
        yield "collect_into", f'"{name}" is not a variable: write one such as "$findings"'
    if strategy and not name:
        needed = "merge_strategy needs collect_into: name the variable that is merged"
        yield "merge_strategy", needed
    custom = strategy is MergeStrategy.CUSTOM
    if custom != bool(ticket.custom_function):
        key = "merge_strategy" if custom else "custom_function"
        needed = 'custom_function and merge_strategy = "custom" need each other'
        yield key, f"{needed}: set both or neither"
    if strategy:
        earlier = merged_by.setdefault(name, ticket)
        if (earlier.merge_strategy, earlier.custom_function) != (strategy, ticket.custom_function):
            message = f'"{earlier.id}" merges {name} differently: a variable has one merge_strategy'
            yield "merge_strategy", message


def _problems_of_work(ticket: Ticket) -> Iterator[tuple[str, str]]:
    if ticket.kind is TicketKind.APPROVAL:
        for key in ("for_each", "answer", "tools", "focus_files"):
            if getattr(ticket, key):
                reason = "is an approval, which needs no worker"
                yield key, f'"{ticket.id}" {reason}: leave {key} out'
    if ticket.verify and not ticket.tools:
        problem = f'"{ticket.id}" is verified, but has no tools that change anything'
        yield "verify", f"{problem}: name some, such as {', '.join(CHANGES[:2])}"


def _problems_of_expressions(tickets: Sequence[Ticket]) -> Iterator[Problem]:
    waits_for = dependencies(tickets)
    checked = False
    for i, ticket in enumerate(tickets):
        targets = {*waits_for[ticket.id], *(name for name in ticket.depends_on if name[0] == "$")}
        for key in ("when", "for_each"):
            expression, faults = getattr(ticket, key), []
            try:
                names = names_in(expression) if expression else ()
                if expression and not checked:
                    checked = True
                    run_python("None", {})  # the sandbox is there
            except SandboxError as error:
                names, faults = (), [str(error)]
            for name in names:
                if name not in targets:
                    reason = "which the ticket does not depend on: add it to depends_on"
                    faults.append(f'it names "{name}", {reason}')
            for fault in faults:
                yield ("tickets", i, key), f'{key} of "{ticket.id}" cannot be evaluated: {fault}'
