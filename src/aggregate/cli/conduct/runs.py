"""Run a track, here or for runs elsewhere, and look after runs: all that needs DBOS."""

import os
import signal
from pathlib import Path
from threading import Event, Timer
from types import FrameType
from typing import Unpack

import click

from aggregate.agents.tracks import (
    RunOptions,
    applying,
    conduct,
    make_worker,
    open_track,
    run_control,
    run_worker,
    worker_of_track,
)
from aggregate.base.errors import DatabaseAwayError
from aggregate.cli.conduct.options import (
    RunSettings,
    TermsSettings,
    decision_options,
    open_run_project,
    open_terms,
    past_run_options,
    run_options,
    worker_options,
)
from aggregate.cli.output import say, warn, write_path, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project, redaction_for
from aggregate.prompt.sections import one_line


@click.command()
@decision_options
def approve(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Approve TICKET, which waits for it; what depends on it is run."""
    _decide(track, ticket, note, open_project(config), database, approved=True)


@click.command()
@decision_options
def reject(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Reject TICKET, which waits for approval; what depends on it is not run."""
    _decide(track, ticket, note, open_project(config), database, approved=False)


def _decide(
    track: str, ticket: str, note: str, project: Project, database: str, *, approved: bool
) -> None:
    run_id = run_control.decide(
        project, track, ticket, approved=approved, note=note, database=database
    )
    write_rows(f"{'approved' if approved else 'rejected'} {ticket} of {run_id}")


@click.command()
@past_run_options
def cancel(track: str, config: Path, database: str) -> None:
    """End the run of TRACK that is under way."""
    run_id = run_control.cancel(open_project(config), track, database=database)
    write_rows(f"cancelled {run_id}")


@click.command()
@past_run_options
def forget(track: str, config: Path, database: str) -> None:
    """Delete the runs of TRACK that are over from the database; their files stay."""
    forgotten = run_control.forget(open_project(config), track, database=database)
    if not forgotten:
        write_rows("no run that is over")
    for run_id in forgotten:
        write_rows(f"forgot {run_id}")


def start_track(
    name: str, settings: RunSettings, *, resume: bool = False, retry: tuple[str, ...] = ()
) -> None:
    """Run a track to its end and print the report's path; exit with 1 if a ticket failed or a merge."""
    project = open_run_project(settings)
    track = open_track(project.folder, name)
    terms = open_terms(settings, project.folder).with_checks(project, track.tickets())
    worker = None
    if not settings["no_work"]:
        worker, recipients = worker_of_track(project, track, settings["spec"], terms, tell=warn)
        if recipients:
            say(f"personas ask {', '.join(map(str, recipients))}")
    options = RunOptions(
        settings["database"],
        concurrency=settings["places"],
        lease=settings["lease"],
        resume=resume,
        retry=retry,
        max_cost=settings["max_cost"],
        terms=terms,
    )
    goes_on = f"aggregate conduct resume {track.track_id} goes on"
    try:
        result = conduct(
            project,
            track.track_id,
            worker,
            options=options,
            observe=lambda each: _say_ticket(each.ticket.id, each.state.value, each.detail),
            tell=say,
        )
    except KeyboardInterrupt:
        say(f"interrupted: {goes_on}")
        raise
    write_path(result.report)
    if result.cancelled:
        say(f"cancelled: {goes_on}")
    if result.stopped:
        say(f"stopped: {result.stopped}")
    if result.unmerged:
        say(f"could not be merged: {', '.join(result.unmerged)}; the report says why")
    _offer_changes(project, track.track_id, settings)
    if result.unchanged:
        say(f"unchanged: {', '.join(result.unchanged)}; each was to edit files and changed none")
    if not result.succeeded or (settings["strict"] and result.unchanged):
        raise click.exceptions.Exit(1)


def _offer_changes(project: Project, track_id: str, settings: RunSettings) -> None:
    if not run_control.changes_to_apply(project, track_id, database=settings["database"]):
        return
    if settings["apply"]:
        for path in applying.apply(project, track_id, database=settings["database"]):
            write_rows(path)
    else:
        say(
            f"your files are as they were: aggregate conduct diff {track_id} shows what to apply or drop"
        )


def _say_ticket(ticket: str, state: str, detail: str) -> None:
    say(f"{state:<8} {ticket}{f': {one_line(detail)}' if detail else ''}")


@click.command()
@run_options
def resume(track: str, **settings: Unpack[RunSettings]) -> None:
    """Go on with the latest run of TRACK: what is open, and what failed, is run.

    What is done stays as it is. It ends as run does: with the report's path, and with exit code 1 if a ticket failed.
    """
    start_track(track, settings, resume=True)


@click.command()
@run_options
@click.argument("tickets", nargs=-1, required=True)
def retry(track: str, tickets: tuple[str, ...], **settings: Unpack[RunSettings]) -> None:
    """Run TICKETS of the latest run of TRACK once more, and all that depend on them.

    What they came to before is replaced. One child of a list is named as fan[2]. It ends as run does.
    """
    start_track(track, settings, retry=tickets)


# How long a wait lasts before Python looks whether it was interrupted: a wait without end hides Ctrl-C on Windows.
_LOOK_SECONDS = 0.5
_AWAY_SECONDS = 2.0  # between two looks whether the database is there
_LAST_SECONDS = 5.0  # that a worker which is to end gives what it is at


@click.command()
@worker_options
def worker(database: str, lease: float, **settings: Unpack[TermsSettings]) -> None:
    """Work on the tickets of every track on a database until interrupted."""
    stop = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        # What waits for a database that is away would not end by itself; nothing that was recorded is lost by it.
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
    told = ""
    while not stop.is_set():
        try:
            with run_worker(database, answering, lease=lease) as process:
                say(f"working as {process.executor_id}")
                while not stop.wait(_LOOK_SECONDS):
                    pass
        except DatabaseAwayError as error:
            if str(error) != told:
                say(f"waiting for the database: {error}")
            told = str(error)
            stop.wait(_AWAY_SECONDS)
