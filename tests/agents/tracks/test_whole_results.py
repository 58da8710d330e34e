"""What workers returned, in the context of the ticket that depends on them."""

from pathlib import Path

import pytest

from aggregate import count, open_project
from aggregate.agents.tracks import (
    Assignment,
    Ticket,
    TicketOutcome,
    TicketStatus,
    WorkerContexts,
    WorkerTerms,
    worker_tools,
)
from aggregate.agents.tracks.outcomes import merge_outcomes
from tests.fakes.acting import Turns, call, calls
from tests.fakes.conducting import asking, attempted, track_project
from tests.fakes.transports import scripted

MARK = "The bug is in line 17."


def review(number: int, size: int) -> TicketOutcome:
    """Return a review of about ``size`` bytes, whose middle names the bug."""
    half = "A finding that fills a line.\n" * (size // 58)
    text = f"Review {number}.\n{half}{MARK}\n{half}End of review {number}."
    return TicketOutcome.without_worker(f"review-{number}", TicketStatus.DONE, text)


def judged(tmp_path: Path, outcomes: list[TicketOutcome], **fields: object) -> Assignment:
    """Return what a ticket that depends on these outcomes is given."""
    folder = track_project(tmp_path, "tickets = []\n")
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"))
    tickets = [Ticket(id=one.ticket, prompt="Review.", collect_into="$reviews") for one in outcomes]
    judge = Ticket.model_validate(
        {"id": "judge", "prompt": "Judge.", "depends_on": ["$reviews"], **fields}
    )
    contexts.share([*tickets, judge])
    return contexts.assignment(judge, merge_outcomes(tickets, outcomes), "demo/1/judge")


@pytest.mark.parametrize(
    ("number", "size", "budget"), [(8, 800, None), (8, 800, 32_000), (3, 3_000, 16_000)]
)
def test_results_arrive_whole(tmp_path: Path, number: int, size: int, budget: int | None) -> None:
    """Every review stands in full under its producer's name (F-11, F-12)."""
    outcomes = [review(each, size) for each in range(number)]
    text = judged(tmp_path, outcomes, budget=budget).prompt.markdown
    assert all(f"#### {one.ticket}\n\n```text\n{one.text}\n```" in text for one in outcomes)


@pytest.mark.parametrize("tools", [(), ("read_file",)])
def test_what_is_cut_can_be_read_by_tickets_with_tools(
    tmp_path: Path, tools: tuple[str, ...]
) -> None:
    """All reviews are named within the budget; the assignment has whole texts only for a reader with tools (F-11, F-12)."""
    outcomes = [review(each, 2_000) for each in range(200)]
    assignment = judged(tmp_path, outcomes, budget=16_000, tools=tools)
    text = assignment.prompt.markdown
    assert 13_000 < count(assignment.text) <= 16_000
    assert all(one.ticket in text for one in outcomes)
    assert ("read_result" in text) is bool(tools)
    cut = {one.ticket: one.text for one in outcomes if one.text not in text}
    assert assignment.whole_results == (cut if tools else {})
    assert Assignment.from_json(assignment.to_json(), assignment.prompt) == assignment


def test_read_result_reads_on(tmp_path: Path) -> None:
    """The call that the mark names shows what is missing, without a file (F-12)."""
    assignment = judged(tmp_path, [review(1, 30_000)], budget=2_000, tools=("read_file",))
    assert MARK not in assignment.text
    read_on = call("read_result", reference="review-1", start=12_000)
    model = Turns([calls(read_on), "I have read it."])
    terms = WorkerTerms(tools=worker_tools(tmp_path))
    attempted(asking(scripted(model, "scripted"), terms=terms), assignment)
    assert MARK in model.told[0]
