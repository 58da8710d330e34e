"""``conduct run``: run a track's tickets, or show what a run would do."""

from pathlib import Path
from typing import Unpack

import click

from aggregate.agents.tracks import WorkerContexts, check_prices, open_track, preview
from aggregate.cli.commands import require_dbos
from aggregate.cli.conduct.options import RunSettings, run_options, track_argument
from aggregate.cli.conduct.preview_lines import preview_lines
from aggregate.cli.conduct.terms import open_terms
from aggregate.cli.conduct.terms_options import TermsSettings
from aggregate.cli.output import warn_all, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project


@click.command()
@track_argument
@run_options
@click.option(
    "--dry-run", is_flag=True, help="Show order, sizes, costs and what is lowered; run nothing."
)
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
        _print_preview(project, track, settings)
        return
    require_dbos()
    from aggregate.cli.conduct.start import start_track  # needs DBOS, without which a dry run works

    start_track(project, track, **settings)


def _print_preview(project: Project, name: str, settings: RunSettings) -> None:
    allowed = {
        key: value for key, value in settings.items() if key in TermsSettings.__annotations__
    }
    terms = open_terms(settings["spec"], project.folder, **allowed)  # type: ignore[arg-type]
    opened = open_track(project.folder, name)
    contexts = WorkerContexts(project, track=opened, terms=terms)
    tickets = opened.tickets()
    check_prices(tickets, contexts, max_cost=settings["max_cost"])
    steps = preview(tickets, contexts, warm_up=settings["lead"])
    write_rows(*preview_lines(steps))
    warn_all(contexts.warnings)
