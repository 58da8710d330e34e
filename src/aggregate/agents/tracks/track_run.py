"""One run of a track: enqueue ready tickets, collect their outcomes, until all have ended.

A ticket's way: it starts when what it waits for has ended and its condition is met; a worker or a person is asked, or
it is spread over children; what it changed is merged; its end is heard by those that depend on it.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from threading import Event

from aggregate.agents.subagents import FailurePolicy, RunStatus
from aggregate.agents.tracks.assignment import Ending, EndingState, TicketOutcome, ticket_of
from aggregate.agents.tracks.line import Line
from aggregate.agents.tracks.run_files import PollingOptions, TrackResult
from aggregate.agents.tracks.run_ledger import RunLedger
from aggregate.agents.tracks.run_outcomes import CHUNK, RunOutcomes
from aggregate.agents.tracks.tickets import (
    Ticket,
    TicketKind,
    children_of,
    evaluate,
    items_of,
    parent_of,
)
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.errors import BudgetError, ConfigError, SandboxError, ScopeError

USUAL = PollingOptions()
LAID_DOWN = 4  # tickets between two looks at the queue, which cost about as much as one
# Between two looks whether a person has decided, where nothing else is waited for.
DECISION_SECONDS = 0.2
AGAIN = (
    "You did this before on an older state of the files, and what you changed conflicts with what others have changed "
    "since: {}. The files are as those have left them: do the task on these."
)


class TrackRun:
    """A run of a track's tickets over a queue.

    It keeps no state that the queue does not have: started again after a kill it finds what has ended and what was
    enqueued, and goes on. Prompts are written before they are enqueued and replies when they are collected, under names
    that a second writing repeats, so each ticket is in the files exactly once. ``changed`` is set when an answer has
    ended or begun in this process; what other processes do is seen by looking.
    """

    def __init__(
        self,
        outcomes: RunOutcomes,
        contexts: WorkerContexts,
        ledger: RunLedger,
        *,
        line: Line | None = None,
        polling: PollingOptions = USUAL,
        cancelled: Callable[[], bool] = lambda: False,
        changed: Event | None = None,
    ) -> None:
        self._outcomes = outcomes
        self._contexts = contexts
        self._ledger = ledger
        self._line = line
        self._polling = polling
        self._cancelled = cancelled
        self._changed = changed or Event()
        self._schedule = contexts.schedule(outcomes.run, warm_up=polling.warm_up)
        # What is in the queue: approvals and lists are under way too, but not there.
        self._asked: dict[str, None] = {}
        self._asked_before: set[str] = set()
        self._approvals: set[str] = set()
        self._open_children: dict[str, set[str]] = {}
        # The ticket that is run again after a conflict: until it is in, nothing else is merged, so that it gets in.
        self._again = ""

    def run(self) -> TrackResult:
        spending = self._ledger.spending
        self._ledger.begin()
        self._collect_earlier([ticket.id for ticket in self._outcomes.run.tickets])
        laid_down = 0
        while not self._schedule.finished:
            if self._cancelled():
                return self._close(cancelled=True)
            if spending.reason and not self._asked:
                break
            room = spending.room(self._polling.window - len(self._asked), len(self._asked))
            started = self._schedule.start(min(room, 1))
            for ticket in started:
                self._start(ticket)
                laid_down += 1
            if not started or laid_down >= LAID_DOWN:
                laid_down = 0
                if not self._collect() and not started:
                    # What ends or begins here is heard of at once, the rest at the next look.
                    self._changed.wait(self._polling.poll if self._asked else DECISION_SECONDS)
        return self._close(cancelled=False)

    def _collect_earlier(self, ids: Sequence[str]) -> None:
        """Collect what ended before a restart, which nobody hears of again, and take up what was under way.

        That is taken up whatever room there is: it is paid for, or will be.
        """
        # Earlier rounds were paid for too.
        for outcome in self._outcomes.earlier(ids):
            self._count_earlier(outcome)
        begun: list[str] = []
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            self._asked_before |= self._notice_begun(chunk)
            for outcome in self._outcomes.of(chunk):
                # What is not merged yet is collected as if it had ended just now.
                if not self._is_to_be_merged(outcome):
                    self._end(outcome, announce=False)
            for ticket_id in chunk:
                ending = self._outcomes.ending(ticket_id)
                if ending and ending.state is EndingState.LEFT_OUT:
                    self._leave_out(self._schedule.tickets[ticket_id], ending.text, announce=False)
                is_spread = ending is not None and ending.state is EndingState.SPREAD
                if is_spread or ticket_id in self._asked_before:
                    begun.append(ticket_id)
        while taken := [ticket_id for ticket_id in begun if self._schedule.take_up(ticket_id)]:
            for ticket_id in taken:
                self._start(self._schedule.tickets[ticket_id])

    def _count_earlier(self, outcome: TicketOutcome) -> None:
        self._ledger.spending.add(outcome)
        self._ledger.spending.earlier += outcome.cost or 0.0

    def _start(self, ticket: Ticket) -> None:
        if ticket.when and not self._is_met(ticket):
            return
        if ticket.kind is TicketKind.APPROVAL:
            self._outcomes.record(ticket.id, Ending(EndingState.WAITING))
            self._approvals.add(ticket.id)
            self._ledger.wait(ticket)
        elif ticket.for_each:
            self._spread(ticket)
        else:
            self._ask_worker(ticket)

    def _is_met(self, ticket: Ticket) -> bool:
        try:
            values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.when)
            if evaluate(ticket.when, values):
                return True
        except SandboxError as error:
            self._fail(ticket, f"its condition cannot be evaluated: {error}")
            return False
        reason = f"its condition is not met: {ticket.when}"
        ending = self._outcomes.record(ticket.id, Ending(EndingState.LEFT_OUT, reason))
        self._leave_out(ticket, ending.text)
        return False

    def _ask_worker(self, ticket: Ticket) -> None:
        conflict = self._outcomes.conflict(ticket.id)
        if conflict:
            self._again = ticket.id
        if ticket.id not in self._asked_before:
            try:
                self._enqueue(ticket, conflict)
            except (BudgetError, ConfigError, ScopeError) as error:
                if parent_of(ticket.id) == ticket.id:
                    raise
                # What a child asks for follows from an answer, so that it could not be checked before.
                self._fail(ticket, str(error))
                return
        self._asked[ticket.id] = None
        self._ledger.start(ticket, f"again, for others have changed {conflict}" if conflict else "")

    def _enqueue(self, ticket: Ticket, conflict: str) -> None:
        if parent_of(ticket.id) != ticket.id:
            self._contexts.check(ticket)
        waits_for = self._schedule.waits_for[ticket.id]
        results = self._outcomes.merge(waits_for, on_error=self._outcomes.run.on_error)
        key = self._outcomes.keys.of(ticket.id)
        context = self._contexts.context(ticket, results, key, asks=True)
        assignment = context.assignment
        if self._line is not None and ticket.tools:
            assignment = replace(assignment, base=self._line.head, folder=self._line.top.inside)
        if conflict:
            again = f"{assignment.message}\n\n{AGAIN.format(conflict)}"
            assignment = replace(assignment, message=again)
        context = replace(context, assignment=assignment)
        context.write_account(self._ledger.files.write_prompt(assignment))
        ahead = ticket.id in self._schedule.warming_up
        urgent = ahead or bool(waits_for)
        self._outcomes.queue.put(replace(assignment, ahead=ahead, urgent=urgent))

    def _spread(self, ticket: Ticket) -> None:
        """Make a ticket for each item of a list; a list that was spread before a restart stays what it was."""
        ending = self._outcomes.ending(ticket.id)
        if ending is None:
            try:
                values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.for_each)
                listed = json.dumps(items_of(evaluate(ticket.for_each, values), ticket))
            except (SandboxError, ValueError) as error:
                self._fail(ticket, str(error))
                return
            spread = Ending(EndingState.SPREAD, listed)
            ending = self._outcomes.record(ticket.id, spread)
        children = children_of(ticket, json.loads(ending.text))
        ids = [child.id for child in children]
        self._outcomes.add_children(ticket.id, children)
        self._schedule.add_children(ticket.id, children)
        self._open_children[ticket.id] = set(ids)
        self._ledger.start(ticket, f"{len(ids):,} children")
        self._collect_earlier(ids)
        self._end_parent(ticket.id)

    def _collect(self) -> bool:
        self._changed.clear()
        self._ledger.follow([self._schedule.tickets[ticket_id] for ticket_id in self._asked])
        warming_up = self._schedule.warming_up
        if warming_up:
            self._notice_begun(warming_up)
        if self._schedule.warming_up != warming_up:
            return True  # those that waited are enqueued before anything else is looked at
        outcomes = list(self._outcomes.of(self._asked))
        if self._approvals:
            self._outcomes.look()
            outcomes += self._outcomes.of(sorted(self._approvals))
        # The one that all others wait for goes first.
        outcomes.sort(key=lambda outcome: outcome.ticket != self._again)
        ended = [merged for outcome in outcomes if (merged := self._merged(outcome))]
        for outcome in ended:
            self._end(outcome, announce=True)
        return bool(ended)

    def _is_to_be_merged(self, outcome: TicketOutcome) -> bool:
        return self._line is not None and not self._line.holds(outcome.commit)

    def _merged(self, outcome: TicketOutcome) -> TicketOutcome | None:
        """Merge what a ticket has changed; return its outcome, or nothing where it waits for that or is run again."""
        ticket = self._schedule.tickets[outcome.ticket]
        earlier = self._outcomes.conflict(ticket.id)
        if self._is_to_be_merged(outcome) and self._again not in ("", ticket.id):
            return None
        conflicts = self._line.merge(ticket, outcome.commit) if self._line else ()
        if conflicts and not earlier:
            self._run_again(ticket, outcome, conflicts)
            return None
        if self._again == ticket.id:
            self._again = ""
        if conflicts:
            command = f"aggregate conduct diff {self._ledger.track.track_id} {ticket.id}"
            reason = (
                f"what it changed conflicts again with others, in {', '.join(conflicts)}: look at it with {command}, "
                "then retry it"
            )
            return replace(outcome, status=RunStatus.ERROR, text="", errors=(reason,))
        return outcome

    def _run_again(self, ticket: Ticket, outcome: TicketOutcome, conflicts: Sequence[str]) -> None:
        self._count_earlier(outcome)
        self._ledger.note_steps(ticket)
        self._outcomes.record(ticket.id, Ending(EndingState.CONFLICT, ", ".join(conflicts)))
        self._outcomes.next_round(ticket.id)
        self._asked_before -= {ticket.id}
        self._asked_before |= self._notice_begun([ticket.id])  # another process may have been first
        self._ask_worker(ticket)

    def _notice_begun(self, ids: Collection[str]) -> set[str]:
        """Tell the schedule whose answer has begun to come; return which of the tickets were enqueued."""
        keys = self._outcomes.keys
        known = self._outcomes.queue.known([keys.of(ticket_id) for ticket_id in ids])
        begun_by_id = {ticket_of(key): begun for key, begun in known.items()}
        for ticket_id, begun in begun_by_id.items():
            if begun:
                self._schedule.answer_begun(ticket_id)
        return set(begun_by_id)

    def _end(self, outcome: TicketOutcome, *, announce: bool) -> None:
        ticket = self._schedule.tickets[outcome.ticket]
        self._asked.pop(ticket.id, None)
        self._approvals.discard(ticket.id)
        skipped_before = len(self._schedule.skipped)
        ending = self._outcomes.ending(ticket.id)
        rejected = ending is not None and ending.state is EndingState.REJECTED
        failed = outcome.failure is not None
        self._schedule.end(ticket.id, failed=failed, rejected=rejected, asked=ending is None)
        self._ledger.end(ticket, outcome, announce=announce)
        for skipped_id, reason in list(self._schedule.skipped.items())[skipped_before:]:
            self._ledger.skip(self._schedule.tickets[skipped_id], reason)
        parent_id = parent_of(ticket.id)
        if parent_id != ticket.id:
            self._open_children[parent_id].discard(ticket.id)
            if announce:
                self._end_parent(parent_id)

    def _end_parent(self, parent_id: str) -> None:
        if self._open_children.get(parent_id) == set():
            del self._open_children[parent_id]
            for outcome in self._outcomes.of([parent_id]):
                self._end(outcome, announce=True)

    def _fail(self, ticket: Ticket, reason: str) -> None:
        ending = self._outcomes.record(ticket.id, Ending(EndingState.FAILED, reason))
        self._end(ending.outcome(ticket.id), announce=True)

    def _leave_out(self, ticket: Ticket, reason: str, *, announce: bool = True) -> None:
        self._schedule.end(ticket.id, failed=False, asked=False)
        self._ledger.leave_out(ticket, reason, announce=announce)

    def _close(self, *, cancelled: bool) -> TrackResult:
        self._outcomes.queue.cancel([self._outcomes.keys.of(each) for each in self._asked])
        tickets = self._schedule.tickets
        if cancelled:
            for ticket_id in self._asked:
                self._ledger.cancel(tickets[ticket_id])
        own = [ticket.id for ticket in self._outcomes.run.tickets]
        in_order = [
            tickets[each]
            for parent_id in own
            for each in (parent_id, *self._outcomes.children.get(parent_id, ()))
        ]
        return self._ledger.close(
            in_order,
            lambda ended: self._outcomes.merge(
                [each for each in own if each in ended], on_error=FailurePolicy.REPORT
            ),
            warnings=self._contexts.warnings,
            stopped="" if self._schedule.finished or cancelled else self._ledger.spending.reason,
            cancelled=cancelled,
        )
