"""Conducting a track: its latest run begun, resumed, looked at, cancelled or forgotten, over a database."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import sqlalchemy as sa

from aggregate.conductor.checkboxes import Checkbox
from aggregate.conductor.durable.database import (
    CANCELLED,
    FINISHED,
    RUNNING,
    SQLITE,
    RunRow,
    RunTable,
    database_url,
    open_engine,
)
from aggregate.conductor.durable.dbos_queue import DbosQueue, prepare_database
from aggregate.conductor.durable.heartbeat import LEASE_SECONDS
from aggregate.conductor.durable.worker_process import WorkerProcess
from aggregate.conductor.metadata_file import TrackStatus
from aggregate.conductor.report import ReportLine
from aggregate.conductor.run_files import RunFiles, last_number
from aggregate.conductor.tickets import Ticket
from aggregate.conductor.track import Track, open_track
from aggregate.conductor.track_run import PollingOptions, TicketEvent, TrackResult, TrackRun
from aggregate.conductor.worker import Worker
from aggregate.conductor.worker_context import WorkerContexts
from aggregate.config.load import Project
from aggregate.disk.user_folders import state_folder
from aggregate.errors import StateError, TrackError
from aggregate.models.group import FailurePolicy

DATABASE = "conductor.sqlite"
"""Where runs are kept by default, in the project's state folder."""
_DATABASE_IN_PROJECT = "state/conductor.sqlite"
"""Where earlier versions kept them. A project may bring such a file along, so it is never opened by itself."""
LOOK_SECONDS = 0.5
"""Whether a run was cancelled is asked at most this often."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a track is to be run.

    Attributes:
        database: A URL or a file; by default SQLite in the user's state folder of this project.
        places: Tickets that every worker on the database works on at one time; by default as they were, at first 8.
        lease: Seconds after which a worker without a sign of life counts as dead.
        on_error: What a failed ticket does, instead of what ``tickets.toml`` says; a run under way keeps what it has.
        resume: Only go on with a run that was not finished, begin none.
        pace: The window, the polling, and whether one worker is sent ahead.
    """

    database: str = ""
    places: int | None = None
    lease: float = LEASE_SECONDS
    on_error: FailurePolicy | None = None
    resume: bool = False
    pace: PollingOptions = field(default_factory=PollingOptions)


@dataclass(frozen=True, slots=True)
class TrackProgress:
    """How the latest run of a track stands.

    Attributes:
        run_id: Its name.
        state: ``running``, ``finished`` or ``cancelled``.
        lines: One for each ticket that has ended.
        waiting: Tickets that lie at the desk or are being worked on.
        untouched: Tickets that nothing was done for yet, or that were not over when the run was cancelled.
    """

    run_id: str
    state: str
    lines: tuple[ReportLine, ...]
    waiting: tuple[str, ...]
    untouched: tuple[str, ...]


def conduct(
    project: Project,
    name: str,
    worker: Worker | None,
    *,
    wish: RunOptions = RunOptions(),
    observe: Callable[[TicketEvent], None] = lambda _event: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> TrackResult:
    """Run a track's tickets, or go on with its run that was not finished, and write the report.

    Args:
        project: The project.
        name: The track's id or its beginning.
        worker: Who works in this process; ``None`` leaves the work to other processes on the same database.
        wish: How.
        observe: Hears of every change.
        tell: Hears what the user should know.

    Raises:
        TrackError: There is no such track, or with ``resume`` nothing to go on with.
        ConfigError: The tickets cannot be run as they are; nothing was started.
        StateError: The database cannot be used.
    """
    track = open_track(project.folder, name)
    contexts = WorkerContexts(project)
    if notice := unopened_database(project, wish.database):
        tell(notice)
    with ExitStack() as stack:
        engine = stack.enter_context(_opened(project, wish.database))
        desk, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        run = _entered(runs, track, contexts, wish=wish, tell=tell)
        tickets = run.tickets
        if wish.places is not None:
            desk.set_places(wish.places)
        if worker is not None:
            stack.enter_context(WorkerProcess(engine, worker, lease=wish.lease))
        result = TrackRun(
            run.run_id,
            track,
            tickets,
            contexts=contexts,
            desk=desk,
            papers=RunFiles.of(contexts.output_dir, track.track_id, run.number, tickets.tickets),
            pace=wish.pace,
            observe=observe,
            cancelled=_cancelled(runs, run),
        ).run()
        runs.set_state(run, CANCELLED if result.cancelled else FINISHED)
        return result


def cancel(project: Project, name: str, *, database: str = "") -> str:
    """End the latest run of a track; what is under way is dropped when it comes. Returns the run's name.

    Raises:
        TrackError: There is no such track, or no run under way.
    """
    track = open_track(project.folder, name)
    nothing = TrackError(f"{track.track_id}: there is no run to cancel: all are over")
    if not _is_there(project, database):
        raise nothing
    with _opened(project, database) as engine:
        desk, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        run = runs.latest()
        if run is None or run.state != RUNNING:
            raise nothing
        runs.set_state(run, CANCELLED)
        dropped = desk.waiting(desk.keys(run.run_id))
        desk.withdraw(dropped)
        with suppress(StateError):  # a run that cannot be read is ended all the same, but has no marks
            tickets = [ticket for key, ticket in _keys(run).items() if key in dropped]
            track.mark_plan({(ticket.id, ticket.name): Checkbox.OPEN for ticket in tickets})
        track.set_status(TrackStatus.CANCELLED, datetime.now(UTC))
        return run.run_id


def status(project: Project, name: str, *, database: str = "") -> TrackProgress | None:
    """Return how the latest run of a track stands, ``None`` where there was none.

    Raises:
        TrackError: There is no such track.
    """
    track = open_track(project.folder, name)
    if not _is_there(project, database):
        return None
    with _opened(project, database) as engine:
        desk, run = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id).latest()
        if run is None:
            return None
        keys = _keys(run)
        ended, known = desk.ended(keys), desk.known(keys) if run.state == RUNNING else {}
        lines = tuple(ReportLine.of(keys[key], ended[key]) for key in keys if key in ended)
        waiting = tuple(ticket.id for key, ticket in keys.items() if key in known and key not in ended)
        untouched = tuple(ticket.id for key, ticket in keys.items() if key not in known and key not in ended)
        return TrackProgress(run.run_id, run.state, lines, waiting, untouched)


