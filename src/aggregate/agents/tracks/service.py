"""Begin or continue a track's run, up to its report."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event

from aggregate.agents.tracks.attempt import LEASE_SECONDS, AnyWorker
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue, open_database
from aggregate.agents.tracks.durable.run_database import database_url, locate_database
from aggregate.agents.tracks.durable.run_records import (
    CANCELLED,
    FINISHED,
    RUNNING,
    Run,
    Runs,
    conducting,
)
from aggregate.agents.tracks.durable.worker_process import WorkerProcess
from aggregate.agents.tracks.ledger import RunLedger, TicketEvent
from aggregate.agents.tracks.merged_changes import Line, locate_top
from aggregate.agents.tracks.outcomes import RunOutcomes
from aggregate.agents.tracks.report import RunFiles, TrackResult, last_number
from aggregate.agents.tracks.run_control import PastRun
from aggregate.agents.tracks.tickets import without_items
from aggregate.agents.tracks.track import Track, open_track
from aggregate.agents.tracks.track_run import USUAL, RunOptions, TrackRun
from aggregate.agents.tracks.work_trees import depot
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.agents.tracks.worker_terms import check_prices
from aggregate.base.errors import TrackError
from aggregate.base.json_forms import first_of
from aggregate.project.configuration import Project

NOTHING_TO_RESUME = "no run to resume: all have ended; begin one with aggregate conduct run"
MOST_NAMED = 10  # tickets in a sentence


def conduct(
    project: Project,
    name: str,
    worker: AnyWorker | None,
    *,
    options: RunOptions = USUAL,
    observe: Callable[[TicketEvent], None] = lambda _event: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> TrackResult:
    """Run a track's tickets and write the report.

    An unfinished run is continued.

    Args:
        project: The project.
        name: The track's id or its beginning.
        worker: The worker of this process; ``None`` leaves the work to other processes on the same database.
        options: The database, limits and tickets to retry.
        observe: Called at every change of a ticket.
        tell: Called with messages to the user.

    Raises:
        TrackError: There is no such track, or with ``resume`` no run to continue.
        ConfigError: The tickets cannot be run as they are; nothing was started.
        StateError: The database cannot be used.
    """
    track = open_track(project.folder, name)
    terms = options.terms or getattr(worker, "terms", None)
    contexts = WorkerContexts(project, track=track, terms=terms)
    with ExitStack() as stack:
        engine = stack.enter_context(open_database(locate_database(project, options.database)))
        runs = Runs.of(engine, project, track.track_id)
        run = _begin(runs, track, contexts, options, tell)
        changed = stack.enter_context(_work(run, worker, options, tell))
        outcomes = RunOutcomes(run.tickets, DbosQueue(engine), run, changed)
        line = stack.enter_context(_line(run, track, contexts, tell))
        files = RunFiles.of(contexts.output_dir, track.track_id, run.number, outcomes.run.tickets)
        ledger = RunLedger(track, files, outcomes, observe=observe, max_cost=options.max_cost)
        result = TrackRun(outcomes, contexts, ledger, line, options).run()
        run.end(CANCELLED if result.cancelled else FINISHED)
        return result


@contextmanager
def _work(
    run: Run, worker: AnyWorker | None, options: RunOptions, tell: Callable[[str], None]
) -> Iterator[Event]:
    """Conduct a run and work on tickets during the block.

    Yield the event set at each change of a ticket.
    """

    def away(reason: str) -> None:
        tell(f"waiting for the database ({reason})")

    changed, engine, lease = Event(), run.engine, options.lease
    with ExitStack() as stack:
        # A worker in this process hears of the same failures.
        alone = {"away": away} if worker is None else {}
        stack.enter_context(conducting(engine, run.run_id, lease=lease, **alone))
        if options.concurrency is not None:
            DbosQueue(engine).set_concurrency(options.concurrency)
        if worker is not None:
            process = WorkerProcess(engine, worker, lease=lease, changed=changed, away=away)
            stack.enter_context(process)
        yield changed


@contextmanager
def _line(
    run: Run, track: Track, contexts: WorkerContexts, tell: Callable[[str], None]
) -> Iterator[Line | None]:
    """Yield the line of merged changes, ``None`` if no ticket changes files."""
    if not any(ticket.changes_files for ticket in run.tickets.tickets):
        yield None
        return
    top = locate_top(contexts.project.folder)
    is_own = contexts.own_outputs(top.folder)
    with depot(run.packs) as repository:
        yield Line.begin(top, track.track_id, repository, is_own=is_own, tell=tell)


def _begin(
    runs: Runs,
    track: Track,
    contexts: WorkerContexts,
    options: RunOptions,
    tell: Callable[[str], None],
) -> Run:
    """Return the track's run to continue, or a new run."""
    tickets = track.tickets()
    # Read before the database: if another process begins a run meanwhile, both take the same
    # number, and thus its run.
    last_in_files = last_number(contexts.output_dir, track.track_id)
    run = runs.latest()
    asks_for_latest = options.resume or bool(options.retry)
    if run is not None and (asks_for_latest or run.state == RUNNING):
        check_prices(run.tickets, contexts.asks, max_cost=options.max_cost)
        run = _continued(run, options, tell)
        if run.tickets != tickets:
            tell(
                "its tickets have changed since it began: it continues with the old ones; "
                "aggregate conduct cancel ends it"
            )
        return run
    if asks_for_latest:
        raise TrackError(f"{track.track_id}: {NOTHING_TO_RESUME}")
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    check_prices(tickets, contexts.asks, max_cost=options.max_cost)
    return runs.begin(tickets, max(last_in_files, run.number if run else 0) + 1)


def _continued(run: Run, options: RunOptions, tell: Callable[[str], None]) -> Run:
    is_running = run.state == RUNNING
    again: list[str] = []
    if (options.resume or options.retry) and not run.is_conducted:
        past = PastRun(run)
        again = past.named(options.retry) if options.retry else past.failed()
        if not is_running and not again and past.is_over():
            raise TrackError(f"{run.run_id}: {NOTHING_TO_RESUME}")
        run.retry(past.outcomes.keys(again))
    elif options.retry:
        raise TrackError(f"{run.run_id} is under way: wait for its end, or cancel it")
    tell(f"continuing {run.run_id}")
    if again:
        tell(f"once more: {', '.join(first_of(again, MOST_NAMED, 80))}")
    return run if is_running else run.reopen()


@contextmanager
def run_worker(
    database: str, worker: AnyWorker, *, lease: float = LEASE_SECONDS
) -> Iterator[WorkerProcess]:
    """Answer tickets of all tracks on ``database`` during the block."""
    with (
        open_database(database_url(database)) as engine,
        WorkerProcess(engine, worker, lease=lease) as process,
    ):
        yield process
