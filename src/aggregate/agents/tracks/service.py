"""Conducting a track: its latest run begun, resumed, looked at, cancelled or forgotten, over a database."""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from time import monotonic

from aggregate.agents.tracks.durable.database import database_url, wait_for_server
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue, open_database
from aggregate.agents.tracks.durable.ending_table import EndingTable
from aggregate.agents.tracks.durable.heartbeat import LEASE_SECONDS
from aggregate.agents.tracks.durable.location import locate_database
from aggregate.agents.tracks.durable.run_lease import conducting
from aggregate.agents.tracks.durable.run_table import CANCELLED, FINISHED, RunRow, RunTable
from aggregate.agents.tracks.durable.worker_process import WorkerProcess
from aggregate.agents.tracks.project_name import project_name
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_options import RunOptions
from aggregate.agents.tracks.run_start import begin_or_resume
from aggregate.agents.tracks.track import Track, open_track
from aggregate.agents.tracks.track_events import TicketEvent, TrackResult
from aggregate.agents.tracks.track_run import TrackRun
from aggregate.agents.tracks.worker import Worker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.project.configuration import Project

USUAL = RunOptions()
LOOK_SECONDS = 0.05
"""Whether a run was cancelled is asked at most this often, for each time asks the database: so many more tickets are
begun at the most as are laid down meanwhile."""


def conduct(
    project: Project,
    name: str,
    worker: Worker | None,
    *,
    options: RunOptions = USUAL,
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
    with ExitStack() as stack:
        engine = stack.enter_context(open_database(locate_database(project, options.database)))
        queue, runs = DbosQueue(engine), RunTable(engine, project_name(project), track.track_id)
        run = begin_or_resume(engine, runs, track, contexts, options=options, tell=tell)
        conducted = conducting(
            engine,
            run.run_id,
            lease=options.lease,
            away=lambda reason: tell(f"waiting for the database ({reason})"),
        )
        stack.enter_context(conducted)
        if options.concurrency is not None:
            queue.set_concurrency(options.concurrency)
        changed = Event()
        if worker is not None:
            process = WorkerProcess(engine, worker, lease=options.lease, changed=changed)
            stack.enter_context(process)
        tickets, endings = run.tickets, EndingTable(engine, run.run_id)
        keys = endings.keys()
        result = TrackRun(
            keys,
            track,
            tickets,
            contexts=contexts,
            queue=queue,
            endings=endings,
            files=_run_files(track, run, contexts, retried=keys.rounds.keys()),
            polling=options.polling,
            max_cost=_lower(options.max_cost, tickets.max_cost),
            observe=observe,
            cancelled=_is_cancelled(runs, run),
            changed=changed,
        ).run()
        runs.set_state(run, CANCELLED if result.cancelled else FINISHED)
        return result


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


def _run_files(
    track: Track, run: RunRow, contexts: WorkerContexts, *, retried: Collection[str]
) -> RunFiles:
    return RunFiles.of(
        contexts.output_dir, track.track_id, run.number, run.tickets.tickets, retried=retried
    )


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


def _lower(first: float | None, second: float | None) -> float | None:
    return min((each for each in (first, second) if each is not None), default=None)
