"""The outcomes of tickets, merged into variables for prompts and the report."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from threading import Event

from aggregate.agents.results import FailurePolicy, Group, LabelledOutput, failures, merge_group
from aggregate.agents.tracks.assignment import (
    Ending,
    RunRecord,
    TaskQueue,
    TicketOutcome,
    TicketStatus,
    WorkerReply,
    key_of,
    ticket_of,
)
from aggregate.agents.tracks.tickets import Ticket, Tickets, child_of, names_in, parent_of
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
    return {
        name: _merged(name, group, merging.get(name), on_error) for name, group in members.items()
    }


def _merged(
    name: str, outcomes: Sequence[TicketOutcome], decider: Ticket | None, on_error: FailurePolicy
) -> AggregatedResult:
    """Merge the outcomes of one variable, by the strategy of the ticket ``decider``."""
    strategy = MergeStrategy.CONCAT if name.startswith("$") else MergeStrategy.FIRST
    if decider and decider.merge_strategy:
        strategy = decider.merge_strategy
    custom = decider.custom_function if decider else None
    outputs = [
        LabelledOutput(one.text, label=one.ticket, run_id=one.ticket, error=one.failure)
        for one in outcomes
    ]
    variable = Group(name, strategy, custom, on_error=on_error, status=GroupStatus.COMPLETE)
    result = merge_group(variable, outputs)
    warnings = [f"{one.ticket}: {one.last.warning}" for one in outcomes if one.last.warning]
    items = _items(outcomes) if strategy in _TEXT_BY_TEXT else ()
    return replace(result, warnings=(*warnings, *result.warnings), items=items)


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


def _answer_value(ticket: Ticket, text: str) -> Value:
    return json.loads(text) if ticket.answer is not None else text


class RunOutcomes:
    """The outcomes of one run's tickets.

    They are read from the run's queue and from the recorded endings of tickets.
    """

    def __init__(
        self, tickets: Tickets, queue: TaskQueue, record: RunRecord, changed: Event | None = None
    ) -> None:
        self.run = tickets
        self.queue = queue
        self.record = record
        # Set when an answer has ended or begun in this process
        self.changed = changed or Event()
        self.children: dict[str, list[Ticket]] = {}
        self.tickets = {ticket.id: ticket for ticket in tickets.tickets}
        self._position = {ticket.id: i for i, ticket in enumerate(tickets.tickets)}
        self._merging = _merging(tickets.tickets)
        self.look()

    def look(self) -> None:
        """Read the recorded endings, and with them the rounds of tickets."""
        self._endings: dict[str, Ending] = dict(self.record.endings())
        again = (TicketStatus.CONFLICT, TicketStatus.RETRIED)
        ended = (key for key, ending in self._endings.items() if ending.status in again)
        self._rounds = Counter(map(ticket_of, ended))

    def key(self, ticket_id: str) -> str:
        """Return the key of a ticket's present round."""
        return key_of(self.record.run_id, ticket_id, self._rounds[ticket_id] + 1)

    def keys(self, ids: Iterable[str]) -> list[str]:
        return list(map(self.key, ids))

    def earlier_keys(self, ticket_id: str) -> list[str]:
        rounds = range(1, self._rounds[ticket_id] + 1)
        return [key_of(self.record.run_id, ticket_id, number) for number in rounds]

    def ending(self, ticket_id: str) -> Ending | None:
        return self._endings.get(self.key(ticket_id))

    def settle(self, ticket_id: str, ending: Ending) -> Ending:
        """Record how a ticket ended, unless an ending is recorded; return the recorded one."""
        key = self.key(ticket_id)
        recorded = self._endings[key] = self.record.record(key, ending)
        return recorded

    def earlier(self, ids: Iterable[str]) -> Iterable[TicketOutcome]:
        """Return the outcomes of tickets' earlier rounds."""
        keys = [key for ticket_id in ids for key in self.earlier_keys(ticket_id)]
        return self.queue.outcomes(keys).values()

    def conflict(self, ticket_id: str) -> str:
        """Return the conflicting paths of a ticket that runs again, ``""`` if none."""
        ending = self._endings.get(next(reversed(self.earlier_keys(ticket_id)), ""))
        return ending.text if ending and ending.status is TicketStatus.CONFLICT else ""

    def spread(self, ticket: Ticket, ending: Ending) -> list[Ticket]:
        """Return the children of a ticket from its recorded list."""
        items = json.loads(ending.text)
        children = [child_of(ticket, item, n, len(items)) for n, item in enumerate(items)]
        self.children[ticket.id] = children
        self.tickets |= {child.id: child for child in children}
        return children

    def in_order(self) -> list[Ticket]:
        """Return all tickets in the order of their file, with children behind their parent."""
        tickets: list[Ticket] = []
        for ticket in self.run.tickets:
            tickets += [ticket, *self.children.get(ticket.id, ())]
        return tickets

    def of(self, ids: Iterable[str]) -> Iterator[TicketOutcome]:
        remaining = iter(ids)
        while chunk := list(islice(remaining, CHUNK)):
            in_queue = self.queue.outcomes(self.keys(chunk))
            yield from map(self._readable, in_queue.values())
            for ticket_id in chunk:
                if ticket_id in self.children:
                    ids_of_children = [child.id for child in self.children[ticket_id]]
                    outcomes = {child.ticket: child for child in self.of(ids_of_children)}
                    yield self.fold(ticket_id, outcomes)
                elif (ending := self.ending(ticket_id)) and ending.status.is_final:
                    yield ending.outcome(ticket_id)

    def fold(self, parent_id: str, outcomes: Mapping[str, TicketOutcome]) -> TicketOutcome:
        """Return a parent ticket's outcome, made from its children's outcomes.

        The text of the outcome is a JSON list with an answer for each child. With policy ``report`` a failed child is
        ``null``, with ``skip`` it is omitted, with ``fail`` the parent fails too. The parent also fails if all children
        failed.
        """
        parent, on_error = self.tickets[parent_id], self.run.on_error
        outputs: list[LabelledOutput] = []
        answers: list[Value] = []
        produced: list[ProducedText] = []
        for child in self.children[parent_id]:
            outcome = outcomes[child.id]
            error = f"{child.id}: {outcome.failure}" if outcome.failure else None
            outputs.append(LabelledOutput(outcome.text, child.id, error=error))
            if error is None:
                answers.append(_answer_value(parent, outcome.text))
                name = f"{child.id}: {child.title}" if child.title else child.id
                produced.append(ProducedText(name, outcome.text))
            elif on_error is not FailurePolicy.SKIP:
                answers.append(None)
        errors, fails = failures(outputs, on_error)
        warning = f"{len(errors):,} of {len(outputs):,} children failed: "
        if fails:
            reason = f"{warning}{errors[0]}"
            return TicketOutcome.without_worker(parent_id, TicketStatus.FAILED, reason)
        is_reported = errors and on_error is FailurePolicy.REPORT
        warning = f"{warning}{'; '.join(errors)}" if is_reported else ""
        text = json.dumps(answers, ensure_ascii=False, indent=1)
        return TicketOutcome(parent_id, (WorkerReply(text, warning=warning),), tuple(produced))

    def merge(self, ids: Sequence[str], *, on_error: FailurePolicy) -> dict[str, AggregatedResult]:
        in_order = sorted(set(ids), key=self._position.__getitem__)
        tickets = [self.tickets[ticket_id] for ticket_id in in_order]
        return merge_outcomes(tickets, self.of(ids), on_error=on_error, merging=self._merging)

    def values(self, ids: Sequence[str], expression: str) -> dict[str, Value]:
        """Return the results that an expression uses, by ticket and by variable."""
        values: dict[str, Value] = dict.fromkeys(ids)
        for outcome in self.of(ids):
            if outcome.failure is None:
                ticket = self.tickets[outcome.ticket]
                is_list = bool(ticket.for_each)
                text = outcome.text
                values[ticket.id] = json.loads(text) if is_list else _answer_value(ticket, text)
        if any(name.startswith("$") for name in names_in(expression)):
            merged = self.merge(ids, on_error=FailurePolicy.SKIP)
            values |= {name: result.value for name, result in merged.items() if name[0] == "$"}
        return values

    def _readable(self, outcome: TicketOutcome) -> TicketOutcome:
        """Return an outcome; one whose answer should be JSON and is not becomes a failure."""
        # A look at a run asks for children before it knows them; they have their parent's schema.
        if outcome.failure is None and self.tickets[parent_of(outcome.ticket)].answer is not None:
            try:
                json.loads(outcome.text)
            except (ValueError, RecursionError):
                return outcome.failed(NO_JSON)
        return outcome
