"""Outcomes merged into variables: what the next worker is shown, and what the report holds."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aggregate.agents.results.merge import GroupOutcome, merge_outputs
from aggregate.agents.tracks.assignment import TicketOutcome
from aggregate.agents.tracks.tickets import Ticket
from aggregate.base.values import (
    AggregatedResult,
    FailurePolicy,
    GroupStatus,
    LabelledOutput,
    MergeStrategy,
)


def merge_outcomes(
    tickets: Sequence[Ticket],
    outcomes: Iterable[TicketOutcome],
    *,
    on_error: FailurePolicy = FailurePolicy.REPORT,
) -> dict[str, AggregatedResult]:
    """Return one result per variable of the tickets that have an outcome, merged in the tickets' order (rule O-40).

    A ticket without a variable stands under its own id. Failed tickets are counted, and listed unless ``on_error`` is
    ``skip`` (rule O-48).

    Args:
        tickets: All tickets of the track: the first of a variable's that names a strategy decides it.
        outcomes: Of the tickets to merge, in any order.
        on_error: Whether failures are listed.
    """
    by_ticket = {outcome.ticket: outcome for outcome in outcomes}
    members: dict[str, list[TicketOutcome]] = {}
    for ticket in tickets:
        if ticket.id in by_ticket:
            members.setdefault(ticket.variable, []).append(by_ticket[ticket.id])
    return {name: _merge(name, group, tickets, on_error) for name, group in members.items()}


def _merge(
    name: str, outcomes: Sequence[TicketOutcome], tickets: Sequence[Ticket], on_error: FailurePolicy
) -> AggregatedResult:
    """Return the value of the variable ``name``, or of a ticket without one, which stands alone."""
    strategy = MergeStrategy.CONCAT if name.startswith("$") else MergeStrategy.FIRST
    custom_function: str | None = None
    for ticket in tickets:
        if ticket.collect_into == name and ticket.merge_strategy:
            strategy, custom_function = ticket.merge_strategy, ticket.custom_function
            break
    outputs = [
        LabelledOutput(
            outcome.text, label=outcome.ticket, run_id=outcome.ticket, error=outcome.failure
        )
        for outcome in outcomes
    ]
    ending = GroupOutcome(name, GroupStatus.COMPLETE, None, on_error is not FailurePolicy.SKIP)
    result = merge_outputs(outputs, strategy, custom_function=custom_function, ending=ending)
    warnings = [f"{outcome.ticket}: {outcome.warning}" for outcome in outcomes if outcome.warning]
    return replace(result, warnings=(*warnings, *result.warnings))
