"""Run a track: the start order of tickets, a preview of it, and the run itself.

``TrackRun.advance`` shows the stages of a ticket: condition, worker, person or children, merge, end.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks.assignment import Ending, TicketOutcome, TicketStatus, ticket_of
from aggregate.agents.tracks.attempt import LEASE_SECONDS
from aggregate.agents.tracks.ledger import RunLedger
from aggregate.agents.tracks.merged_changes import Line
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import TrackResult
from aggregate.agents.tracks.tickets import (
    Ticket,
    TicketKind,
    Tickets,
    dependencies,
    evaluate,
    items_of,
    parent_of,
    without_items,
)
from aggregate.agents.tracks.track import Checkbox
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.agents.tracks.worker_terms import OWN, Recipient, WorkerTerms, check_prices
from aggregate.base.errors import BudgetError, ConfigError, SandboxError, ScopeError
from aggregate.base.tokens import count


class Schedule:
    """The ready, active and ended tickets of a run."""

    def __init__(
        self, tickets: Sequence[Ticket], on_error: FailurePolicy = FailurePolicy.REPORT
    ) -> None:
        self.tickets = {ticket.id: ticket for ticket in tickets}
        self.waits_for = dependencies(tickets)
        self._on_error = on_error
        # A child's position is its parent's and its own number.
        self._position: dict[str, tuple[int, ...]] = {
            ticket.id: (i,) for i, ticket in enumerate(tickets)
        }
        self._unmet = {ticket_id: set(needed) for ticket_id, needed in self.waits_for.items()}
        self._dependents: dict[str, list[str]] = {}
        for ticket_id, needed in self.waits_for.items():
            for dependency in needed:
                self._dependents.setdefault(dependency, []).append(ticket_id)
        self._skipped: set[str] = set()
        self._ended: set[str] = set()
        self._under_way: set[str] = set()
        # A heap of ready tickets; some have ended before a restart.
        self._ready: list[tuple[bool, tuple[int, ...], str]] = []
        self._ready_ids: set[str] = set()
        self._make_ready(ticket.id for ticket in tickets if not self.waits_for[ticket.id])

    @property
    def finished(self) -> bool:
        return not self._under_way and not self._ready_ids

    def has_ended(self, ticket_id: str) -> bool:
        return ticket_id in self._ended

    def start(self, most: int) -> list[Ticket]:
        """Start and return at most ``most`` ready tickets; those with dependencies go first."""
        started: list[Ticket] = []
        while self._ready and len(started) < most:
            ticket_id = heappop(self._ready)[-1]
            if self.take_up(ticket_id):  # else it has ended, or was taken up
                started.append(self.tickets[ticket_id])
        return started

    def take_up(self, ticket_id: str) -> bool:
        """Count a ready ticket as under way; return whether it was ready."""
        if ticket_id not in self._ready_ids:
            return False
        self._ready_ids.discard(ticket_id)
        self._under_way.add(ticket_id)
        return True

    def add_children(self, parent_id: str, children: Sequence[Ticket]) -> None:
        """Make the children of a ticket ready."""
        for number, child in enumerate(children):
            self.tickets[child.id] = child
            self.waits_for[child.id] = self.waits_for[parent_id]
            self._position[child.id] = (*self._position[parent_id], number)
            self._unmet[child.id] = set()
        self._make_ready(child.id for child in children)

    def end(self, ticket_id: str, status: TicketStatus) -> dict[str, str]:
        """End a ticket; return why dependents are skipped, by id.

        Other dependents become ready once all their dependencies have ended.
        """
        self._under_way.discard(ticket_id)
        self._ready_ids.discard(ticket_id)
        self._ended.add(ticket_id)
        is_rejected = status is TicketStatus.REJECTED
        stops = is_rejected or (status.has_failed and self._on_error is FailurePolicy.FAIL)
        failure = "was rejected" if is_rejected else "failed"
        reasons: dict[str, str] = {}
        ends = [ticket_id]
        while ends:
            ended = ends.pop()
            for dependent in self._dependents.get(ended, ()):
                self._unmet[dependent].discard(ended)
                if dependent in self._skipped or dependent in self._ended:
                    continue
                if stops:
                    end = "was not run" if ended in self._skipped else failure
                    reasons[dependent] = f'not run: it depends on "{ended}", which {end}'
                    self._skipped.add(dependent)
                    ends.append(dependent)
                elif not self._unmet[dependent]:
                    self._make_ready([dependent])
        return reasons

    def _make_ready(self, ticket_ids: Iterable[str]) -> None:
        for ticket_id in ticket_ids:
            if ticket_id not in self._ended:
                # Dependents go first.
                place = (not self.waits_for[ticket_id], self._position[ticket_id], ticket_id)
                heappush(self._ready, place)
                self._ready_ids.add(ticket_id)


STARTS = 4  # of tickets between two looks at the queue, which cost about as much as one
# Between two looks whether a person has decided, where nothing else is waited for.
DECISION_SECONDS = 0.2
AGAIN = (
    "You did this task before on older files, and your changes conflict with later changes by others: {}. "
    "The files include those changes: do the task again."
)


@dataclass(frozen=True, slots=True)
class PreviewStep:
    wave: int  # tickets of one wave can run at one time; the first is 1
    ticket: Ticket
    waits_for: tuple[str, ...]
    tokens: int  # of its context, without the results of its dependencies
    budget: int
    recipient: Recipient  # no model for the scripted worker


def preview(
    tickets: Tickets, contexts: WorkerContexts, *, max_cost: float | None = None
) -> Iterator[PreviewStep]:
    """Yield the steps of a run if every ticket succeeds."""
    check_prices(tickets, contexts.asks, max_cost=max_cost)
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    contexts.share(tickets.tickets)
    schedule = Schedule(tickets.tickets)
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            assignment = contexts.assignment(without_items(ticket), {}, ticket.id)
            # A person decides about an approval.
            recipient = contexts.asks(ticket) if ticket.kind is TicketKind.WORK else OWN
            yield PreviewStep(
                wave,
                ticket,
                schedule.waits_for[ticket.id],
                assignment.tokens + count(assignment.persona),
                contexts.granted(ticket).budget.tokens,
                recipient,
            )
            schedule.end(ticket.id, TicketStatus.DONE)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run."""

    # A URL or a file; by default SQLite in the user's state folder of this project
    database: str = ""
    # Tickets of each worker at one time; by default as before, at first 8
    concurrency: int | None = None
    lease: float = LEASE_SECONDS  # after which a worker without a sign of life is dead
    resume: bool = False  # continue the latest run, with its failed tickets; begin none
    retry: tuple[str, ...] = ()  # continue the latest run, with these tickets and their dependents
    max_cost: float | None = None  # in US dollars; the track can only lower it
    terms: WorkerTerms | None = None  # by default the worker's own
    # Assignments in the queue at one time, enough for 32 workers of the default concurrency
    window: int = 256
    poll: float = 0.02  # seconds between two looks at the queue