def forget(project: Project, name: str, *, database: str = "") -> list[str]:
    """Delete what the database has of a track's runs that are over; their files stay. Returns the runs' names.

    Raises:
        TrackError: There is no such track.
    """
    track = open_track(project.folder, name)
    if not _is_there(project, database):
        return []
    with _opened(project, database) as engine:
        desk, runs = DbosQueue(engine), RunTable(engine, _project_name(project), track.track_id)
        over = runs.over()
        for run in over:
            desk.forget(desk.keys(run.run_id))
            runs.forget(run)
        return [run.run_id for run in over]


@contextmanager
def run_worker(database: str, worker: Worker, *, lease: float = LEASE_SECONDS) -> Iterator[WorkerProcess]:
    """Let this process work on the tickets of every track on ``database`` while the block runs.

    Raises:
        StateError: The database cannot be used.
    """
    engine = open_engine(database_url(database))
    try:
        prepare_database(engine)
        with WorkerProcess(engine, worker, lease=lease) as place:
            yield place
    finally:
        engine.dispose()


def _entered(
    runs: RunTable, track: Track, contexts: WorkerContexts, *, wish: RunOptions, tell: Callable[[str], None]
) -> RunRow:
    """Return the track's unfinished run, or a new one whose tickets were checked."""
    tickets = track.tickets()
    wanted = tickets.model_copy(update={"on_error": wish.on_error}) if wish.on_error else tickets
    # Read before the database: if another process begins a run meanwhile, both take the same number, and thus its run.
    number = last_number(contexts.output_dir, track.track_id)
    run = runs.latest()
    if run is not None:
        run.require_readable()
    if run is not None and run.state == RUNNING:
        tell(f"going on with {run.run_id}")
        if run.tickets != wanted:
            tell("its tickets were others when it began: it goes on with these; aggregate conduct cancel ends it")
        return run
    if wish.resume:
        raise TrackError(f"{track.track_id}: no run to resume: all are over; begin one with aggregate conduct run")
    for ticket in wanted.tickets:
        contexts.check(ticket)
    return runs.begin(wanted, max(number, run.number if run else 0) + 1)


def _keys(run: RunRow) -> dict[str, Ticket]:
    return {f"{run.run_id}/{ticket.id}": ticket for ticket in run.tickets.tickets}


@contextmanager
def _opened(project: Project, database: str) -> Iterator[sa.Engine]:
    engine = open_engine(_url(project, database))
    try:
        prepare_database(engine)
        yield engine
    finally:
        engine.dispose()


def _url(project: Project, database: str) -> str:
    return database_url(database or str(state_folder(project.folder) / DATABASE))


def unopened_database(project: Project, database: str) -> str:
    """Return what to say of a database that lies in the project and is not opened, ``""`` where there is none."""
    path = project.folder / _DATABASE_IN_PROJECT
    if database or not path.is_file():
        return ""
    return (
        f"{path} is not opened, for it may have come with the project: runs are kept in "
        f"{state_folder(project.folder) / DATABASE}; delete the file, or name it with --database if it is yours"
    )


def _is_there(project: Project, database: str) -> bool:
    """Return whether there is a database to look into: asking about runs makes none."""
    url = _url(project, database)
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()


def _project_name(project: Project) -> str:
    return project.config.project.name or project.folder.resolve().name


def _cancelled(runs: RunTable, run: RunRow) -> Callable[[], bool]:
    """Return a question to the database that is asked now and then."""
    asked = monotonic()

    def ask() -> bool:
        nonlocal asked
        if monotonic() - asked < LOOK_SECONDS:
            return False
        asked = monotonic()
        return runs.state(run) == CANCELLED

    return ask
