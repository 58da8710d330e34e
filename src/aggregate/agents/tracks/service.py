"""Begin or continue a track's run, up to its report."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Event

from aggregate.agents.tracks.durable.backend import conducting, is_conducted
from aggregate.agents.tracks.durable.database import (
    Engine,
    database_url,
    locate_database,
    project_name,
)
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue, open_database
from aggregate.agents.tracks.durable.run_table import (
    CANCELLED,
    FINISHED,
    RUNNING,
    EndingTable,
    PackTable,
    RunRow,
    RunTable,
)
from aggregate.agents.tracks.durable.worker_process import WorkerProcess
from aggregate.agents.tracks.line import Line
from aggregate.agents.tracks.run_control import PastRun
from aggregate.agents.tracks.run_files import (
    LEASE_SECONDS,
    RunFiles,
    RunOptions,
    TicketEvent,
    TrackResult,
    last_number,
)
from aggregate.agents.tracks.run_ledger import RunLedger
from aggregate.agents.tracks.run_outcomes import RunOutcomes
from aggregate.agents.tracks.terms import check_prices
from aggregate.agents.tracks.tickets import Tickets, without_items
from aggregate.agents.tracks.track import Track, open_track
from aggregate.agents.tracks.track_run import TrackRun
from aggregate.agents.tracks.trees import depot
from aggregate.agents.tracks.worker import AnyWorker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.agents.tracks.working_state import locate_top
from aggregate.base.errors import TrackError
from aggregate.base.json_forms import first_of
from aggregate.project.configuration import Project

NOTHING_TO_RESUME = "no run to resume: all have ended; begin one with aggregate conduct run"
MOST_NAMED = 10  # tickets in a sentence
USUAL = RunOptions()


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
        table = RunTable(engine, project_name(project), track.track_id)
        run = _begin_or_resume(engine, table, track, contexts, options=options, tell=tell)
        changed = stack.enter_context(_work(engine, run, worker, options, tell))
        endings = EndingTable(engine, run.run_id)
        outcomes = RunOutcomes(
            run.tickets,
            queue=DbosQueue(engine),
            keys=endings.keys(),
            endings=endings,
            is_cancelled=lambda: table.state(run) == CANCELLED,
            changed=changed,
        )
        line = stack.enter_context(_line(engine, run, track, project, contexts, tell))
        files = RunFiles.of(contexts.output_dir, track.track_id, run.number, outcomes.run.tickets)
        ledger = RunLedger(track, files, outcomes, observe=observe, max_cost=options.max_cost)
        result = TrackRun(outcomes, contexts, ledger, line, options.polling).run()
        table.set_state(run, CANCELLED if result.cancelled else FINISHED)
        return result


@contextmanager
def _work(
    engine: Engine,
    run: RunRow,
    worker: AnyWorker | None,
    options: RunOptions,
    tell: Callable[[str], None],
) -> Iterator[Event]:
    """Conduct a run and work on tickets during the block.

    Yield the event set at each change of a ticket.
    """

    def away(reason: str) -> None:
        tell(f"waiting for the database ({reason})")

    changed = Event()
    with ExitStack() as stack:
        # A worker in this process hears of the same failures.
        alone = {"away": away} if worker is None else {}
        stack.enter_context(conducting(engine, run.run_id, lease=options.lease, **alone))
        if options.concurrency is not None:
            DbosQueue(engine).set_concurrency(options.concurrency)
        if worker is not None:
            process = WorkerProcess(engine, worker, lease=options.lease, changed=changed, away=away)
            stack.enter_context(process)
        yield changed


@contextmanager
def _line(
    engine: Engine,
    run: RunRow,
    track: Track,
    project: Project,
    contexts: WorkerContexts,
    tell: Callable[[str], None],
) -> Iterator[Line | None]:
    """Yield the line of merged changes, ``None`` if no ticket changes files."""
    if not any(ticket.changes_files for ticket in run.tickets.tickets):
        yield None
        return
    top = locate_top(project.folder)
    packs, is_own = PackTable(engine, run.run_id), contexts.own_outputs(top.folder)
    with depot() as repository:
        yield Line.begin(top, track.track_id, packs, repository, is_own=is_own, tell=tell)


def _begin_or_resume(
    engine: Engine,
    runs: RunTable,
    track: Track,
    contexts: WorkerContexts,
    *,
    options: RunOptions,
    tell: Callable[[str], None],
) -> RunRow:
    """Return the track's run to continue, or a new run."""
    tickets = track.tickets()
    # Read before the database: if another process begins a run meanwhile, both take the same
    # number, and thus its run.
    last_in_files = last_number(contexts.output_dir, track.track_id)
    run = runs.latest()
    asks_for_latest = options.resume or bool(options.retry)
    if run is not None and (asks_for_latest or run.state == RUNNING):
        check_prices(run.tickets, contexts.asks, max_cost=options.max_cost)
        return _go_on(engine, runs, run, tickets, options=options, tell=tell)
    if asks_for_latest:
        raise TrackError(f"{track.track_id}: {NOTHING_TO_RESUME}")
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    check_prices(tickets, contexts.asks, max_cost=options.max_cost)
    return runs.begin(tickets, max(last_in_files, run.number if run else 0) + 1)


def _go_on(
    engine: Engine,
    runs: RunTable,
    run: RunRow,
    tickets: Tickets,
    *,
    options: RunOptions,
    tell: Callable[[str], None],
) -> RunRow:
    again: Mapping[str, int] = {}
    is_free = run.state != RUNNING or not is_conducted(engine, run.run_id)
    if (options.resume or options.retry) and is_free:
        endings = EndingTable(engine, run.run_id)
        past = PastRun(run.tickets, DbosQueue(engine), endings)
        again = past.named(options.retry) if options.retry else past.failed()
        if run.state != RUNNING and not again and past.is_over():
            raise TrackError(f"{run.run_id}: {NOTHING_TO_RESUME}")
        endings.raise_rounds(again)
    elif options.retry:
        raise TrackError(f"{run.run_id} is under way: wait for its end, or cancel it")
    tell(f"continuing {run.run_id}")
    if again:
        tell(f"once more: {', '.join(first_of(list(again), MOST_NAMED, 80))}")
    if run.tickets != tickets:
        tell(
            "its tickets have changed since it began: it continues with the old ones; aggregate conduct cancel ends it"
        )
    return run if run.state == RUNNING else runs.reopen(run)


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
