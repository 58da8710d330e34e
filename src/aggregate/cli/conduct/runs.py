"""Look after runs: ``conduct status``, ``approve``, ``reject``, ``cancel`` and ``forget``."""

from pathlib import Path

import click

from aggregate.agents.tracks import run_control
from aggregate.cli.conduct.options import decision_options, past_run_options
from aggregate.cli.output import write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.prompt.sections import one_line


@click.command()
@past_run_options
def status(track: str, config: Path, database: str) -> None:
    """Show how the latest run of TRACK stands."""
    progress = run_control.status(open_project(config), track, database=database)
    if progress is None:
        write_rows("no run yet")
    else:
        write_rows(*_rows(progress, track))


def _rows(progress: run_control.TrackProgress, track: str) -> list[str]:
    total = len(progress.tickets)
    rows = [
        f"{progress.run_id}: {progress.state}, {len(progress.lines):,} of {total:,} tickets have ended"
    ]
    for line in progress.lines:
        error = f" ({one_line(line.errors[-1])})" if line.errors else ""
        rows.append(f"  {line.ticket.id}: {line.account}{error}")
    rows += [f"  {ticket}: waits for approval" for ticket in progress.approvals]
    rows += [f"  {ticket}: under way" for ticket in progress.waiting]
    goes_on = progress.state in ("running", run_control.INTERRUPTED)
    rows += [f"  {ticket}: {'waiting' if goes_on else 'not run'}" for ticket in progress.untouched]
    if progress.lines:
        rows.append(f"so far: {progress.account}")
    if progress.approvals:
        commands = f"aggregate conduct approve {track} {progress.approvals[0]}, or reject"
        rows.append(f"{progress.approvals[0]} waits: {commands}")
    if progress.state == run_control.INTERRUPTED:
        rows.append(f"nobody conducts it now: aggregate conduct resume {track} goes on with it")
    elif any(not line.is_done for line in progress.lines) and progress.state != "running":
        rows.append(f"aggregate conduct resume {track} runs what failed once more")
    return rows


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