USUAL = RunOptions()


class TrackRun:
    """A run of a track's tickets over a queue.

    The queue and the endings contain all state, so a restarted run finds ended and enqueued tickets there. Prompts are
    written before they are enqueued, replies when they are collected, each to a fixed name.
    """

    def __init__(
        self,
        outcomes: RunOutcomes,
        contexts: WorkerContexts,
        ledger: RunLedger,
        line: Line | None = None,
        options: RunOptions = USUAL,
    ) -> None:
        self._outcomes = outcomes
        self._contexts = contexts
        self._ledger = ledger
        self._line = line
        self._options = options
        contexts.share(outcomes.run.tickets)
        self._schedule = Schedule(outcomes.run.tickets, outcomes.run.on_error)
        # The first ticket goes alone until its first request is answered: a provider's cache then holds the
        # beginning of all contexts.
        self._goes_alone = contexts.shares_beginning
        # Tickets under way: started ones are in the queue, others wait for a person or their children.
        self._open: dict[str, TicketStatus] = {}
        self._enqueued: set[str] = set()  # by this run before a restart, or by another process
        # The ticket repeated after a conflict; nothing else is merged meanwhile.
        self._again = ""

    def run(self) -> TrackResult:
        spending = self._ledger.spending
        self._ledger.track.mark(Checkbox.STARTED)
        self._take_up_earlier(self._outcomes.run.tickets)
        starts = 0
        while not self._schedule.finished:
            if self._outcomes.record.is_cancelled():
                return self._close(cancelled=True)
            in_queue = len(self._with_status(TicketStatus.STARTED))
            if spending.reason and not in_queue:
                break
            window = 1 if self._goes_alone else self._options.window
            room = spending.room(window - in_queue, in_queue)
            started = self._schedule.start(min(room, 1))
            for ticket in started:
                self.advance(ticket)
            starts += len(started)
            if not started or starts >= STARTS:
                starts = 0
                if not self._collect() and not started:
                    # Answers in this process set the event at once; others are seen at the next look.
                    seconds = self._options.poll if in_queue else DECISION_SECONDS
                    self._outcomes.changed.wait(seconds)
        return self._close(cancelled=False)

    def advance(self, ticket: Ticket, outcome: TicketOutcome | None = None) -> bool:
        """Move a ticket one stage on.

        Without an outcome the ticket goes to its worker, with an outcome to its end. Return whether the call had an
        effect: an outcome may have to wait for another ticket's merge.
        """
        if outcome is None:
            if ticket.when and not self._is_met(ticket):
                return True
            if ticket.kind is TicketKind.APPROVAL:
                self._ask_person(ticket)
            elif ticket.for_each:
                self._spread(ticket)
            else:
                self._ask_worker(ticket)
            return True
        if self._is_unmerged(outcome) and self._again not in ("", ticket.id):
            return False
        conflicts = self._line.merge(ticket, outcome.last.commit) if self._line else ()
        if conflicts and not self._outcomes.conflict(ticket.id):
            self._ask_again(ticket, outcome, conflicts)
            return False
        if conflicts:
            command = f"aggregate conduct diff {self._ledger.track.track_id} {ticket.id}"
            outcome = outcome.failed(
                f"its changes conflict again with others, in {', '.join(conflicts)}: see them with {command}, "
                "then retry it"
            )
        if self._again == ticket.id:
            self._again = ""
        self._end(ticket, outcome)
        return True

    def _take_up_earlier(self, tickets: Sequence[Ticket]) -> None:
        """Restore the tickets begun before a restart.

        Ended tickets are ended again, tickets in progress resumed. Tickets in progress ignore the concurrency limit,
        since their answers are paid for.
        """
        ids = [ticket.id for ticket in tickets]
        for outcome in self._outcomes.earlier(ids):
            self._ledger.spending.add(outcome, is_earlier=True)
        self._enqueued |= self._known(ids)
        for outcome in self._outcomes.of(ids):
            # Unmerged outcomes are collected as if new.
            if not self._is_unmerged(outcome):
                self._end(self._schedule.tickets[outcome.ticket], outcome, announce=False)
        begun: list[str] = []
        for ticket_id in ids:
            ending = self._outcomes.ending(ticket_id)
            is_spread = ending is not None and ending.status is TicketStatus.SPREAD
            if is_spread or ticket_id in self._enqueued:
                begun.append(ticket_id)
        while resumed := [ticket_id for ticket_id in begun if self._schedule.take_up(ticket_id)]:
            for ticket_id in resumed:
                self.advance(self._schedule.tickets[ticket_id])

    def _is_met(self, ticket: Ticket) -> bool:
        status, reason = TicketStatus.LEFT_OUT, f"its condition is not met: {ticket.when}"
        try:
            values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.when)
            if evaluate(ticket.when, values):
                return True
        except SandboxError as error:
            status, reason = TicketStatus.FAILED, f"its condition cannot be evaluated: {error}"
        self._settle(ticket, status, reason)
        return False

    def _ask_person(self, ticket: Ticket) -> None:
        self._outcomes.settle(ticket.id, Ending(TicketStatus.WAITING))
        self._open[ticket.id] = TicketStatus.WAITING
        command = f"aggregate conduct approve {self._ledger.track.track_id} {ticket.id}"
        self._ledger.note(ticket, TicketStatus.WAITING, command)

    def _ask_worker(self, ticket: Ticket) -> None:
        conflict = self._outcomes.conflict(ticket.id)
        if conflict:
            self._again = ticket.id
        if ticket.id not in self._enqueued:
            try:
                self._enqueue(ticket, conflict)
            except (BudgetError, ConfigError, ScopeError) as error:
                if parent_of(ticket.id) == ticket.id:
                    raise
                # A child follows from an answer, so it could not be checked before the run.
                self._settle(ticket, TicketStatus.FAILED, str(error))
                return
        self._open[ticket.id] = TicketStatus.STARTED
        again = f"again, because others have changed {conflict}" if conflict else ""
        self._ledger.note(ticket, TicketStatus.STARTED, again)

    def _enqueue(self, ticket: Ticket, conflict: str) -> None:
        if parent_of(ticket.id) != ticket.id:
            self._contexts.check(ticket)
        waits_for = self._schedule.waits_for[ticket.id]
        results = self._outcomes.merge(waits_for, on_error=self._outcomes.run.on_error)
        key = self._outcomes.key(ticket.id)
        context = self._contexts.context(ticket, results, key, asks=True)
        details: dict[str, Any] = {"urgent": bool(waits_for)}
        if self._line is not None and ticket.tools:
            details |= {"base": self._line.head, "folder": self._line.top.inside}
        if conflict:
            details["message"] = f"{context.assignment.message}\n\n{AGAIN.format(conflict)}"
        context = replace(context, assignment=replace(context.assignment, **details))
        context.write_account(self._ledger.files.write_prompt(context.assignment))
        self._outcomes.queue.put(context.assignment)

    def _spread(self, ticket: Ticket) -> None:
        """Create a child for each item of a ticket's list.

        After a restart the children are the same.
        """
        ending = self._outcomes.ending(ticket.id)
        if ending is None:
            try:
                values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.for_each)
                items = json.dumps(items_of(evaluate(ticket.for_each, values), ticket))
            except (SandboxError, ValueError) as error:
                self._settle(ticket, TicketStatus.FAILED, str(error))
                return
            ending = self._outcomes.settle(ticket.id, Ending(TicketStatus.SPREAD, items))
        children = self._outcomes.spread(ticket, ending)
        self._schedule.add_children(ticket.id, children)
        self._open[ticket.id] = TicketStatus.SPREAD
        self._ledger.note(ticket, TicketStatus.STARTED, f"{len(children):,} children")
        self._take_up_earlier(children)
        self._end_parent(ticket.id)

    def _collect(self) -> bool:
        """Process the outcomes of tickets; return whether any ended."""
        self._outcomes.changed.clear()
        in_queue = self._with_status(TicketStatus.STARTED)
        self._ledger.follow([self._schedule.tickets[ticket_id] for ticket_id in in_queue])
        outcomes = list(self._outcomes.of(in_queue))
        if self._goes_alone:
            answers = (self._outcomes.queue.steps(self._outcomes.key(one)) for one in in_queue)
            self._goes_alone = not (outcomes or any(answers))
        if approvals := self._with_status(TicketStatus.WAITING):
            self._outcomes.look()
            outcomes += self._outcomes.of(sorted(approvals))
        # All others wait for the repeated one.
        outcomes.sort(key=lambda outcome: outcome.ticket != self._again)
        has_ended = False
        for outcome in outcomes:
            has_ended |= self.advance(self._schedule.tickets[outcome.ticket], outcome)
        return has_ended

    def _with_status(self, status: TicketStatus) -> list[str]:
        return [ticket_id for ticket_id, one in self._open.items() if one is status]

    def _is_unmerged(self, outcome: TicketOutcome) -> bool:
        return self._line is not None and not self._line.holds(outcome.last.commit)

    def _ask_again(self, ticket: Ticket, outcome: TicketOutcome, conflicts: Sequence[str]) -> None:
        self._ledger.spending.add(outcome, is_earlier=True)
        self._ledger.note_steps(ticket)
        self._outcomes.settle(ticket.id, Ending(TicketStatus.CONFLICT, ", ".join(conflicts)))
        self._outcomes.look()
        self._enqueued.discard(ticket.id)
        self._enqueued |= self._known([ticket.id])  # another process may have been first
        self._ask_worker(ticket)

    def _known(self, ids: Collection[str]) -> set[str]:
        """Return the enqueued ones of some tickets."""
        return set(map(ticket_of, self._outcomes.queue.known(self._outcomes.keys(ids))))

    def _settle(self, ticket: Ticket, status: TicketStatus, reason: str) -> None:
        """Record the end of a ticket without a worker."""
        ending = self._outcomes.settle(ticket.id, Ending(status, reason))
        self._end(ticket, ending.outcome(ticket.id))

    def _end(self, ticket: Ticket, outcome: TicketOutcome, *, announce: bool = True) -> None:
        self._open.pop(ticket.id, None)
        skipped = self._schedule.end(ticket.id, outcome.status)
        self._ledger.end(ticket, outcome, announce=announce)
        for skipped_id, reason in skipped.items():
            end = TicketOutcome.without_worker(skipped_id, TicketStatus.NOT_RUN, reason)
            self._ledger.end(self._schedule.tickets[skipped_id], end)
        if announce:
            self._end_parent(parent_of(ticket.id))

    def _end_parent(self, ticket_id: str) -> None:
        children = self._outcomes.children.get(ticket_id, ())
        has_ended = all(self._schedule.has_ended(child.id) for child in children)
        if ticket_id in self._open and has_ended:
            for outcome in self._outcomes.of([ticket_id]):
                self._end(self._schedule.tickets[ticket_id], outcome)

    def _close(self, *, cancelled: bool) -> TrackResult:
        in_queue = self._with_status(TicketStatus.STARTED)
        self._outcomes.queue.cancel(self._outcomes.keys(in_queue))
        if cancelled:
            for ticket_id in in_queue:
                self._ledger.cancel(self._schedule.tickets[ticket_id])
        is_stopped = not (self._schedule.finished or cancelled)
        stopped = self._ledger.spending.reason if is_stopped else ""
        return self._ledger.close(self._contexts.warnings, stopped=stopped, cancelled=cancelled)
