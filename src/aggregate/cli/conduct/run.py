"""``conduct run``: run a track's tickets, or show what a run would do."""

from pathlib import Path
from typing import Unpack

import click

from aggregate.cli import lazy
from aggregate.cli.commands import require_dbos
from aggregate.cli.conduct.options import RunSettings, run_options, track_argument
from aggregate.cli.output import write_rows
from aggregate.compose.project import open_project
from aggregate.conductor.preview import preview
from aggregate.conductor.track import open_track
from aggregate.conductor.worker_context import WorkerContexts
from aggregate.config.load import Project


@click.command()
@track_argument
@run_options
@click.option("--dry-run", is_flag=True, help="Show order, contexts and tokens; run nothing.")
def run(
    track: str,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    dry_run: bool,
    **settings: Unpack[RunSettings],
) -> None:
    """Run the tickets of TRACK, or go on with its unfinished run; print the report's path.

    The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    if dry_run:
        _print_preview(project, track, lead=settings["lead"])
        return
    require_dbos()
    lazy.start_track(project, track, **settings)


def _print_preview(project: Project, name: str, *, lead: bool) -> None:
    steps = preview(
        open_track(project.folder, name).tickets(), WorkerContexts(project), warm_up=lead
    )
    for step in steps:
        waits = f" <- {', '.join(step.waits_for)}" if step.waits_for else ""
        into = f" -> {step.ticket.collect_into}" if step.ticket.collect_into else ""
        write_rows(f"{step.wave:>3}  {step.ticket.id}{waits}{into}  {step.tokens:,} tokens")
        write_rows(*(f"       {path}" for path in step.ticket.focus_files))
    write_rows(
        f"{len(steps):,} tickets, {sum(step.tokens for step in steps):,} tokens before results are folded in"
    )
