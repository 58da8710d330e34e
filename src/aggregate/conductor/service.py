"""Conducting a track: its latest run begun, resumed, looked at, cancelled or forgotten, over a database."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from time import monotonic

from aggregate.conductor.checkboxes import Checkbox
from aggregate.conductor.durable.database import Engine, database_url, shrink, wait_for_server
from aggregate.conductor.durable.dbos_queue import DbosQueue, open_database
from aggregate.conductor.durable.ending_table import EndingTable
from aggregate.conductor.durable.heartbeat import LEASE_SECONDS
from aggregate.conductor.durable.location import database_exists, locate_database, unopened_database
from aggregate.conductor.durable.run_lease import conducting, is_conducted
from aggregate.conductor.durable.run_table import CANCELLED, FINISHED, RUNNING, RunRow, RunTable
from aggregate.conductor.durable.worker_process import WorkerProcess
from aggregate.conductor.endings import Ending, EndingState
from aggregate.conductor.fan_out import without_items
from aggregate.conductor.metadata_file import TrackStatus
from aggregate.conductor.past_run import PastRun, TrackProgress
from aggregate.conductor.run_files import RunFiles, last_number
from aggregate.conductor.terms import WorkerTerms
from aggregate.conductor.ticket_keys import TicketKeys, ticket_of
from aggregate.conductor.tickets import Ticket, Tickets
from aggregate.conductor.track import Track, open_track
from aggregate.conductor.track_run import PollingOptions, TicketEvent, TrackResult, TrackRun
from aggregate.conductor.worker import Worker
from aggregate.conductor.worker_context import WorkerContexts
from aggregate.config.load import Project
from aggregate.deprecation import renamed_keywords
from aggregate.errors import StateError, TrackError
from aggregate.models.group import FailurePolicy
from aggregate.text.shorten import first_of

INTERRUPTED = "interrupted"
"""What a run is called that is not over and that nobody conducts."""

NOTHING_TO_RESUME = "no run to resume: all are over; begin one with aggregate conduct run"
MOST_NAMED = 10
"""Tickets that are named in a sentence."""
LOOK_SECONDS = 0.05
"""Whether a run was cancelled is asked at most this often, for each time asks the database: so many more tickets are
begun at the most as are laid down meanwhile."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a track is to be run.

    Attributes:
        database: A URL or a file; by default SQLite in the user's state folder of this project.
        concurrency: Tickets that every worker on the database works on at one time; by default as many as before, at
            first 8.
        lease: Seconds after which a worker without a sign of life counts as dead.
        on_error: What a failed ticket does, instead of what ``tickets.toml`` says; a run under way keeps what it has.
        resume: Only go on with the latest run, and run what failed in it once more; begin none.
        retry: Only go on with the latest run, and run these tickets once more, with all that depend on them.
        only: With ``retry``, leave those that depend on them as they are.
        max_cost: The most US dollars that the run may cost; what the track says can only lower it.
        polling: How many tickets are queued at one time, how often the queue is looked at, and what is sent ahead.
        terms: What the user allows the workers; by default what the worker itself says.
    """

    database: str = ""
    concurrency: int | None = None
    lease: float = LEASE_SECONDS
    on_error: FailurePolicy | None = None
    resume: bool = False
    retry: tuple[str, ...] = ()
    only: bool = False
    max_cost: float | None = None
    polling: PollingOptions = field(default_factory=PollingOptions)
    terms: WorkerTerms | None = None


# Of a class it is the constructor that takes keywords.
RunOptions.__init__ = renamed_keywords(places="concurrency", pace="polling")(RunOptions.__init__)  # type: ignore[method-assign]


@renamed_keywords(wish="options")
def conduct(
    project: Project,
    name: str,
    worker: Worker | None,
    *,
    options: RunOptions = RunOptions(),
    observe: Callable[[TicketEvent], None] = lambda _event: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> TrackResult:
    """Run a track's tickets, or go on with its run that was not finished, and write the report.

    Args:
        project: The project.
        name: The track's id or its beginning.
        worker: Who works in this process; ``None`` leaves the work to other processes on the same database.
        options: How.
        observe: Hears of every change.
        tell: Hears what the user should know.

    Raises:
        TrackError: There is no such track, or with ``resume`` nothing to go on with.
        ConfigError: The tickets cannot be run as they are; nothing was started.
        StateError: The database cannot be used.
    """
    track = open_track(project.folder, name)
    terms = options.terms or getattr(worker, "terms", None)
    contexts = WorkerContexts(project, track=track, terms=terms)
    if notice := unopened_database(project, options.database):
        tell(notice)
    with ExitStack() as stack:
        engine = stack.enter_context(open_database(locate_database(project, options.database)))
        queue, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        run = _begin_or_resume(engine, runs, track, contexts, options=options, tell=tell)
        tickets, endings = run.tickets, EndingTable(engine, run.run_id)
        keys = endings.keys()
        stack.enter_context(conducting(engine, run.run_id, lease=options.lease))
        if options.concurrency is not None:
            queue.set_concurrency(options.concurrency)
        changed = Event()
        if worker is not None:
            process = WorkerProcess(engine, worker, lease=options.lease, changed=changed)
            stack.enter_context(process)
        track_run = TrackRun(
            keys,
            track,
            tickets,
            contexts=contexts,
            queue=queue,
            endings=endings,
            files=RunFiles.of(
                contexts.output_dir,
                track.track_id,
                run.number,
                tickets.tickets,
                retried=keys.rounds.keys(),
            ),
            polling=options.polling,
            max_cost=_lower(options.max_cost, tickets.max_cost),
            observe=observe,
            cancelled=_is_cancelled(runs, run),
            changed=changed,
        )
        result = track_run.run()
        runs.set_state(run, CANCELLED if result.cancelled else FINISHED)
        return result


def cancel(project: Project, name: str, *, database: str = "") -> str:
    """End the latest run of a track; what is under way is dropped when it comes. Returns the run's name.

    Raises:
        TrackError: There is no such track, or no run under way.
    """
    track = open_track(project.folder, name)
    nothing_to_cancel = TrackError(f"{track.track_id}: there is no run to cancel: all are over")
    url = locate_database(project, database)
    if not database_exists(url):
        raise nothing_to_cancel
    with open_database(url) as engine:
        queue, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        run = runs.latest()
        if run is None or run.state != RUNNING:
            raise nothing_to_cancel
        runs.set_state(run, CANCELLED)
        dropped = queue.unfinished(queue.keys(run.run_id))
        queue.cancel(dropped)
        # A run that cannot be read is ended all the same, but has no checkboxes.
        with suppress(StateError):
            keys = EndingTable(engine, run.run_id).keys()
            by_key = _tickets_by_key(run, keys)
            tickets = [ticket for key, ticket in by_key.items() if key in dropped]
            track.mark_plan({(ticket.id, ticket.name): Checkbox.OPEN for ticket in tickets})
        track.set_status(TrackStatus.CANCELLED, datetime.now(UTC))
        return run.run_id


def status(project: Project, name: str, *, database: str = "") -> TrackProgress | None:
    """Return how the latest run of a track stands, ``None`` where there was none.

    Raises:
        TrackError: There is no such track.
    """
    track = open_track(project.folder, name)
    url = locate_database(project, database)
    if not database_exists(url):
        return None
    with open_database(url) as engine:
        run = RunTable(engine, _project_name(project), track.track_id).latest()
        if run is None:
            return None
        state = run.state
        if state == RUNNING and not is_conducted(engine, run.run_id):
            state = INTERRUPTED
        past = PastRun(run.tickets, DbosQueue(engine), EndingTable(engine, run.run_id))
        # What was enqueued for a run that was cancelled waits for nobody any more.
        return past.progress(run.run_id, state, goes_on=run.state == RUNNING)


def decide(
    project: Project,
    name: str,
    ticket_id: str,
    *,
    approved: bool,
    note: str = "",
    database: str = "",
) -> str:
    """Approve or reject a ticket of the latest run that waits for it. Returns the run's name.

    Raises:
        TrackError: There is no such track or run, or the ticket waits for no decision.
    """
    track = open_track(project.folder, name)
    url = locate_database(project, database)
    if not database_exists(url):
        raise TrackError(f"{track.track_id}: there is no run yet")
    with open_database(url) as engine:
        run = RunTable(engine, _project_name(project), track.track_id).latest()
        if run is None or run.state != RUNNING:
            raise TrackError(f"{track.track_id}: no run is under way, so that nothing waits")
        endings = EndingTable(engine, run.run_id)
        state = EndingState.APPROVED if approved else EndingState.REJECTED
        keys = endings.keys()
        if not endings.decide(keys.of(ticket_id), Ending(state, note)):
            known = {ticket_of(key): each.state for key, each in endings.all().items()}
            waiting = sorted(each for each, how in known.items() if how is EndingState.WAITING)
            decided = f"was {known[ticket_id]} before" if ticket_id in known else "does not wait"
            what = f"these do: {', '.join(waiting)}" if waiting else "nothing waits now"
            raise TrackError(f'{run.run_id}: "{ticket_id}" {decided}; {what}')
        return run.run_id


def forget(project: Project, name: str, *, database: str = "") -> list[str]:
    """Delete what the database has of a track's runs that are over; their files stay. Returns the runs' names.

    Raises:
        TrackError: There is no such track.
    """
    track = open_track(project.folder, name)
    url = locate_database(project, database)
    if not database_exists(url):
        return []
    with open_database(url) as engine:
        queue, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        over = runs.over()
        for run in over:
            queue.forget(queue.keys(run.run_id))
            EndingTable(engine, run.run_id).forget()
            runs.forget(run)
        if over:
            shrink(engine)
        return [run.run_id for run in over]


@contextmanager
def run_worker(
    database: str,
    worker: Worker,
    *,
    lease: float = LEASE_SECONDS,
    away: Callable[[str], None] | None = None,
) -> Iterator[WorkerProcess]:
    """Let this process work on the tickets of every track on ``database`` while the block runs.

    Args:
        database: A URL or a file.
        worker: Who answers.
        lease: Seconds after which this process counts as dead if it gives no sign of life.
        away: Called with the reason, once for each, while the server is waited for; without it that is an error.

    Raises:
        StateError: The database cannot be used.
    """
    url = database_url(database)
    if away is not None:
        wait_for_server(url, away)
    with (
        open_database(url) as engine,
        WorkerProcess(engine, worker, lease=lease) as process,
    ):
        yield process


def _project_name(project: Project) -> str:
    return project.config.project.name or project.folder.resolve().name


def _begin_or_resume(
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
        return _go_on(engine, runs, run, tickets, options=options, tell=tell)
    if options.resume or options.retry:
        raise TrackError(f"{track.track_id}: {NOTHING_TO_RESUME}")
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
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


def _lower(first: float | None, second: float | None) -> float | None:
    return min((each for each in (first, second) if each is not None), default=None)


def _tickets_by_key(run: RunRow, keys: TicketKeys) -> dict[str, Ticket]:
    return {keys.of(ticket.id): ticket for ticket in run.tickets.tickets}


def _is_cancelled(runs: RunTable, run: RunRow) -> Callable[[], bool]:
    """Return a question to the database that is asked now and then."""
    asked_at = monotonic()

    def ask() -> bool:
        nonlocal asked_at
        if monotonic() - asked_at < LOOK_SECONDS:
            return False
        asked_at = monotonic()
        return runs.state(run) == CANCELLED

    return ask
