"""Runs looked at, decided about, cancelled or forgotten, over their database."""

from contextlib import suppress
from datetime import UTC, datetime

from aggregate.agents.tracks.checkboxes import Checkbox
from aggregate.agents.tracks.durable.database import shrink
from aggregate.agents.tracks.durable.dbos_queue import DbosQueue, open_database
from aggregate.agents.tracks.durable.ending_table import EndingTable
from aggregate.agents.tracks.durable.location import database_exists, locate_database
from aggregate.agents.tracks.durable.run_lease import is_conducted
from aggregate.agents.tracks.durable.run_table import CANCELLED, RUNNING, RunRow, RunTable
from aggregate.agents.tracks.endings import Ending, EndingState
from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.metadata_file import TrackStatus
from aggregate.agents.tracks.past_run import PastRun, TrackProgress
from aggregate.agents.tracks.project_name import project_name
from aggregate.agents.tracks.ticket_keys import TicketKeys, ticket_of
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.track import open_track
from aggregate.base.errors import StateError, TrackError
from aggregate.base.text import did_you_mean
from aggregate.project.configuration import Project

INTERRUPTED = "interrupted"
"""What a run is called that is not over and that nobody conducts."""


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
        queue, runs = DbosQueue(engine), RunTable(engine, project_name(project), track.track_id)
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
        run = RunTable(engine, project_name(project), track.track_id).latest()
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
        run = RunTable(engine, project_name(project), track.track_id).latest()
        if run is None or run.state != RUNNING:
            raise TrackError(f"{track.track_id}: no run is under way, so that nothing waits")
        names = [ticket.id for ticket in run.tickets.tickets]
        if parent_of(ticket_id) not in names:
            raise TrackError(
                f"{run.run_id} has no ticket {ticket_id!r}: {did_you_mean(ticket_id, names)}"
            )
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
        queue, runs = DbosQueue(engine), RunTable(engine, project_name(project), track.track_id)
        over = runs.over()
        for run in over:
            queue.forget(queue.keys(run.run_id))
            EndingTable(engine, run.run_id).forget()
            runs.forget(run)
        if over:
            shrink(engine)
        return [run.run_id for run in over]


def _tickets_by_key(run: RunRow, keys: TicketKeys) -> dict[str, Ticket]:
    return {keys.of(ticket.id): ticket for ticket in run.tickets.tickets}
