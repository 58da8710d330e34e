"""``conduct run``: run a track's tickets, or preview it."""

from collections.abc import Iterator
from typing import Any

import click

from aggregate.agents.tracks import PreviewStep, WorkerContexts, open_track, preview
from aggregate.cli.conduct import AskedRun, AskedTerms, run_options
from aggregate.cli.options import flag, take
from aggregate.cli.output import counted, warn_all, write_rows
from aggregate.cli.program import require_dbos


@click.command()
@run_options
@flag("--dry-run", "Show the order, sizes and models of tickets; run nothing.")
def run(track: str, dry_run: bool, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Run TRACK, or continue its unfinished run; print the report's path.

    The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    if not dry_run:
        require_dbos()
        from aggregate.cli.conduct_runs import start_track  # needs DBOS

        start_track(track, values)
        return
    asked_terms, asked = take(AskedTerms, values), take(AskedRun, values)
    project = asked.configured()
    opened = open_track(project.folder, track)
    tickets = opened.tickets()
    terms = asked_terms.open(project.folder).with_checks(project, tickets)
    contexts = WorkerContexts(project, track=opened, terms=terms)
    steps = list(preview(tickets, contexts, max_cost=asked.max_cost))
    for step in steps:
        write_rows(*_ticket_lines(step))
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
