"""What a run would do, without doing it."""

from collections.abc import Mapping
from dataclasses import dataclass

from aggregate.conductor.assignment import Assignment
from aggregate.conductor.merge_outcomes import merge_outcomes
from aggregate.conductor.schedule import Schedule
from aggregate.conductor.tickets import Ticket, Tickets
from aggregate.conductor.worker_context import WorkerContexts
from aggregate.tokens.count import count


@dataclass(frozen=True, slots=True)
class PreviewStep:
    """A ticket in the order of a run.

    Attributes:
        wave: Tickets of one wave can run at one time; the first is 1.
        ticket: The ticket.
        waits_for: The tickets whose results it is shown.
        assignment: What its worker would get, without these results.
        tokens: Of that.
    """

    wave: int
    ticket: Ticket
    waits_for: tuple[str, ...]
    assignment: Assignment
    tokens: int


def preview(tickets: Tickets, contexts: WorkerContexts, *, warm_up: bool = True) -> list[PreviewStep]:
    """Return the steps of a run in which every ticket succeeds, in order.

    Raises:
        ConfigError: A focus file is missing.
    """
    any_focus = contexts.share(tickets.tickets)
    schedule = Schedule(tickets.tickets, on_error=tickets.on_error, warm_up=warm_up, any_focus=any_focus)
    steps: list[PreviewStep] = []
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            contexts.check(ticket)
            steps.append(_step(wave, ticket, schedule.waits_for, contexts))
            schedule.end(ticket.id, failed=False)
    return steps


def _step(wave: int, ticket: Ticket, waits_for: Mapping[str, tuple[str, ...]], contexts: WorkerContexts) -> PreviewStep:
    assignment = contexts.assignment(ticket, merge_outcomes((), ()), ticket.id)
    return PreviewStep(wave, ticket, waits_for[ticket.id], assignment, count(assignment.text))
