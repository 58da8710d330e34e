"""``conduct status``: look at a track's latest run."""

from pathlib import Path

import click

from aggregate.cli.conduct.open_runs import open_runs
from aggregate.cli.conduct.options import database_option, track_argument
from aggregate.cli.options import config_option
from aggregate.cli.output import write_rows
from aggregate.conductor import service
from aggregate.sections.subagent_results import one_line


@click.command()
@track_argument
@config_option
@database_option
def status(track: str, config: Path, database: str) -> None:
    """Show how the latest run of TRACK stands."""
    progress = service.status(open_runs(config, database), track, database=database)
    if progress is None:
        write_rows("no run yet")
        return
    total = len(progress.lines) + len(progress.waiting) + len(progress.untouched)
    write_rows(
        f"{progress.run_id}: {progress.state}, {len(progress.lines):,} of {total:,} tickets have ended"
    )
    for line in progress.lines:
        error = f" ({one_line(line.errors[-1])})" if line.errors else ""
        write_rows(f"  {line.ticket.id}: {line.state}{error}")
    for ticket in progress.waiting:
        write_rows(f"  {ticket}: under way")
    for ticket in progress.untouched:
        write_rows(f"  {ticket}: {'waiting' if progress.state == 'running' else 'not run'}")
