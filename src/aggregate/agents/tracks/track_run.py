"""One run of a track: enqueue ready tickets, collect their outcomes, until all have ended.

A ticket's way: it starts when what it waits for has ended and its condition is met; a worker or a person is asked, or
it is spread over children; its end is written, counted, told, and heard by those that depend on it.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event
from time import monotonic

from aggregate.agents.subagents import FailurePolicy
from aggregate.agents.tracks.assignment import Ending, EndingState, TicketOutcome, ticket_of
from aggregate.agents.tracks.run_files import (
    PollingOptions,
    ReportLine,
    RunFiles,
    TicketEvent,
    TicketState,
    TrackResult,
    report_text,
)
from aggregate.agents.tracks.run_outcomes import CHUNK, RunOutcomes
from aggregate.agents.tracks.tickets import (
    Ticket,
    TicketKind,
    children_of,
    evaluate,
    is_met,
    items_of,
    parent_of,
)
from aggregate.agents.tracks.track import Checkbox, Track, TrackStatus
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.errors import BudgetError, ConfigError, SandboxError, ScopeError

_ROUNDING = 1e-9


@dataclass(slots=True)
class Spending:
    """Counts what tickets cost, and how many more may be begun.

    What a ticket will cost is not known before: each that is under way is taken for as dear as the dearest so far, and
    the first one goes alone.
    """

    limit: float | None = None
    spent: float = 0.0  # on failed attempts and earlier rounds too
    earlier: float = 0.0  # what of it earlier rounds have cost
    dearest: float = 0.0
    unpriced: str = ""  # a ticket whose price is not known: with it no limit can be kept
    _any: bool = False

    def add(self, outcome: TicketOutcome) -> None:
        if outcome.cost is None:
            # Where there are neither tokens nor an answer, nobody may have been reached.
            if not self.unpriced and (outcome.tokens > 0 or outcome.failure is None):
                self.unpriced = outcome.ticket
            return
        self._any = True
        self.spent += outcome.cost
        self.dearest = max(self.dearest, outcome.cost)

    def room(self, most: int, under_way: int) -> int:
        """Return how many more tickets may be asked for, ``most`` where nothing is limited; none for less than 1."""
        if self.limit is None:
            return most
        if self.reason:
            return 0
        if not self._any:
            return min(most, 1 - under_way)
        return min(most, self._affordable(self.limit) - under_way) if self.dearest else most

    @property
    def reason(self) -> str:
        if self.limit is None:
            return ""
        if self.unpriced:
            return f'the price of what "{self.unpriced}" asked is not known, so that max_cost cannot be kept'
        if self.dearest and self._affordable(self.limit) < 1:
            return (
                f"of max_cost, ${self.limit:g}, ${self.spent:.4f} is spent, and what is left may not pay for another: "
                f"the dearest ticket took ${self.dearest:.4f}"
            )
        return ""

    def _affordable(self, limit: float) -> int:
        # Sums of cents are no whole cents: a rounding error keeps nobody from what is paid for.
        return int((limit - self.spent) / self.dearest + _ROUNDING)


USUAL = PollingOptions()
LAID_DOWN = 4  # tickets between two looks at the queue, which cost about as much as one
# Between two looks whether a person has decided, where nothing else is waited for.
DECISION_SECONDS = 0.2
MARK_SECONDS = 0.5  # between two writings of the plan's checkboxes, which a person looks at


class TrackRun:
    """A run of a track's tickets over a queue.

    It keeps no state that the queue does not have: started again after a kill it finds what has ended and what was
    enqueued, and goes on. Prompts are written before they are enqueued and replies when they are collected, under names
    that a second writing repeats, so each ticket is in the files exactly once. ``changed`` is set when an answer has
    ended or begun in this process; what other processes do is seen by looking.
    """

    def __init__(
        self,
        track: Track,
        outcomes: RunOutcomes,
        *,
        contexts: WorkerContexts,
        files: RunFiles,
        polling: PollingOptions = USUAL,
        max_cost: float | None = None,
        observe: Callable[[TicketEvent], None] = lambda _event: None,
        cancelled: Callable[[], bool] = lambda: False,
        changed: Event | None = None,
    ) -> None:
        self._track = track
        self._outcomes = outcomes
        self._tickets = outcomes.run
        self._queue, self._keys = outcomes.queue, outcomes.keys
        self._contexts = contexts
        self._files = files
        self._polling = polling
        self._observe = observe
        self._cancelled = cancelled
        self._changed = changed or Event()
        self._schedule = contexts.schedule(self._tickets, warm_up=polling.warm_up)
        self._spending = Spending(max_cost)
        self._lines: dict[str, ReportLine] = {}
        # What is in the queue: approvals and lists are under way too, but not there.
        self._asked: dict[str, None] = {}
        self._asked_before: set[str] = set()
        self._approvals: set[str] = set()
        self._open_children: dict[str, set[str]] = {}
        self._marks: dict[tuple[str, str], Checkbox] = {}
        self._marked_at = 0.0

    def run(self) -> TrackResult:
        self._track.set_status(TrackStatus.IN_PROGRESS, datetime.now(UTC))
        self._collect_earlier([ticket.id for ticket in self._tickets.tickets])
        laid_down = 0
        while not self._schedule.finished:
            if self._cancelled():
                return self._close(cancelled=True)
            if self._spending.reason and not self._asked:
                break
            room = self._spending.room(self._polling.window - len(self._asked), len(self._asked))
            started = self._schedule.start(min(room, 1))
            for ticket in started:
                self._start(ticket)
                laid_down += 1
            if not started or laid_down >= LAID_DOWN:
                laid_down = 0
                if not self._collect() and not started:
                    # What ends or begins here is heard of at once, the rest at the next look.
                    self._changed.wait(self._polling.poll if self._asked else DECISION_SECONDS)
            self._write_marks()
        return self._close(cancelled=False)

    def _collect_earlier(self, ids: Sequence[str]) -> None:
        """Collect what ended before a restart, which nobody hears of again, and take up what was under way.

        That is taken up whatever room there is: it is paid for, or will be.
        """
        # Earlier rounds were paid for too.
        earlier = [key for ticket_id in ids for key in self._keys.earlier(ticket_id)]
        for outcome in self._queue.outcomes(earlier).values():
            self._spending.add(outcome)
            self._spending.earlier += outcome.cost or 0.0
        begun: list[str] = []
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            self._asked_before |= self._notice_begun(chunk)
            for outcome in self._outcomes.of(chunk):
                self._files.write_reply(outcome)  # the last process may have been killed before
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

    def _start(self, ticket: Ticket) -> None:
        if ticket.when and not self._is_met(ticket):
            return
        self._mark(ticket, Checkbox.STARTED)
        if ticket.kind is TicketKind.APPROVAL:
            self._outcomes.record(ticket.id, Ending(EndingState.WAITING))
            self._approvals.add(ticket.id)
            command = f"aggregate conduct approve {self._track.track_id} {ticket.id}"
            self._observe(TicketEvent(ticket, TicketState.WAITING, command))
        elif ticket.for_each:
            self._spread(ticket)
        else:
            self._ask_worker(ticket)

    def _is_met(self, ticket: Ticket) -> bool:
        try:
            values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.when)
            if is_met(ticket.when, values):
                return True
        except SandboxError as error:
            self._fail(ticket, f"its condition cannot be evaluated: {error}")
            return False
        reason = f"its condition is not met: {ticket.when}"
        ending = self._outcomes.record(ticket.id, Ending(EndingState.LEFT_OUT, reason))
        self._leave_out(ticket, ending.text)
        return False

    def _ask_worker(self, ticket: Ticket) -> None:
        if ticket.id not in self._asked_before:
            is_child = parent_of(ticket.id) != ticket.id
            try:
                if is_child:
                    self._contexts.check(ticket)
                waits_for = self._schedule.waits_for[ticket.id]
                results = self._outcomes.merge(waits_for, on_error=self._tickets.on_error)
                assignment = self._contexts.assignment(ticket, results, self._keys.of(ticket.id))
            except (BudgetError, ConfigError, ScopeError) as error:
                if not is_child:
                    raise
                # What a child asks for follows from an answer, so that it could not be checked before.
                self._fail(ticket, str(error))
                return
            self._contexts.write_account(self._files.write_prompt(assignment), assignment)
            ahead = ticket.id in self._schedule.warming_up
            self._queue.put(replace(assignment, ahead=ahead, urgent=ahead or bool(waits_for)))
        self._asked[ticket.id] = None
        self._observe(TicketEvent(ticket, TicketState.STARTED))

    def _spread(self, ticket: Ticket) -> None:
        """Make a ticket for each item of a list; a list that was spread before a restart stays what it was."""
        ending = self._outcomes.ending(ticket.id)
        if ending is None:
            try:
                values = self._outcomes.values(self._schedule.waits_for[ticket.id], ticket.for_each)
                items = items_of(evaluate(ticket.for_each, values), ticket)
            except (SandboxError, ValueError) as error:
                self._fail(ticket, str(error))
                return
            spread = Ending(EndingState.SPREAD, json.dumps(items))
            ending = self._outcomes.record(ticket.id, spread)
        children = children_of(ticket, json.loads(ending.text))
        ids = [child.id for child in children]
        self._outcomes.add_children(ticket.id, children)
        self._schedule.add_children(ticket.id, children)
        self._open_children[ticket.id] = set(ids)
        self._observe(TicketEvent(ticket, TicketState.STARTED, f"{len(ids):,} children"))
        self._collect_earlier(ids)
        self._end_parent(ticket.id)

    def _collect(self) -> bool:
        self._changed.clear()
        warming_up = self._schedule.warming_up
        if warming_up:
            self._notice_begun(warming_up)
        if self._schedule.warming_up != warming_up:
            return True  # those that waited are enqueued before anything else is looked at
        outcomes = list(self._outcomes.of(self._asked))
        if self._approvals:
            self._outcomes.look()
            outcomes += self._outcomes.of(sorted(self._approvals))
        for outcome in outcomes:
            self._write_and_end(outcome)
        return bool(outcomes)

    def _notice_begun(self, ids: Collection[str]) -> set[str]:
        """Tell the schedule whose answer has begun to come; return which of the tickets were enqueued."""
        known = self._queue.known([self._keys.of(ticket_id) for ticket_id in ids])
        begun_by_id = {ticket_of(key): begun for key, begun in known.items()}
        for ticket_id, begun in begun_by_id.items():
            if begun:
                self._schedule.answer_begun(ticket_id)
        return set(begun_by_id)

    def _write_and_end(self, outcome: TicketOutcome) -> None:
        self._files.write_reply(outcome)
        self._end(outcome, announce=True)

    def _end(self, outcome: TicketOutcome, *, announce: bool) -> None:
        ticket = self._schedule.tickets[outcome.ticket]
        self._asked.pop(ticket.id, None)
        self._approvals.discard(ticket.id)
        failed = outcome.failure is not None
        if ticket.asks:
            self._spending.add(outcome)
        self._mark(ticket, Checkbox.OPEN if failed else Checkbox.DONE)
        skipped_before = len(self._schedule.skipped)
        ending = self._outcomes.ending(ticket.id)
        rejected = ending is not None and ending.state is EndingState.REJECTED
        self._schedule.end(ticket.id, failed=failed, rejected=rejected, asked=ending is None)
        line = self._lines[ticket.id] = ReportLine.of(ticket, outcome)
        if announce:
            state = TicketState.FAILED if failed else TicketState.DONE
            self._observe(TicketEvent(ticket, state, outcome.failure or "", line))
        for skipped_id, reason in list(self._schedule.skipped.items())[skipped_before:]:
            skipped = self._schedule.tickets[skipped_id]
            self._lines[skipped_id] = ReportLine(skipped, errors=(reason,))
            self._observe(TicketEvent(skipped, TicketState.SKIPPED, reason))
        parent_id = parent_of(ticket.id)
        if parent_id != ticket.id:
            self._open_children[parent_id].discard(ticket.id)
            if announce:
                self._end_parent(parent_id)

    def _end_parent(self, parent_id: str) -> None:
        if self._open_children.get(parent_id) == set():
            del self._open_children[parent_id]
            for outcome in self._outcomes.of([parent_id]):
                self._write_and_end(outcome)

    def _fail(self, ticket: Ticket, reason: str) -> None:
        ending = self._outcomes.record(ticket.id, Ending(EndingState.FAILED, reason))
        self._write_and_end(ending.outcome(ticket.id))

    def _leave_out(self, ticket: Ticket, reason: str, *, announce: bool = True) -> None:
        self._schedule.end(ticket.id, failed=False, asked=False)
        self._mark(ticket, Checkbox.OPEN)
        self._lines[ticket.id] = ReportLine(ticket, errors=(reason,), left_out=True)
        if announce:
            self._observe(TicketEvent(ticket, TicketState.LEFT_OUT, reason))

    def _mark(self, ticket: Ticket, checkbox: Checkbox) -> None:
        if parent_of(ticket.id) == ticket.id:  # children of a list stand in no plan
            self._marks[ticket.id, ticket.name] = checkbox

    def _write_marks(self, *, last: bool = False) -> None:
        if self._marks and (last or monotonic() - self._marked_at >= MARK_SECONDS):
            self._track.mark_plan(self._marks)
            self._marks.clear()
            self._marked_at = monotonic()

    def _close(self, *, cancelled: bool) -> TrackResult:
        self._queue.cancel([self._keys.of(ticket_id) for ticket_id in self._asked])
        result = self._write_report(cancelled=cancelled)
        if not self._schedule.finished and not cancelled:
            result = replace(result, stopped=self._spending.reason)
        for ticket_id in self._schedule.under_way:
            self._mark(self._schedule.tickets[ticket_id], Checkbox.OPEN)
        self._write_marks(last=True)
        self._track.set_status(result.track_status, datetime.now(UTC))
        return result

    def _write_report(self, *, cancelled: bool) -> TrackResult:
        reason = f"not run: {self._spending.reason or 'cancelled'}"
        own = [ticket.id for ticket in self._tickets.tickets]
        lines = tuple(
            self._lines.get(each) or ReportLine(self._schedule.tickets[each], errors=(reason,))
            for parent_id in own
            for each in (parent_id, *self._outcomes.children.get(parent_id, ()))
        )
        ended = {line.ticket.id for line in lines if line.status is not None}
        results = self._outcomes.merge(
            [each for each in own if each in ended], on_error=FailurePolicy.REPORT
        )
        text = report_text(
            self._track.description,
            lines,
            results,
            self._contexts.warnings,
            names=self._files.names,
            waits_for=self._schedule.waits_for,
            earlier_cost=self._spending.earlier,
        )
        # A result's errors beyond those of its failed tickets are the merging's own.
        unmerged = [name for name, merged in results.items() if len(merged.errors) > merged.failed]
        return TrackResult(self._files.write_report(text), lines, cancelled, tuple(unmerged))
