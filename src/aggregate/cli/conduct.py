"""``conduct`` and ``worker``: run a track's tickets, here or on many machines."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.cli.options import config_option, scope_options
from aggregate.cli.output import say, warn, write_path, write_rows
from aggregate.errors import StateError

if TYPE_CHECKING:
    from aggregate.conductor.service import RunOptions, TrackProgress
    from aggregate.config.load import Project

_database = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Use this database: postgresql://..., or a file for SQLite.  [default: one in your state folder]",
)
_worker = click.option(
    "--worker", "spec", default="scripted", show_default=True, help="Ask scripted[:FILE] or PROVIDER[:MODEL]."
)
_lease = click.option(
    "--lease",
    type=click.FloatRange(min=0.5),
    default=15.0,
    show_default=True,
    help="Count as dead after so many seconds without a sign of life.",
)


@click.command()
@click.argument("track", required=False)
@config_option
@scope_options
@_database
@_worker
@_lease
@click.option(
    "--places", type=click.IntRange(min=1), help="Work on so many tickets at one time in each worker.  [default: 8]"
)
@click.option("--no-work", is_flag=True, help="Leave the work to `aggregate worker` processes.")
@click.option(
    "--on-error",
    type=click.Choice(["report", "skip", "fail"]),
    help="Do this to the dependents of a ticket that failed.",
)
@click.option("--lead/--no-lead", default=True, help="Send one worker ahead of others that share its prefix.")
@click.option("--plain", is_flag=True, help="Print one line per change instead of a live table.")
@click.option("--dry-run", is_flag=True, help="Show order, contexts and tokens; run nothing.")
@click.option("--status", "show_status", is_flag=True, help="Show how the latest run stands.")
@click.option("--resume", is_flag=True, help="Go on with an unfinished run; never begin one.")
@click.option("--cancel", "end_run", is_flag=True, help="End the run that is under way.")
@click.option("--forget", is_flag=True, help="Delete runs that are over from the database; their files stay.")
def conduct(
    track: str | None,
    config: Path,
    allow_outside: bool,
    allow_secrets: bool,
    database: str,
    spec: str,
    lease: float,
    places: int | None,
    no_work: bool,
    on_error: str | None,
    lead: bool,
    plain: bool,
    dry_run: bool,
    show_status: bool,
    resume: bool,
    end_run: bool,
    forget: bool,
) -> None:
    """Run the tickets of TRACK, or go on with its unfinished run; print the report's path.

    Without TRACK: list the tracks. The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    if sum((dry_run, show_status, resume, end_run, forget)) > 1:
        raise click.UsageError(
            "--dry-run, --status, --resume, --cancel and --forget exclude each other: take one of them"
        )
    from aggregate.compose.project import open_project

    project = open_project(config, allow_outside=allow_outside or None, allow_secrets=allow_secrets or None)
    if track is None:
        _list(project)
    elif dry_run:
        _preview(project, track, lead=lead)
    elif show_status:
        _status(project, track, database)
    elif end_run or forget:
        _end(project, track, database, forget=forget)
    else:
        options = _options(database, places, lease, on_error, resume=resume, lead=lead)
        _run(project, track, None if no_work else spec, options, plain=plain)


@click.command()
@click.option("--database", required=True, metavar="URL", help="Use the database that `aggregate conduct` uses.")
@_worker
@_lease
def worker(database: str, spec: str, lease: float) -> None:
    """Work on the tickets of every track on a database until interrupted."""
    _need_dbos()
    import signal
    from threading import Event

    from aggregate.conductor.service import run_worker
    from aggregate.conductor.worker import make_worker

    stop = Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    from aggregate.compose.project import redaction_for

    redaction = redaction_for(sending=True)
    allow = redaction.allow if redaction else ()
    who = make_worker(spec, redact=redaction is not None, allow=allow, tell=warn)
    with run_worker(database, who, lease=lease) as place:
        say(f"working as {place.executor_id}")
        while not stop.wait(0.5):
            pass


