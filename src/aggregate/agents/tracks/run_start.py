"""How a run begins: a new one whose tickets were checked, or the latest one gone on with."""

from collections.abc import Callable, Mapping

from aggregate.agents.tracks.checkboxes import Checkbox
from aggregate.agents.tracks.cost_limits import check_prices
from aggregate.agents.tracks.durable.database import Engine
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue
from aggregate.agents.tracks.durable.ending_table import EndingTable
from aggregate.agents.tracks.durable.run_lease import is_conducted
from aggregate.agents.tracks.durable.run_table import RUNNING, RunRow, RunTable
from aggregate.agents.tracks.fan_out import without_items
from aggregate.agents.tracks.past_run import PastRun
from aggregate.agents.tracks.run_files import last_number
from aggregate.agents.tracks.run_options import RunOptions
from aggregate.agents.tracks.tickets import Tickets
from aggregate.agents.tracks.track import Track
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.errors import TrackError
from aggregate.base.text import first_of

NOTHING_TO_RESUME = "no run to resume: all are over; begin one with aggregate conduct run"
MOST_NAMED = 10
"""Tickets that are named in a sentence."""


def begin_or_resume(
    engine: Engine,
    runs: RunTable,
    track: Track,
    contexts: WorkerContexts,
    *,
    options: RunOptions,
    tell: Callable[[str], None],
) -> RunRow:
    """Return the track's unfinished run, its latest one with failures, or a new one whose tickets were checked."""
    tickets = track.tickets()
    if options.on_error:
        tickets = tickets.model_copy(update={"on_error": options.on_error})
    # Read before the database: if another process begins a run meanwhile, both take the same
    # number, and thus its run.
    last_in_files = last_number(contexts.output_dir, track.track_id)
    run = runs.latest()
    if run is not None:
        run.require_readable()
    if run is not None and (options.resume or options.retry or run.state == RUNNING):
        check_prices(run.tickets, contexts, max_cost=options.max_cost)
        return _go_on(engine, runs, run, tickets, options=options, tell=tell)
    if options.resume or options.retry:
        raise TrackError(f"{track.track_id}: {NOTHING_TO_RESUME}")
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    check_prices(tickets, contexts, max_cost=options.max_cost)
    track.mark_plan({(ticket.id, ticket.name): Checkbox.OPEN for ticket in tickets.tickets})
    last_in_database = run.number if run else 0
    return runs.begin(tickets, max(last_in_files, last_in_database) + 1)


def _go_on(
    engine: Engine,
    runs: RunTable,
    run: RunRow,
    tickets: Tickets,
    *,
    options: RunOptions,
    tell: Callable[[str], None],
) -> RunRow:
    """Let a run go on, and what failed in it, or is named, be run once more."""
    again: Mapping[str, int] = {}
    if (options.resume or options.retry) and not (
        run.state == RUNNING and is_conducted(engine, run.run_id)
    ):
        endings = EndingTable(engine, run.run_id)
        past = PastRun(run.tickets, DbosQueue(engine), endings)
        again = past.named(options.retry, only=options.only) if options.retry else past.failed()
        if run.state != RUNNING and not again and past.is_over():
            raise TrackError(f"{run.run_id}: {NOTHING_TO_RESUME}")
        endings.raise_rounds(again)
    elif options.retry:
        raise TrackError(f"{run.run_id} is under way: wait for its end, or cancel it")
    tell(f"going on with {run.run_id}")
    if again:
        tell(f"once more: {', '.join(first_of(list(again), MOST_NAMED, 80))}")
    if run.tickets != tickets:
        tell(
            "its tickets were others when it began: it goes on with these; aggregate conduct cancel ends it"
        )
    return run if run.state == RUNNING else runs.reopen(run)
