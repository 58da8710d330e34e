"""Outcomes folded into variables: what the next worker is shown, and what the report holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from aggregate.conductor.assignment import TicketOutcome
from aggregate.conductor.tickets import Ticket
from aggregate.models.group import FailurePolicy, GroupStatus, MergeStrategy
from aggregate.models.result import AggregatedResult, LabelledOutput
from aggregate.results.merge import GroupOutcome, merge_outputs


def merge_outcomes(
    tickets: Sequence[Ticket], outcomes: Iterable[TicketOutcome], *, on_error: FailurePolicy = FailurePolicy.REPORT
) -> dict[str, AggregatedResult]:
    """Return one result per variable of the tickets that have an outcome, merged in the tickets' order (rule O-40).

    A ticket without a variable stands under its own id. Failed tickets are counted, and listed unless ``on_error`` is
    ``skip`` (rule O-48).

    Args:
        tickets: All tickets of the track: the first of a variable's that names a strategy decides it.
        outcomes: Of the tickets to fold, in any order.
        on_error: Whether failures are listed.
    """
    ended = {outcome.ticket: outcome for outcome in outcomes}
    members: dict[str, list[Ticket]] = {}
    for ticket in tickets:
        if ticket.id in ended:
            members.setdefault(ticket.variable, []).append(ticket)
    return {name: _merged(name, group, tickets, ended, on_error) for name, group in members.items()}


def _merged(
    name: str,
    group: Sequence[Ticket],
    tickets: Sequence[Ticket],
    ended: Mapping[str, TicketOutcome],
    on_error: FailurePolicy,
) -> AggregatedResult:
    chosen = next((one for one in tickets if one.collect_into == name and one.merge_strategy), None)
    alone = MergeStrategy.CONCAT if name.startswith("$") else MergeStrategy.FIRST
    strategy = (chosen.merge_strategy if chosen else None) or alone
    outputs = [LabelledOutput(ended[one.id].text, one.id, one.id, ended[one.id].failure) for one in group]
    ending = GroupOutcome(name, GroupStatus.COMPLETE, None, on_error is not FailurePolicy.SKIP)
    result = merge_outputs(outputs, strategy, custom_function=chosen.custom_function if chosen else None, ending=ending)
    doubtful = (f"{one.id}: {ended[one.id].warning}" for one in group if ended[one.id].warning)
    return replace(result, warnings=(*doubtful, *result.warnings))
