"""``conduct status``, ``diff``, ``apply`` and ``drop``."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from aggregate.agents.tracks import TicketStatus, applying, run_control
from aggregate.cli.conduct.options import past_run_options
from aggregate.cli.output import say, write_result, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.prompt.sections import one_line

_WATCH_SECONDS = 0.5
_BAR = 20  # characters
_USUAL_TURNS = 40  # full bar of a ticket without max_turns


@click.command()
@past_run_options
@click.argument("ticket", default="")
@click.option("--watch", is_flag=True, help="Keep updating, with a progress bar for each ticket.")
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
    total = len(progress.tickets)
    ended = f"{len(progress.lines):,} of {total:,} tickets have ended"
    rows = [f"{progress.run_id}: {progress.state}, {ended}"]
    for line in progress.lines:
        causes = " <- ".join(one_line(error) for error in reversed(line.end.errors))
        lost = progress.failed_before.get(line.ticket.id)
        reasons = [causes, line.end.last.warning, f"without the result of {lost}" if lost else ""]
        why = "; ".join(one_line(reason) for reason in reasons if reason)
        rows.append(f"  {line.ticket.id}: {line.account}{f' ({why})' if why else ''}")
    approvals = progress.with_status(TicketStatus.WAITING)
    rows += [f"  {ticket}: waits for approval" for ticket in approvals]
    for ticket in progress.with_status(TicketStatus.STARTED, TicketStatus.SPREAD):
        rows.append(f"  {ticket}: under way{_turns(progress, ticket)}")
    goes_on = progress.state in ("running", run_control.INTERRUPTED)
    for ticket in progress.with_status(TicketStatus.NOT_RUN):
        lost = progress.failed_before.get(ticket)
        why = f", {lost} has failed" if lost else ""
        rows.append(f"  {ticket}: {'waiting' if goes_on else 'not run'}{why}")
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


def _turns(progress: run_control.TrackProgress, ticket: str) -> str:
    turns = progress.turns.get(ticket)
    return f", turn {turns + 1}" if turns is not None else ""


def _watch(project: Project, track: str, database: str) -> None:
    from rich.console import Console  # slow to load
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), refresh_per_second=4) as live:
        while progress := run_control.status(project, track, database=database):
            live.update(Text("\n".join(_bars(progress))))
            if progress.state != "running":
                break
            time.sleep(_WATCH_SECONDS)
    if progress is None:
        write_rows("no run yet")


def _bars(progress: run_control.TrackProgress) -> Iterator[str]:
    lines = {line.ticket.id: line for line in progress.lines}
    yield f"{progress.run_id}: {progress.state}, {len(lines):,} of {len(progress.tickets):,}"
    for ticket in progress.tickets:
        line = lines.get(ticket.id)
        part, state = 0.0, "waiting"
        if line is not None:
            part, state = 1.0, line.account
        elif progress.statuses[ticket.id] in (TicketStatus.STARTED, TicketStatus.SPREAD):
            turns = progress.turns.get(ticket.id, 0)
            part = min(turns / (ticket.max_turns or _USUAL_TURNS), 1.0)
            state = f"under way{_turns(progress, ticket.id)}"
        elif progress.statuses[ticket.id] is TicketStatus.WAITING:
            state = "waits for approval"
        done = round(part * _BAR)
        yield f"{'█' * done}{'░' * (_BAR - done)} {ticket.id}: {state}"


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
    """Return the row of a turn, a call or a check."""
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
    write_result(applying.diff(open_project(config), track, ticket, database=database))


@click.command()
@past_run_options
def apply(track: str, config: Path, database: str) -> None:
    """Apply the changes of TRACK's latest run to your files; list them.

    Nothing is written if you have changed one of them since the run began.
    """
    paths = applying.apply(open_project(config), track, database=database)
    write_rows(*paths)
    if not paths:
        say("there are no changes to apply")


@click.command()
@past_run_options
def drop(track: str, config: Path, database: str) -> None:
    """Discard the changes of TRACK's latest run, with its branches."""
    run_id = applying.drop(open_project(config), track, database=database)
    write_rows(f"dropped the changes of {run_id}")