def _options(
    database: str, places: int | None, lease: float, on_error: str | None, *, resume: bool, lead: bool
) -> "RunOptions":
    _need_dbos()
    from aggregate.conductor.service import RunOptions
    from aggregate.conductor.track_run import PollingOptions
    from aggregate.models.group import FailurePolicy

    chosen = FailurePolicy(on_error) if on_error else None
    return RunOptions(
        database, concurrency=places, lease=lease, on_error=chosen, resume=resume, polling=PollingOptions(warm_up=lead)
    )


def _need_dbos() -> None:
    from importlib.util import find_spec

    if find_spec("dbos") is None:
        raise StateError("running tracks needs DBOS: install it with: pip install 'manual-slop[agents]'")


def _run(project: "Project", name: str, spec: str | None, options: "RunOptions", *, plain: bool) -> None:
    from aggregate.cli.live_table import watch
    from aggregate.compose.project import redaction_for
    from aggregate.conductor.service import conduct as run
    from aggregate.conductor.track import open_track
    from aggregate.conductor.worker import make_worker

    track = open_track(project.folder, name)
    redaction = redaction_for(project, sending=True)
    who = None
    if spec is not None:
        who = make_worker(
            spec,
            script=track.folder / "answers.toml",
            root=project.folder,
            redact=redaction is not None,
            allow=redaction.allow if redaction else (),
            tell=warn,
        )
    with watch(track.tickets().tickets, plain=plain) as observe:
        result = run(project, track.track_id, who, options=options, observe=observe, tell=say)
    write_path(result.report)
    if result.unmerged:
        say(f"could not be merged: {', '.join(result.unmerged)}; the report says why")
    if not result.succeeded:
        raise click.exceptions.Exit(1)


def _preview(project: "Project", name: str, *, lead: bool) -> None:
    from aggregate.conductor.preview import preview
    from aggregate.conductor.track import open_track
    from aggregate.conductor.worker_context import WorkerContexts

    steps = preview(open_track(project.folder, name).tickets(), WorkerContexts(project), warm_up=lead)
    for step in steps:
        waits = f" <- {', '.join(step.waits_for)}" if step.waits_for else ""
        into = f" -> {step.ticket.collect_into}" if step.ticket.collect_into else ""
        write_rows(f"{step.wave:>3}  {step.ticket.id}{waits}{into}  {step.tokens:,} tokens")
        write_rows(*(f"       {path}" for path in step.ticket.focus_files))
    write_rows(f"{len(steps):,} tickets, {sum(step.tokens for step in steps):,} tokens before results are folded in")


def _end(project: "Project", name: str, database: str, *, forget: bool) -> None:
    _need_dbos()
    from aggregate.conductor import service as runs

    _tell_of_unopened(project, database)
    if forget:
        gone = runs.forget(project, name, database=database)
        write_rows(*([f"forgot {run}" for run in gone] or ["no run that is over"]))
    else:
        write_rows(f"cancelled {runs.cancel(project, name, database=database)}")


def _status(project: "Project", name: str, database: str) -> None:
    _need_dbos()
    from aggregate.conductor import service as runs

    _tell_of_unopened(project, database)
    found = runs.status(project, name, database=database)
    if found is None:
        write_rows("no run yet")
    else:
        _show(found)


def _tell_of_unopened(project: "Project", database: str) -> None:
    from aggregate.conductor.durable.location import unopened_database

    if notice := unopened_database(project, database):
        say(notice)


def _show(found: "TrackProgress") -> None:
    from aggregate.sections.subagent_results import one_line

    total = len(found.lines) + len(found.waiting) + len(found.untouched)
    write_rows(f"{found.run_id}: {found.state}, {len(found.lines):,} of {total:,} tickets have ended")
    for line in found.lines:
        write_rows(f"  {line.ticket.id}: {line.state}" + (f" ({one_line(line.errors[-1])})" if line.errors else ""))
    for name in found.waiting:
        write_rows(f"  {name}: under way")
    for name in found.untouched:
        write_rows(f"  {name}: {'waiting' if found.state == 'running' else 'not run'}")


def _list(project: "Project") -> None:
    from aggregate.conductor.track import list_tracks

    tracks = list_tracks(project.folder)
    if not tracks:
        say("no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/")
    for track in tracks:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")
