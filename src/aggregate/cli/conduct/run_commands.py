"""``conduct`` commands that run, continue and manage runs; they need DBOS."""

import os
import signal
from pathlib import Path
from threading import Event, Timer
from types import FrameType
from typing import Unpack

import click

from aggregate.agents.tracks import (
    RunOptions,
    conduct,
    make_worker,
    open_track,
    run_control,
    run_worker,
    worker_of_track,
)
from aggregate.base.errors import DatabaseAwayError
from aggregate.cli.conduct import options
from aggregate.cli.conduct.options import RunSettings, TermsSettings, open_run_project, open_terms
from aggregate.cli.output import say, warn, write_path, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project, redaction_for
from aggregate.prompt.sections import one_line


@click.command()
@options.decision_options
def approve(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Approve a waiting TICKET; run its dependents."""
    _decide(open_project(config), track, ticket, note, database, approved=True)


@click.command()
@options.decision_options
def reject(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Reject a waiting TICKET; do not run its dependents."""
    _decide(open_project(config), track, ticket, note, database, approved=False)


def _decide(
    project: Project, track: str, ticket: str, note: str, url: str, *, approved: bool
) -> None:
    decide = run_control.decide
    run_id = decide(project, track, ticket, approved=approved, note=note, database=url)
    write_rows(f"{'approved' if approved else 'rejected'} {ticket} of {run_id}")


@click.command()
@options.past_run_options
def cancel(track: str, config: Path, database: str) -> None:
    """Cancel the current run of TRACK."""
    run_id = run_control.cancel(open_project(config), track, database=database)
    write_rows(f"cancelled {run_id}")


@click.command()
@options.past_run_options
def forget(track: str, config: Path, database: str) -> None:
    """Delete the finished runs of TRACK from the database; keep files."""
    forgotten = run_control.forget(open_project(config), track, database=database)
    write_rows(*([f"forgot {run_id}" for run_id in forgotten] or ["no finished run"]))


def start_track(
    name: str, settings: RunSettings, *, resume: bool = False, retry: tuple[str, ...] = ()
) -> None:
    """Run a track and print its report; exit with 1 after failures."""
    project = open_run_project(settings)
    track = open_track(project.folder, name)
    terms = open_terms(settings, project.folder).with_checks(project, track.tickets())
    worker = None
    if not settings["no_work"]:
        worker, recipients = worker_of_track(project, track, settings["spec"], terms, tell=warn)
        if recipients:
            say(f"personas ask {', '.join(map(str, recipients))}")
    run_options = RunOptions(
        settings["database"],
        concurrency=settings["places"],
        lease=settings["lease"],
        resume=resume,
        retry=retry,
        max_cost=settings["max_cost"],
        terms=terms,
    )
    resumption = f"aggregate conduct resume {track.track_id} continues"
    try:
        result = conduct(
            project,
            track.track_id,
            worker,
            options=run_options,
            observe=lambda event: _say_ticket(event.ticket.id, event.status.value, event.detail),
            tell=say,
        )
    except KeyboardInterrupt:
        say(f"interrupted: {resumption}")
        raise
    write_path(result.report)
    if result.cancelled:
        say(f"cancelled: {resumption}")
    if result.stopped:
        say(f"stopped: {result.stopped}")
    if result.unmerged:
        say(f"not merged: {', '.join(result.unmerged)}; the report has the reasons")
    _offer_changes(project, track.track_id, settings)
    if result.unchanged:
        say(f"no files were edited by {', '.join(result.unchanged)}")
    if not result.succeeded or (settings["strict"] and result.unchanged):
        raise click.exceptions.Exit(1)


def _offer_changes(project: Project, track_id: str, settings: RunSettings) -> None:
    if not run_control.changes_to_apply(project, track_id, database=settings["database"]):
        return
    if settings["apply"]:
        for path in run_control.apply(project, track_id, database=settings["database"]):
            write_rows(path)
    else:
        say(f"your files are unchanged: aggregate conduct diff {track_id} shows the changes")


def _say_ticket(ticket: str, state: str, detail: str) -> None:
    say(f"{state:<8} {ticket}{f': {one_line(detail)}' if detail else ''}")


@click.command()
@options.run_options
def resume(track: str, **settings: Unpack[RunSettings]) -> None:
    """Continue the latest run of TRACK: run open and failed tickets.

    Print the report's path; the exit code is 1 if a ticket failed.
    """
    start_track(track, settings, resume=True)


@click.command()
@options.run_options
@click.argument("tickets", nargs=-1, required=True)
def retry(track: str, tickets: tuple[str, ...], **settings: Unpack[RunSettings]) -> None:
    """Run TICKETS of TRACK's latest run again, with their dependents.

    New results replace the old ones. Name one child of a list as fan[2].
    """
    start_track(track, settings, retry=tickets)


_LOOK_SECONDS = 0.5  # of one wait: an endless wait would hide Ctrl-C on Windows
_AWAY_SECONDS = 2.0  # between attempts to reach the database
_LAST_SECONDS = 5.0  # for a stopping worker's current attempt


@click.command()
@options.worker_options
def worker(database: str, lease: float, **settings: Unpack[TermsSettings]) -> None:
    """Work on the tickets of every track on a database until interrupted."""
    stop = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        # A wait for an unreachable database never ends; recorded results are safe.
        last = Timer(_LAST_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()

    signal.signal(signal.SIGTERM, end)
    answering = make_worker(
        settings["spec"],
        redaction=redaction_for(sending=True),
        tell=warn,
        base_url=settings["base_url"],
        terms=open_terms(settings, Path()),
    )
    last_error = ""
    while not stop.is_set():
        try:
            with run_worker(database, answering, lease=lease) as process:
                say(f"working as {process.executor_id}")
                while not stop.wait(_LOOK_SECONDS):
                    pass
        except DatabaseAwayError as error:
            if str(error) != last_error:
                say(f"waiting for the database: {error}")
            last_error = str(error)
            stop.wait(_AWAY_SECONDS)
