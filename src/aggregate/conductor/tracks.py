"""Conducting a track: its latest run begun, resumed, looked at or cancelled, over a database."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

import sqlalchemy as sa

from aggregate.conductor.context import Contexts
from aggregate.conductor.database import CANCELLED, FINISHED, RUNNING, RunRow, Runs, database_url, open_engine
from aggregate.conductor.durable import DurableDesk, Workplace, prepare
from aggregate.conductor.leases import LEASE_SECONDS
from aggregate.conductor.metadata import TrackStatus
from aggregate.conductor.papers import Papers
from aggregate.conductor.report import Line
from aggregate.conductor.run import Event, Pace, Result, TrackRun
from aggregate.conductor.tickets import Tickets
from aggregate.conductor.track import Track, open_track
from aggregate.conductor.worker import Worker
from aggregate.config.load import Project
from aggregate.errors import TrackError
from aggregate.models.group import OnError

DATABASE = "state/conductor.sqlite"
"""Where runs are kept by default, below the configuration's folder."""
LOOK_SECONDS = 0.5
"""Whether a run was cancelled is asked at most this often."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a track is to be run.

    Attributes:
        database: A URL or a file; by default SQLite in the project's ``state`` folder.
        places: Tickets that every worker on the database works on at one time; by default as they were, at first 8.
        lease: Seconds after which a worker without a sign of life counts as dead.
        on_error: What a failed ticket does, instead of what ``tickets.toml`` says; of no effect on a run under way.
        resume: Only go on with a run that was not finished, begin none.
        pace: The window, the polling, and whether one worker is sent ahead.
    """

    database: str = ""
    places: int | None = None
    lease: float = LEASE_SECONDS
    on_error: OnError | None = None
    resume: bool = False
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, slots=True)
class Status:
    """How the latest run of a track stands.

    Attributes:
        run_id: Its name.
        state: ``running``, ``finished`` or ``cancelled``.
        lines: One for each ticket that has ended.
        waiting: Tickets that lie at the desk or are being worked on.
        untouched: Tickets that nothing was done for yet.
    """

    run_id: str
    state: str
    lines: tuple[Line, ...]
    waiting: tuple[str, ...]
    untouched: tuple[str, ...]


def conduct(
    project: Project,
    name: str,
    worker: Worker | None,
    *,
    wish: Wish = Wish(),
    observe: Callable[[Event], None] = lambda _event: None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> Result:
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
    tickets = track.tickets()
    contexts = Contexts(project)
    with ExitStack() as stack:
        engine = stack.enter_context(_opened(project, wish.database))
        runs = Runs(engine, _project_name(project), track.track_id)
        run = runs.latest()
        if run is None or run.state != RUNNING:
            if wish.resume:
                raise TrackError(f"{track.track_id}: no run to resume: all are over; run it without --resume")
            wanted = tickets.model_copy(update={"on_error": wish.on_error}) if wish.on_error else tickets
            _check(contexts, wanted)
            run = runs.begin(wanted)
        else:
            tell(f"going on with {run.run_id}")
            if run.tickets.tickets != tickets.tickets:
                tell("tickets.toml has changed since this run began: it goes on with the old ones; --cancel ends it")
        desk = stack.enter_context(_desk(engine, wish.places))
        if worker is not None:
            stack.enter_context(Workplace(engine, worker, lease=wish.lease))
        result = TrackRun(
            run.run_id,
            track,
            run.tickets,
            contexts=contexts,
            desk=desk,
            papers=_papers(project, track, run),
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
    with _opened(project, database) as engine, _desk(engine, None) as desk:
        runs = Runs(engine, _project_name(project), track.track_id)
        run = runs.latest()
        if run is None or run.state != RUNNING:
            raise TrackError(f"{track.track_id}: there is no run to cancel: all are over")
        runs.set_state(run, CANCELLED)
        desk.withdraw([f"{run.run_id}/{ticket.id}" for ticket in run.tickets.tickets])
        track.set_status(TrackStatus.CANCELLED, datetime.now(UTC))
        return run.run_id


def status(project: Project, name: str, *, database: str = "") -> Status | None:
    """Return how the latest run of a track stands, ``None`` where there was none.

    Raises:
        TrackError: There is no such track.
    """
    track = open_track(project.folder, name)
    with _opened(project, database) as engine, _desk(engine, None) as desk:
        run = Runs(engine, _project_name(project), track.track_id).latest()
        if run is None:
            return None
        keys = {f"{run.run_id}/{ticket.id}": ticket for ticket in run.tickets.tickets}
        ended, known = desk.ended(keys), desk.known(keys)
        lines = tuple(Line.of(keys[key], ended[key]) for key in keys if key in ended)
        waiting = tuple(ticket.id for key, ticket in keys.items() if key in known and key not in ended)
        untouched = tuple(ticket.id for key, ticket in keys.items() if key not in known)
        return Status(run.run_id, run.state, lines, waiting, untouched)


@contextmanager
def workplace(database: str, worker: Worker, *, lease: float = LEASE_SECONDS) -> Iterator[Workplace]:
    """Let this process work on the tickets of every track on ``database`` while the block runs.

    Raises:
        StateError: The database cannot be used.
    """
    engine = open_engine(database_url(database))
    try:
        prepare(engine)
        with Workplace(engine, worker, lease=lease) as place:
            yield place
    finally:
        engine.dispose()


def _check(contexts: Contexts, tickets: Tickets) -> None:
    for ticket in tickets.tickets:
        contexts.check(ticket)


@contextmanager
def _opened(project: Project, database: str) -> Iterator[sa.Engine]:
    engine = open_engine(database_url(database or str(project.folder / DATABASE)))
    try:
        prepare(engine)
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _desk(engine: sa.Engine, places: int | None) -> Iterator[DurableDesk]:
    desk = DurableDesk(engine)
    if places is not None:
        desk.set_places(places)
    yield desk


def _project_name(project: Project) -> str:
    return project.config.project.name or project.folder.resolve().name


def _papers(project: Project, track: Track, run: RunRow) -> Papers:
    folder = project.folder / project.config.output.output_dir / f"{track.track_id}_{run.number:03d}"
    return Papers(folder, {ticket.id: i for i, ticket in enumerate(run.tickets.tickets, 1)})


def _cancelled(runs: Runs, run: RunRow) -> Callable[[], bool]:
    """Return a question to the database that is asked now and then."""
    asked = monotonic()

    def ask() -> bool:
        nonlocal asked
        if monotonic() - asked < LOOK_SECONDS:
            return False
        asked = monotonic()
        return runs.state(run) == CANCELLED

    return ask
