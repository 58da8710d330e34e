"""Run a track, or go on with a run by ``conduct resume`` and ``retry``; it needs DBOS."""

from pathlib import Path
from typing import Unpack

import click

from aggregate.agents.tracks import PollingOptions, RunOptions, conduct, open_track, worker_of_track
from aggregate.base.values import FailurePolicy
from aggregate.cli.conduct.options import RunSettings, open_terms, run_options
from aggregate.cli.output import say, warn, write_path
from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.prompt.sections import one_line


def start_track(
    project: Project,
    name: str,
    settings: RunSettings,
    *,
    resume: bool = False,
    retry: tuple[str, ...] = (),
    only: bool = False,
) -> None:
    """Run a track to its end and print the report's path; exit with 1 if a ticket failed or a merge."""
    terms = open_terms(settings, project.folder)
    track = open_track(project.folder, name)
    worker = None
    if not settings["no_work"]:
        worker, recipients = worker_of_track(project, track, settings["spec"], terms, tell=warn)
        if recipients:
            say(f"personas ask {', '.join(map(str, recipients))}")
    options = RunOptions(
        settings["database"],
        concurrency=settings["places"],
        lease=settings["lease"],
        on_error=FailurePolicy(settings["on_error"]) if settings["on_error"] else None,
        resume=resume,
        retry=retry,
        only=only,
        max_cost=settings["max_cost"],
        polling=PollingOptions(warm_up=settings["lead"]),
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
    if not result.succeeded:
        raise click.exceptions.Exit(1)


def _say_ticket(ticket: str, state: str, detail: str) -> None:
    say(f"{state:<8} {ticket}{f': {one_line(detail)}' if detail else ''}")


@click.command()
@run_options
def resume(
    track: str,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    **settings: Unpack[RunSettings],
) -> None:
    """Go on with the latest run of TRACK: what is open, and what failed, is run.

    What is done stays as it is. It ends as run does: with the report's path, and with exit code 1 if a ticket failed.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    start_track(project, track, settings, resume=True)


@click.command()
@run_options
@click.argument("tickets", nargs=-1, required=True)
@click.option("--only", is_flag=True, help="Leave what depends on them as it is.")
def retry(
    track: str,
    tickets: tuple[str, ...],
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    only: bool,
    **settings: Unpack[RunSettings],
) -> None:
    """Run TICKETS of the latest run of TRACK once more, and all that depend on them.

    What they came to before is replaced. One child of a list is named as fan[2]. It ends as run does.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    start_track(project, track, settings, retry=tickets, only=only)
