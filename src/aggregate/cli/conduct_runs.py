"""``conduct`` commands that run, show, apply and manage runs; they need DBOS."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer
from types import FrameType
from typing import Any

import click

from aggregate.agents.tracks import TicketStatus, make_worker, run_control, run_worker
from aggregate.base.errors import DatabaseAwayError
from aggregate.cli import conduct
from aggregate.cli.options import flag, take
from aggregate.cli.output import say, warn, write_result, write_rows
from aggregate.project.configuration import Project
from aggregate.prompt.asking import open_project, redaction_for
from aggregate.prompt.sections.subagent_results import one_line


@click.command()
@conduct.run_options
def resume(track: str, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Continue the latest run of TRACK: run open and failed tickets.

    Print the report's path; the exit code is 1 if a ticket failed.
    """
    conduct.start_track(track, values, resume=True)


@click.command()
@conduct.run_options
@click.argument("tickets", nargs=-1, required=True)
def retry(track: str, tickets: tuple[str, ...], **values: Any) -> None:  # noqa: ANN401 - as above
    """Run TICKETS of TRACK's latest run again, with their dependents.

    New results replace the old ones. Name one child of a list as fan[2].
    """
    conduct.start_track(track, values, retry=tickets)


_WATCH_SECONDS = 0.5


@click.command()
@conduct.past_run_options
@click.argument("ticket", default="")
@flag("--watch", "Keep updating until the run ends.")
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
                return
            time.sleep(_WATCH_SECONDS)
    write_rows("no run yet")


def _attempt_rows(attempts: list[run_control.MadeAttempt]) -> Iterator[str]:
    rounds = {attempt.round for attempt in attempts}
    for attempt in attempts:
        reply = attempt.reply
        usage = f", {reply.seconds:.0f} s, {reply.tokens:,} tokens" if reply else ""
        cost = f", ${reply.cost:.4f}" if reply and reply.cost else ""
        prefix = f"round {attempt.round}, " if len(rounds) > 1 else ""
        yield f"{prefix}attempt {attempt.number}: {one_line(attempt.state)}{usage}{cost}"
        yield from map(_step, attempt.lines)


def _step(line: dict[str, Any]) -> str:
    """Return the table row of a worker's turn, call or check."""
    name = f"turn {line['turn']}" if line["event"] == "turn" else line.get("tool", "check")
    tokens = f", {line['tokens']:,} tokens" if line.get("tokens") else ""
    fault = line.get("detail", "timed out" if line["outcome"] == "timeout" else "")
    reason = f": {one_line(fault)}" if fault else ""
    return f"  {name}{reason} ({line['seconds']:.1f} s{tokens})"


@click.command()
@conduct.past_run_options
@click.argument("ticket", default="")
def diff(track: str, config: Path, database: str, ticket: str) -> None:
    """Print the changes of TICKET, or of TRACK's latest run, as a patch."""
    write_result(run_control.diff(open_project(config), track, ticket, database=database))


@click.command()
@conduct.past_run_options
def apply(track: str, config: Path, database: str) -> None:
    """Apply the changes of TRACK's latest run to your files; list them.

    Nothing is written if you have changed one of them since the run began.
    """
    paths = run_control.apply(open_project(config), track, database=database)
    write_rows(*paths)
    if not paths:
        say("there are no changes to apply")


@click.command()
@conduct.past_run_options
def drop(track: str, config: Path, database: str) -> None:
    """Discard the changes of TRACK's latest run, with its branches."""
    run_id = run_control.drop(open_project(config), track, database=database)
    write_rows(f"dropped the changes of {run_id}")


@click.command()
@conduct.decision_options
def approve(config: Path, ticket: str, **values: str) -> None:
    """Approve a waiting TICKET; run its dependents."""
    _decide(config, ticket, **values, approved=True)


@click.command()
@conduct.decision_options
def reject(config: Path, ticket: str, **values: str) -> None:
    """Reject a waiting TICKET; do not run its dependents."""
    _decide(config, ticket, **values, approved=False)


def _decide(
    config: Path, ticket: str, *, track: str, note: str, database: str, approved: bool
) -> None:
    run_id = run_control.decide(
        open_project(config), track, ticket, approved=approved, note=note, database=database
    )
    write_rows(f"{'approved' if approved else 'rejected'} {ticket} of {run_id}")


@click.command()
@conduct.past_run_options
def cancel(track: str, config: Path, database: str) -> None:
    """Cancel the current run of TRACK."""
    run_id = run_control.cancel(open_project(config), track, database=database)
    write_rows(f"cancelled {run_id}")


@click.command()
@conduct.past_run_options
def forget(track: str, config: Path, database: str) -> None:
    """Delete the finished runs of TRACK from the database; keep files."""
    forgotten = run_control.forget(open_project(config), track, database=database)
    write_rows(*([f"forgot {run_id}" for run_id in forgotten] or ["no finished run"]))


_LOOK_SECONDS = 0.5  # of one wait: an endless wait would hide Ctrl-C on Windows
_AWAY_SECONDS = 2.0  # between attempts to reach the database
_LAST_SECONDS = 5.0  # for a stopping worker's current attempt


@click.command()
@conduct.worker_options
def worker(database: str, lease: float, **values: Any) -> None:  # noqa: ANN401 - as above
    """Work on the tickets of every track on a database until interrupted."""
    stop = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        # A wait for an unreachable database never ends; recorded results are safe.
        last = Timer(_LAST_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()

    signal.signal(signal.SIGTERM, end)
    asked = take(conduct.AskedTerms, values)
    answering = make_worker(
        asked.spec,
        redaction=redaction_for(sending=True),
        tell=warn,
        base_url=asked.base_url,
        terms=asked.open(Path()),
    )
    last_error = ""
    while not stop.is_set():
        try:
            with run_worker(database, answering, lease=lease) as process:
                say(f"working as {process.executor_id}")
                while not stop.wait(_LOOK_SECONDS):
                    pass
        except DatabaseAwayError as error:
            if str(error) != last_error:
                say(f"waiting for the database: {error}")
            last_error = str(error)
            stop.wait(_AWAY_SECONDS)
