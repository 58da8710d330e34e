"""What tickets make of each other's results: conditions, and lists that one is spread over and folded from."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from aggregate.agents.sandbox import SandboxLimits, run_javascript
from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.errors import SandboxError
from aggregate.base.text import cut, fence
from aggregate.base.values import FailurePolicy, RunStatus, Value

_CALL: Final = '(results) => {{ "use strict"; return (\n{}\n) }}'
# Only compiles: what an expression does is not known before there are results.
_COMPILE: Final = (
    '(source) => { new Function("results", "return (\\n" + source + "\\n)"); return true }'
)
# ``results.name`` and ``results["name"]``.
_NAME: Final = re.compile(
    r"""(?<![\w$.\]])results\s*(?:\??\.\s*([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(["'])((?:(?!\2).)*)\2\s*\])"""
)
# A list is spread over a thousand tickets at the most, each item of which goes into a prompt.
_LIMITS: Final = SandboxLimits(seconds=2.0, output_bytes=4 * 1024 * 1024)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE: Final = re.compile(r"\{\{\s*(item(?:\.[\w-]+)*|index)\s*\}\}")
_TITLE_CHARACTERS: Final = 60  # of an item in its ticket's title, which is one line of a table


def names_in(expression: str) -> tuple[str, ...]:
    """Return the results that an expression names, in order; what it computes as a name is not seen."""
    names = (match[1] or match[3] for match in _NAME.finditer(expression))
    return tuple(dict.fromkeys(names))


def fault_of(expression: str, known: Collection[str]) -> str:
    """Return why an expression over results of these names can never be evaluated, ``""`` for nothing known."""
    for name in names_in(expression):
        if name not in known:
            return f'it names "{name}", which the ticket does not depend on: add it to depends_on'
    try:
        run_javascript(_COMPILE, expression, limits=_LIMITS, now=_EPOCH)
    except SandboxError as error:
        return str(error)
    return ""


def evaluate(expression: str, results: Mapping[str, Value]) -> Value:
    source = _CALL.format(expression)
    return run_javascript(source, dict(results), limits=_LIMITS, now=_EPOCH)


def is_met(expression: str, results: Mapping[str, Value]) -> bool:
    """Return whether a condition holds, by JavaScript's rules: ``""``, ``0``, ``null`` and ``false`` do not."""
    return evaluate(f"Boolean((\n{expression}\n))", results) is True


def parent_of(ticket_id: str) -> str:
    """Return the ticket of the track that an id belongs to: a child's parent, or itself."""
    return ticket_id.partition("[")[0]


def items_of(value: Value, ticket: Ticket) -> list[Value]:
    """Return what a ticket is spread over; of a list that is too long nothing is dropped silently."""
    if not isinstance(value, list):
        raise ValueError(
            "for_each gave no list: give what it names an answer schema, or use JSON.parse"
        )
    if len(value) > ticket.max_children:
        raise ValueError(
            f"for_each gave {len(value):,} items, and max_children is {ticket.max_children:,}: raise it"
        )
    return value


def children_of(ticket: Ticket, items: Sequence[Value]) -> list[Ticket]:
    """Return one ticket for each item, in order.

    ``{{item}}``, ``{{item.field}}`` and ``{{index}}`` in prompt, title and focus files stand for the item; a prompt
    that names none has it at its end.
    """
    return [_child(ticket, item, number, len(items)) for number, item in enumerate(items)]


def without_items(ticket: Ticket) -> Ticket:
    known = tuple(path for path in ticket.focus_files if not _PLACE.search(path))
    return ticket.model_copy(update={"focus_files": known}) if ticket.for_each else ticket


def _child(ticket: Ticket, item: Value, number: int, total: int) -> Ticket:
    def fill(text: str) -> str:
        return _PLACE.sub(lambda match: _text(_at(match[1], item, number)), text)

    prompt = fill(ticket.prompt)
    if not _PLACE.search(ticket.prompt):
        prompt += f"\n\nItem {number + 1} of {total}:\n\n{fence(_text(item))}"
    title = fill(ticket.title)
    if title == ticket.title:
        words = cut(" ".join(_text(item).split()), _TITLE_CHARACTERS)
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


def folded(
    parent: Ticket, outcomes: Sequence[TicketOutcome], *, on_error: FailurePolicy
) -> TicketOutcome:
    """Return a parent's outcome from those of all its children, in order.

    Its text is a JSON list with one answer for each child, as a value where the ticket has an answer schema. A failed
    child is ``null`` with ``report``, left out with ``skip``, and the parent's failure with ``fail``; a parent all of
    whose children failed has failed.
    """
    failures = [f"{child.ticket}: {child.failure}" for child in outcomes if child.failure]
    all_failed = bool(outcomes) and len(failures) == len(outcomes)
    if all_failed or (failures and on_error is FailurePolicy.FAIL):
        reason = f"{len(failures):,} of {len(outcomes):,} children failed: {failures[0]}"
        return TicketOutcome(parent.id, RunStatus.ERROR, errors=(reason,))
    answers = [
        None if child.failure else answer_value(parent, child.text)
        for child in outcomes
        if not (child.failure and on_error is FailurePolicy.SKIP)
    ]
    warning = ""
    if failures and on_error is FailurePolicy.REPORT:
        warning = f"{len(failures):,} of {len(outcomes):,} children failed: {'; '.join(failures)}"
    text = json.dumps(answers, ensure_ascii=False, indent=1)
    return TicketOutcome(parent.id, RunStatus.SUCCESS, text, warning=warning)


def answer_value(ticket: Ticket, text: str) -> Value:
    return json.loads(text) if ticket.answer is not None else text


def _at(place: str, item: Value, number: int) -> Value:
    """Return what ``item``, ``item.field`` or ``index`` stands for; a field that is not there is nothing."""
    if place == "index":
        return number
    value = item
    for field in place.split(".")[1:]:
        value = value.get(field, "") if isinstance(value, dict) else ""
    return value


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
