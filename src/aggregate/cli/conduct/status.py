"""``conduct status``, ``diff``, ``apply`` and ``drop``."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from aggregate.agents.tracks import TicketStatus, run_control
from aggregate.cli.conduct.options import past_run_options
from aggregate.cli.output import say, write_result, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.prompt.sections import one_line

_WATCH_SECONDS = 0.5


@click.command()
@past_run_options
@click.argument("ticket", default="")
@click.option("--watch", is_flag=True, help="Keep updating until the run ends.")
def status(track: str, config: Path, database: str, ticket: str, watch: bool) -> None:
    """Show the latest run of TRACK, or the attempts at TICKET."""
    project = open_project(config)
    if ticket:
        attempts = run_control.made_attempts(project, track, ticket, database=database)
        write_rows(*_attempt_rows(attempts))
    elif watch:
        _watch(project, track, database)
    else:
        progress = run_control.status(project, track, database=database)
        write_rows(*(_rows(progress, track) if progress else ["no run yet"]))


def _rows(progress: run_control.TrackProgress, track: str) -> list[str]:
    total = len(progress.lines) + len(progress.statuses)
    ended = f"{len(progress.lines):,} of {total:,} tickets have ended"
    rows = [f"{progress.run_id}: {progress.state}, {ended}"]
    for line in progress.lines:
        causes = " <- ".join(one_line(error) for error in reversed(line.end.errors))
        why = "; ".join(filter(None, (causes, one_line(line.end.last.warning))))
        rows.append(f"  {line.ticket.id}: {line.account}{f' ({why})' if why else ''}")
    approvals = progress.with_status(TicketStatus.WAITING)
    rows += [f"  {ticket}: waits for approval" for ticket in approvals]
    for ticket in progress.with_status(TicketStatus.STARTED, TicketStatus.SPREAD):
        rows.append(f"  {ticket}: under way")
    goes_on = progress.state in ("running", run_control.INTERRUPTED)
    for ticket in progress.with_status(TicketStatus.NOT_RUN):
        rows.append(f"  {ticket}: {'waiting' if goes_on else 'not run'}")
    if progress.lines:
        rows.append(f"so far: {progress.account}")
    if approvals:
        commands = f"aggregate conduct approve {track} {approvals[0]}, or reject"
        rows.append(f"{approvals[0]} waits: {commands}")
    if progress.state == run_control.INTERRUPTED:
        rows.append(f"no process runs it now: aggregate conduct resume {track} continues it")
    elif any(not line.is_done for line in progress.lines) and progress.state != "running":
        rows.append(f"aggregate conduct resume {track} runs the failed tickets again")
    return rows


def _watch(project: Project, track: str, database: str) -> None:
    from rich.console import Console  # slow to load
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), refresh_per_second=4) as live:
        while progress := run_control.status(project, track, database=database):
            live.update(Text("\n".join(_rows(progress, track))))
            if progress.state != "running":
                break
            time.sleep(_WATCH_SECONDS)
    if progress is None:
        write_rows("no run yet")


def _attempt_rows(attempts: list[run_control.MadeAttempt]) -> Iterator[str]:
    rounds = {attempt.round for attempt in attempts}
    for attempt in attempts:
        reply = attempt.reply
        usage = f", {reply.seconds:.0f} s, {reply.tokens:,} tokens" if reply else ""
        cost = f", ${reply.cost:.4f}" if reply and reply.cost else ""
        prefix = f"round {attempt.round}, " if len(rounds) > 1 else ""
        yield f"{prefix}attempt {attempt.number}: {one_line(attempt.state)}{usage}{cost}"
        for line in attempt.lines:
            yield f"  {_step(line)}"


def _step(line: dict[str, Any]) -> str:
    """Return the table row of a worker's turn, call or check."""
    name = f"turn {line['turn']}" if line["event"] == "turn" else line.get("tool", "check")
    tokens = f", {line['tokens']:,} tokens" if line.get("tokens") else ""
    fault = line.get("detail", "timed out" if line["outcome"] == "timeout" else "")
    reason = f": {one_line(fault)}" if fault else ""
    return f"{name}{reason} ({line['seconds']:.1f} s{tokens})"


@click.command()
@past_run_options
@click.argument("ticket", default="")
def diff(track: str, config: Path, database: str, ticket: str) -> None:
    """Print the changes of TICKET, or of TRACK's latest run, as a patch."""
    write_result(run_control.diff(open_project(config), track, ticket, database=database))


@click.command()
@past_run_options
def apply(track: str, config: Path, database: str) -> None:
    """Apply the changes of TRACK's latest run to your files; list them.

    Nothing is written if you have changed one of them since the run began.
    """
    paths = run_control.apply(open_project(config), track, database=database)
    write_rows(*paths)
    if not paths:
        say("there are no changes to apply")


@click.command()
@past_run_options
def drop(track: str, config: Path, database: str) -> None:
    """Discard the changes of TRACK's latest run, with its branches."""
    run_id = run_control.drop(open_project(config), track, database=database)
    write_rows(f"dropped the changes of {run_id}")
