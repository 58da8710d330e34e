"""``conduct run``: run a track's tickets, or preview it."""

from collections.abc import Iterator
from typing import Unpack

import click

from aggregate.agents.tracks import PreviewStep, WorkerContexts, open_track, preview
from aggregate.cli.conduct.options import RunSettings, open_run_project, open_terms, run_options
from aggregate.cli.output import counted, warn_all, write_rows
from aggregate.cli.program import require_dbos


@click.command()
@run_options
@click.option(
    "--dry-run", is_flag=True, help="Show the order, sizes and models of tickets; run nothing."
)
def run(track: str, dry_run: bool, **settings: Unpack[RunSettings]) -> None:
    """Run TRACK, or continue its unfinished run; print the report's path.

    The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    if not dry_run:
        require_dbos()
        from aggregate.cli.conduct.run_commands import start_track  # needs DBOS

        start_track(track, settings)
        return
    project = open_run_project(settings)
    opened = open_track(project.folder, track)
    tickets = opened.tickets()
    terms = open_terms(settings, project.folder).with_checks(project, tickets)
    contexts = WorkerContexts(project, track=opened, terms=terms)
    steps = list(preview(tickets, contexts, max_cost=settings["max_cost"]))
    write_rows(*(line for step in steps for line in _ticket_lines(step)))
    tokens = sum(step.tokens for step in steps)
    write_rows(
        f"{counted(len(steps), 'ticket')}, {tokens:,} tokens without the results of dependencies"
    )
    warn_all(contexts.warnings)


def _ticket_lines(step: PreviewStep) -> Iterator[str]:
    waits = f" <- {', '.join(step.waits_for)}" if step.waits_for else ""
    into = f" -> {step.ticket.collect_into}" if step.ticket.collect_into else ""
    sizes = f"{step.tokens:,} of {step.budget:,} tokens"
    yield f"{step.wave:>3}  {step.ticket.id}{waits}{into}  {sizes}"
    if step.recipient.model:
        yield f"       asks {step.recipient}"
    if step.ticket.tools:
        yield f"       tools: {', '.join(step.ticket.tools)}"
    yield from (f"       {path}" for path in step.ticket.focus_files)
