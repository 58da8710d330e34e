"""Starting a run of a track, or going on with one; it needs DBOS."""

import click

from aggregate.cli.live_table import watch
from aggregate.cli.output import say, warn, write_path
from aggregate.compose.project import redaction_for
from aggregate.conductor.service import RunOptions, conduct
from aggregate.conductor.track import open_track
from aggregate.conductor.track_run import PollingOptions
from aggregate.conductor.worker import make_worker
from aggregate.config.load import Project
from aggregate.models.group import FailurePolicy


def start_track(
    project: Project,
    name: str,
    *,
    database: str,
    spec: str,
    lease: float,
    places: int | None,
    no_work: bool,
    on_error: str | None,
    lead: bool,
    plain: bool,
    max_cost: float | None,
    resume: bool = False,
    retry: tuple[str, ...] = (),
    only: bool = False,
) -> None:
    """Run a track to its end and print the report's path; the options are those of ``aggregate conduct run``.

    Raises:
        Exit: With 1, if a ticket failed or a variable could not be merged.
        TrackError: There is no such track or worker, or with ``resume`` no run to go on with.
        ConfigError: The tickets cannot be run as they are.
        StateError: The database cannot be used.
    """
    options = RunOptions(
        database,
        concurrency=places,
        lease=lease,
        on_error=FailurePolicy(on_error) if on_error else None,
        resume=resume,
        retry=retry,
        only=only,
        max_cost=max_cost,
        polling=PollingOptions(warm_up=lead),
    )
    track = open_track(project.folder, name)
    redaction = redaction_for(project, sending=True)
    worker = None
    if not no_work:
        worker = make_worker(
            spec,
            script=track.folder / "answers.toml",
            root=project.folder,
            redact=redaction is not None,
            allow=redaction.allow if redaction else (),
            tell=warn,
        )
    try:
        with watch(track.tickets().tickets, plain=plain) as observe:
            result = conduct(
                project, track.track_id, worker, options=options, observe=observe, tell=say
            )
    except KeyboardInterrupt:
        say(f"interrupted: aggregate conduct resume {track.track_id} goes on")
        raise
    write_path(result.report)
    if result.unmerged:
        say(f"could not be merged: {', '.join(result.unmerged)}; the report says why")
    if not result.succeeded:
        raise click.exceptions.Exit(1)
