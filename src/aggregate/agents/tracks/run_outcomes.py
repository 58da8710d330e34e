"""Merge ticket outcomes into variables, for prompts and the report."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from threading import Event

from aggregate.agents.results import FailurePolicy, Group, LabelledOutput, failures, merge_group
from aggregate.agents.tracks.assignment import (
    Ending,
    Endings,
    TaskQueue,
    TicketKeys,
    TicketOutcome,
    TicketStatus,
    WorkerReply,
)
from aggregate.agents.tracks.tickets import Ticket, Tickets, names_in, parent_of
from aggregate.base.values import Value
from aggregate.prompt.asking.results import (
    AggregatedResult,
    GroupStatus,
    MergeStrategy,
    ProducedText,
)

NO_JSON = (
    "its answer in the database is not the JSON that its schema requires: it is damaged, "
    "or another program wrote it"
)
CHUNK = 200  # outcomes in memory at one time: an answer may have megabytes
# Strategies whose value is read text by text
_TEXT_BY_TEXT = (MergeStrategy.CONCAT, MergeStrategy.FIRST)


def merge_outcomes(
    tickets: Sequence[Ticket],
    outcomes: Iterable[TicketOutcome],
    *,
    on_error: FailurePolicy = FailurePolicy.REPORT,
    merging: Mapping[str, Ticket] | None = None,
) -> dict[str, AggregatedResult]:
    """Merge outcomes by variable, in ticket order.

    Rules O-40 and O-48 apply. A ticket without a variable has its id as key. Failed tickets are counted, and listed
    unless ``on_error`` is ``skip``. ``merging`` has the ticket with the strategy of each variable.
    """
    if merging is None:
        merging = _merging(tickets)
    by_ticket = {
        outcome.ticket: outcome
        for outcome in outcomes
        if outcome.status is not TicketStatus.LEFT_OUT
    }
    members: dict[str, list[TicketOutcome]] = {}
    for ticket in tickets:
        if ticket.id in by_ticket:
            members.setdefault(ticket.variable, []).append(by_ticket[ticket.id])
    merged: dict[str, AggregatedResult] = {}
    for name, group in members.items():
        strategy = MergeStrategy.CONCAT if name.startswith("$") else MergeStrategy.FIRST
        decider = merging.get(name)
        if decider and decider.merge_strategy:
            strategy = decider.merge_strategy
        outputs = [
            LabelledOutput(
                outcome.text, label=outcome.ticket, run_id=outcome.ticket, error=outcome.failure
            )
            for outcome in group
        ]
        items = _items(group) if strategy in _TEXT_BY_TEXT else ()
        custom = decider.custom_function if decider else None
        variable = Group(name, strategy, custom, on_error=on_error, status=GroupStatus.COMPLETE)
        result = merge_group(variable, outputs)
        warnings = [
            f"{outcome.ticket}: {outcome.last.warning}" for outcome in group if outcome.last.warning
        ]
        merged[name] = replace(result, warnings=(*warnings, *result.warnings), items=items)
    return merged


def _items(outcomes: Sequence[TicketOutcome]) -> tuple[ProducedText, ...]:
    """Return the answers of tickets, split by list item.

    If no ticket has a list, return ``()``.
    """
    if not any(outcome.answers for outcome in outcomes):
        return ()
    items: list[ProducedText] = []
    for outcome in outcomes:
        if outcome.failure is None:
            items += outcome.answers or [ProducedText(outcome.ticket, outcome.text)]
    return tuple(items)


def _merging(tickets: Sequence[Ticket]) -> dict[str, Ticket]:
    return {one.collect_into: one for one in reversed(tickets) if one.merge_strategy}


def folded(
    parent: Ticket,
    outcomes: Sequence[TicketOutcome],
    *,
    on_error: FailurePolicy,
    children: Mapping[str, Ticket] | None = None,
) -> TicketOutcome:
    """Return a parent ticket's outcome, made from its children's outcomes.

    The text of the outcome is a JSON list with an answer for each child. With policy ``report`` a failed child is
    ``null``, with ``skip`` it is omitted, with ``fail`` the parent fails too. The parent also fails if all children
    failed.
    """
    outputs: list[LabelledOutput] = []
    for child in outcomes:
        error = f"{child.ticket}: {child.failure}" if child.failure else None
        outputs.append(LabelledOutput(child.text, child.ticket, error=error))
    errors, fails = failures(outputs, on_error)
    if fails:
        reason = f"{len(errors):,} of {len(outcomes):,} children failed: {errors[0]}"
        return TicketOutcome.without_worker(parent.id, TicketStatus.FAILED, reason)
    answers = [
        None if child.failure else answer_value(parent, child.text)
        for child in outcomes
        if not (child.failure and on_error is FailurePolicy.SKIP)
    ]
    warning = ""
    if errors and on_error is FailurePolicy.REPORT:
        warning = f"{len(errors):,} of {len(outcomes):,} children failed: {'; '.join(errors)}"
    text = json.dumps(answers, ensure_ascii=False, indent=1)
    produced = tuple(
        ProducedText(_child_name(child.ticket, children or {}), child.text)
        for child in outcomes
        if not child.failure
    )
    return TicketOutcome(parent.id, (WorkerReply(text, warning=warning),), produced)


def _child_name(ticket_id: str, tickets: Mapping[str, Ticket]) -> str:
    """Return a child's id and title as its answer's name."""
    title = tickets[ticket_id].title if ticket_id in tickets else ""
    return f"{ticket_id}: {title}" if title else ticket_id


def answer_value(ticket: Ticket, text: str) -> Value:
    return json.loads(text) if ticket.answer is not None else text


class RunOutcomes:
    """The outcomes of one run's tickets.

    They are read from the run's queue and from the recorded endings of tickets.
    """

    def __init__(
        self,
        tickets: Tickets,
        *,
        queue: TaskQueue,
        keys: TicketKeys,
        endings: Endings,
        is_cancelled: Callable[[], bool] = lambda: False,
        changed: Event | None = None,
    ) -> None:
        self.children: dict[str, tuple[str, ...]] = {}
        self.run = tickets
        self.queue = queue
        self.keys = keys
        self.is_cancelled = is_cancelled
        # Set when an answer has ended or begun in this process
        self.changed = changed or Event()
        self._tickets = {ticket.id: ticket for ticket in tickets.tickets}
        self._position = {ticket.id: i for i, ticket in enumerate(tickets.tickets)}
        self._merging = _merging(tickets.tickets)
        self._endings = endings
        self._known: dict[str, Ending] = {}
        self.look()

    def look(self) -> None:
        self._known = dict(self._endings.all())

    def ending(self, ticket_id: str) -> Ending | None:
        return self._known.get(self.keys.of(ticket_id))

    def record(self, ticket_id: str, ending: Ending) -> Ending:
        key = self.keys.of(ticket_id)
        counts = self._known[key] = self._endings.record(key, ending)
        return counts

    def earlier(self, ids: Iterable[str]) -> Iterable[TicketOutcome]:
        return self.queue.outcomes(
            [key for ticket_id in ids for key in self.keys.earlier(ticket_id)]
        ).values()

    def conflict(self, ticket_id: str) -> str:
        """Return the conflicting paths of a ticket that runs again, ``""`` if none."""
        ending = self._known.get(next(reversed(self.keys.earlier(ticket_id)), ""))
        return ending.text if ending and ending.status is TicketStatus.CONFLICT else ""

    def next_round(self, ticket_id: str) -> None:
        number = self.keys.rounds.get(ticket_id, 1) + 1
        self._endings.raise_rounds({ticket_id: number})
        self.keys = replace(self.keys, rounds={**self.keys.rounds, ticket_id: number})

    def add_children(self, parent_id: str, children: Sequence[Ticket]) -> None:
        self.children[parent_id] = tuple(child.id for child in children)
        self._tickets.update((child.id, child) for child in children)

    def of(self, ids: Iterable[str]) -> Iterator[TicketOutcome]:
        remaining = iter(ids)
        while chunk := list(islice(remaining, CHUNK)):
            in_queue = self.queue.outcomes([self.keys.of(ticket_id) for ticket_id in chunk])
            yield from map(self._readable, in_queue.values())
            for ticket_id in chunk:
                if ticket_id in self.children:
                    children = self.children[ticket_id]
                    outcomes = {child.ticket: child for child in self.of(children)}
                    in_order = [outcomes[child] for child in children]
                    yield folded(
                        self._tickets[ticket_id],
                        in_order,
                        on_error=self.run.on_error,
                        children=self._tickets,
                    )
                elif (ending := self.ending(ticket_id)) and ending.status.is_final:
                    yield ending.outcome(ticket_id)

    def merge(self, ids: Sequence[str], *, on_error: FailurePolicy) -> dict[str, AggregatedResult]:
        in_order = sorted(set(ids), key=self._position.__getitem__)
        tickets = [self._tickets[ticket_id] for ticket_id in in_order]
        return merge_outcomes(tickets, self.of(ids), on_error=on_error, merging=self._merging)

    def values(self, ids: Sequence[str], expression: str) -> dict[str, Value]:
        """Return the results that an expression uses, by ticket and by variable."""
        values: dict[str, Value] = dict.fromkeys(ids)
        for outcome in self.of(ids):
            if outcome.failure is None:
                ticket = self._tickets[outcome.ticket]
                is_list = bool(ticket.for_each)
                text = outcome.text
                values[ticket.id] = json.loads(text) if is_list else answer_value(ticket, text)
        if any(name.startswith("$") for name in names_in(expression)):
            merged = self.merge(ids, on_error=FailurePolicy.SKIP)
            values |= {name: result.value for name, result in merged.items() if name[0] == "$"}
        return values

    def _readable(self, outcome: TicketOutcome) -> TicketOutcome:
        """Return an outcome; one whose answer should be JSON and is not becomes a failure."""
        # A look at a run asks for children before it knows them; they have their parent's schema.
        if outcome.failure is None and self._tickets[parent_of(outcome.ticket)].answer is not None:
            try:
                json.loads(outcome.text)
            except (ValueError, RecursionError):
                return outcome.failed(NO_JSON)
        return outcome
