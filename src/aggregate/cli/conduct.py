"""``conduct``: list, write, preview and run tracks, and manage their runs; the help loads nothing else."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Timer
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from aggregate.agents import tracks
from aggregate.base.errors import DatabaseAwayError, StateError
from aggregate.cli import options
from aggregate.cli.options import (
    POSITIVE,
    AskedProject,
    FiniteRange,
    flag,
    number,
    option,
    take,
    together,
)
from aggregate.cli.output import counted, say, warn, warn_all, write_path, write_result, write_rows
from aggregate.cli.program import Described
from aggregate.prompt import asking
from aggregate.prompt.sections.subagent_results import one_line

if TYPE_CHECKING:  # the help loads none of them
    from aggregate.agents.tracks import PreviewStep, WorkerTerms, run_control
    from aggregate.project.configuration import Project

_TRACK = click.argument("track")
_WORKER = together(
    option(
        "--worker spec",
        "TEXT",
        "Ask scripted[:FILE] or PROVIDER[:MODEL].",
        default="scripted",
        show_default=True,
    ),
    options.base_url_option,
    options.tools_option,
    options.allow_option,
    number(
        "--max-tokens", "Limit the tokens of a ticket; by default 500,000, or as you configured."
    ),
    number(
        "--max-seconds", "Limit the seconds of an attempt; by default as the ticket says.", POSITIVE
    ),
    number("--max-turns", "Limit the requests of a ticket with tools; by default 40."),
    number(
        "--lease",
        "Count a worker as dead after this many seconds of silence.",
        FiniteRange(min=0.5),
        metavar="S",
        default=15.0,
    ),
)
_DATABASE = option(
    "--database",
    "URL",
    "Use this database: postgresql://..., or a file for SQLite.  [default: one in your state folder]",
    default="",
)
_RUN = together(
    number(
        "--places concurrency", "Work on this many tickets at a time in each worker.  [default: 8]"
    ),
    flag("--no-work", "Leave the tickets to processes of `aggregate conduct worker`."),
    number(
        "--max-cost",
        "Start no further ticket once the run has cost this much.",
        POSITIVE,
        metavar="USD",
    ),
    flag("--strict", "End with exit code 1 if a ticket that should edit files changed none."),
    flag("--apply", "Apply the changes to your files at the end."),
)
_PROJECT = together(_TRACK, options.config_option)
past_run_options = together(_PROJECT, _DATABASE)
run_options = together(_PROJECT, options.scope_options, _DATABASE, _WORKER, _RUN)
decision_options = together(
    _TRACK,
    click.argument("ticket"),
    option("--note", "TEXT", "Pass this reason to the tickets that depend on TICKET.", default=""),
    options.config_option,
    _DATABASE,
)
_TERMS = ("spec", "base_url", "folder", "allow", "max_tokens", "max_seconds", "max_turns")
_WITHOUT_DBOS = (None, "new", "run")  # commands that need no extra "agents", or only for a real run


def require_dbos() -> None:
    if find_spec("dbos") is None:
        from aggregate.base.messages import install_command  # seldom needed

        raise StateError(f"running tracks needs DBOS: {install_command('agents')}")


@dataclass(frozen=True, slots=True)
class AskedRun(AskedProject):
    """The options of a run besides its worker's and those of ``RunOptions``."""

    no_work: bool = False
    apply: bool = False
    strict: bool = False


@click.group(cls=Described, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]...")
@options.config_option
@click.pass_context
def conduct(context: click.Context, config: Path) -> None:
    """Run the tickets of a track with many workers.

    Without a command, list the tracks. Run a track named like a command so: aggregate conduct run status.
    """
    context.default_map = {name: {"config": config} for name in conduct.commands}
    if context.invoked_subcommand not in _WITHOUT_DBOS:
        require_dbos()
    if context.invoked_subcommand is not None:
        return
    listed = tracks.list_tracks(asking.open_project(config).folder)
    if not listed:
        say(
            "no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/; "
            'to write one: aggregate conduct new NAME --question "..."'
        )
    for track in listed:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")


@conduct.command()
@run_options
@flag("--dry-run", "Show the order, sizes and models of tickets; run nothing.")
def run(track: str, dry_run: bool, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Run TRACK, or continue its unfinished run; print the report's path.

    The exit code is 1 if a ticket failed or a variable could not be merged.
    """
    if not dry_run:
        require_dbos()
        start_track(track, values)
        return
    asked = take(AskedRun, values)
    project = asked.configured()
    opened = tracks.open_track(project.folder, track)
    tickets = opened.tickets()
    terms = _terms_of(values, project.folder).with_checks(project, tickets)
    contexts = tracks.WorkerContexts(project, track=opened, terms=terms)
    steps = list(tracks.preview(tickets, contexts, max_cost=values["max_cost"]))
    for step in steps:
        write_rows(*_ticket_lines(step))
    tokens = sum(step.tokens for step in steps)
    write_rows(
        f"{counted(len(steps), 'ticket')}, {tokens:,} tokens without the results of dependencies"
    )
    warn_all(contexts.warnings)


def _terms_of(values: dict[str, Any], root: Path) -> "WorkerTerms":
    """Return the worker's model, tools and limits; remove their options from a command's ``values``."""
    return tracks.WorkerTerms.of_user(root, **{name: values.pop(name) for name in _TERMS})


def _ticket_lines(step: "PreviewStep") -> Iterator[str]:
    waits = f" <- {', '.join(step.waits_for)}" if step.waits_for else ""
    into = f" -> {step.ticket.collect_into}" if step.ticket.collect_into else ""
    sizes = f"{step.tokens:,} of {step.budget:,} tokens"
    yield f"{step.wave:>3}  {step.ticket.id}{waits}{into}  {sizes}"
    if step.recipient.model:
        yield f"       asks {step.recipient}"
    if step.ticket.tools:
        yield f"       tools: {', '.join(step.ticket.tools)}"
    yield from (f"       {path}" for path in step.ticket.focus_files)


def start_track(
    name: str, values: dict[str, Any], *, resume: bool = False, retry: tuple[str, ...] = ()
) -> None:
    """Run a track and print its report; exit with 1 after failures."""
    asked, spec = take(AskedRun, values), values["spec"]
    project = asked.configured()
    track = tracks.open_track(project.folder, name)
    terms = _terms_of(values, project.folder).with_checks(project, track.tickets())
    worker = None
    if not asked.no_work:
        worker, recipients = tracks.worker_of_track(project, track, spec, terms, tell=warn)
        if recipients:
            say(f"personas ask {', '.join(map(str, recipients))}")
    run_options = tracks.RunOptions(resume=resume, retry=retry, terms=terms, **values)
    resumption = f"aggregate conduct resume {track.track_id} continues"
    try:
        result = tracks.conduct(
            project,
            track.track_id,
            worker,
            options=run_options,
            observe=lambda event: _say_ticket(event.ticket.id, event.status.value, event.detail),
            tell=say,
        )
    except KeyboardInterrupt:
        say(f"interrupted: {resumption}")
        raise
    write_path(result.report)
    if result.cancelled:
        say(f"cancelled: {resumption}")
    if result.stopped:
        say(f"stopped: {result.stopped}")
    if result.unmerged:
        say(f"not merged: {', '.join(result.unmerged)}; the report has the reasons")
    _offer_changes(project, track.track_id, run_options.database, applies=asked.apply)
    if result.unchanged:
        say(f"no files were edited by {', '.join(result.unchanged)}")
    if not result.succeeded or (asked.strict and result.unchanged):
        raise click.exceptions.Exit(1)


def _offer_changes(project: "Project", track_id: str, database: str, *, applies: bool) -> None:
    from aggregate.agents.tracks import run_control

    if not run_control.changes_to_apply(project, track_id, database=database):
        return
    if applies:
        write_rows(*run_control.apply(project, track_id, database=database))
    else:
        say(f"your files are unchanged: aggregate conduct diff {track_id} shows the changes")


def _say_ticket(ticket: str, state: str, detail: str) -> None:
    say(f"{state:<8} {ticket}{f': {one_line(detail)}' if detail else ''}")


_WATCH_SECONDS = 0.5


@conduct.command()
@past_run_options
@click.argument("ticket", default="")
@flag("--watch", "Keep updating until the run ends.")
def status(track: str, config: Path, database: str, ticket: str, watch: bool) -> None:
    """Show the latest run of TRACK, or the attempts at TICKET."""
    from aggregate.agents.tracks import run_control

    project = asking.open_project(config)
    if ticket:
        attempts = run_control.made_attempts(project, track, ticket, database=database)
        write_rows(*_attempt_rows(attempts))
    elif watch:
        _watch(project, track, database)
    else:
        progress = run_control.status(project, track, database=database)
        write_rows(*(_rows(progress, track) if progress else ["no run yet"]))


def _rows(progress: "run_control.TrackProgress", track: str) -> list[str]:
    from aggregate.agents.tracks import run_control

    total = len(progress.lines) + len(progress.statuses)
    ended = f"{len(progress.lines):,} of {total:,} tickets have ended"
    rows = [f"{progress.run_id}: {progress.state}, {ended}"]
    for line in progress.lines:
        causes = " <- ".join(one_line(error) for error in reversed(line.end.errors))
        why = "; ".join(filter(None, (causes, one_line(line.end.last.warning))))
        rows.append(f"  {line.ticket.id}: {line.account}{f' ({why})' if why else ''}")
    approvals = progress.with_status(tracks.TicketStatus.WAITING)
    rows += [f"  {ticket}: waits for approval" for ticket in approvals]
    for ticket in progress.with_status(tracks.TicketStatus.STARTED, tracks.TicketStatus.SPREAD):
        rows.append(f"  {ticket}: under way")
    goes_on = progress.state in ("running", run_control.INTERRUPTED)
    for ticket in progress.with_status(tracks.TicketStatus.NOT_RUN):
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


def _watch(project: "Project", track: str, database: str) -> None:
    from rich.console import Console  # slow to load
    from rich.live import Live
    from rich.text import Text

    from aggregate.agents.tracks import run_control

    with Live(console=Console(), refresh_per_second=4) as live:
        while progress := run_control.status(project, track, database=database):
            live.update(Text("\n".join(_rows(progress, track))))
            if progress.state != "running":
                return
            time.sleep(_WATCH_SECONDS)
    write_rows("no run yet")


def _attempt_rows(attempts: "list[run_control.MadeAttempt]") -> Iterator[str]:
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


@conduct.command()
@past_run_options
@click.argument("ticket", default="")
def diff(track: str, config: Path, database: str, ticket: str) -> None:
    """Print the changes of TICKET, or of TRACK's latest run, as a patch."""
    from aggregate.agents.tracks import run_control

    write_result(run_control.diff(asking.open_project(config), track, ticket, database=database))


@conduct.command()
@past_run_options
def apply(track: str, config: Path, database: str) -> None:
    """Apply the changes of TRACK's latest run to your files; list them.

    Nothing is written if you have changed one of them since the run began.
    """
    from aggregate.agents.tracks import run_control

    paths = run_control.apply(asking.open_project(config), track, database=database)
    write_rows(*paths)
    if not paths:
        say("there are no changes to apply")


@conduct.command()
@past_run_options
def drop(track: str, config: Path, database: str) -> None:
    """Discard the changes of TRACK's latest run, with its branches."""
    from aggregate.agents.tracks import run_control

    run_id = run_control.drop(asking.open_project(config), track, database=database)
    write_rows(f"dropped the changes of {run_id}")


@conduct.command()
@run_options
def resume(track: str, **values: Any) -> None:  # noqa: ANN401 - as click passes them
    """Continue the latest run of TRACK: run open and failed tickets.

    Print the report's path; the exit code is 1 if a ticket failed.
    """
    start_track(track, values, resume=True)


@conduct.command()
@run_options
@click.argument("tickets", nargs=-1, required=True)
def retry(track: str, tickets: tuple[str, ...], **values: Any) -> None:  # noqa: ANN401 - as above
    """Run TICKETS of TRACK's latest run again, with their dependents.

    New results replace the old ones. Name one child of a list as fan[2].
    """
    start_track(track, values, retry=tickets)


@conduct.command()
@decision_options
def approve(config: Path, ticket: str, **values: str) -> None:
    """Approve a waiting TICKET; run its dependents."""
    _decide(config, ticket, **values, approved=True)


@conduct.command()
@decision_options
def reject(config: Path, ticket: str, **values: str) -> None:
    """Reject a waiting TICKET; do not run its dependents."""
    _decide(config, ticket, **values, approved=False)


def _decide(
    config: Path, ticket: str, *, track: str, note: str, database: str, approved: bool
) -> None:
    from aggregate.agents.tracks import run_control

    run_id = run_control.decide(
        asking.open_project(config), track, ticket, approved=approved, note=note, database=database
    )
    write_rows(f"{'approved' if approved else 'rejected'} {ticket} of {run_id}")


@conduct.command()
@past_run_options
def cancel(track: str, config: Path, database: str) -> None:
    """Cancel the current run of TRACK."""
    from aggregate.agents.tracks import run_control

    run_id = run_control.cancel(asking.open_project(config), track, database=database)
    write_rows(f"cancelled {run_id}")


@conduct.command()
@past_run_options
def forget(track: str, config: Path, database: str) -> None:
    """Delete the finished runs of TRACK from the database; keep files."""
    from aggregate.agents.tracks import run_control

    forgotten = run_control.forget(asking.open_project(config), track, database=database)
    write_rows(*([f"forgot {run_id}" for run_id in forgotten] or ["no finished run"]))


@conduct.command()
@click.argument("name")
@option("--question", "TEXT", "The question to answer; by default NAME.", default="")
@options.config_option
def new(name: str, question: str, config: Path) -> None:
    """Write a track NAME from a question; print its tickets' path.

    No model is asked.
    """
    folder = asking.open_project(config).folder
    tickets = tracks.new_track(folder, name, time=datetime.now(UTC), question=question)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")


_LOOK_SECONDS = 0.5  # of one wait: an endless wait would hide Ctrl-C on Windows
_AWAY_SECONDS = 2.0  # between attempts to reach the database
_LAST_SECONDS = 5.0  # for a stopping worker's current attempt


@conduct.command()
@option("--database", "URL", "Use this database.", required=True)
@_WORKER
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
    spec, terms = values["spec"], _terms_of(values, Path())
    answering = tracks.make_worker(
        spec,
        redaction=asking.redaction_for(sending=True),
        tell=warn,
        base_url=terms.base_url,
        terms=terms,
    )
    last_error = ""
    while not stop.is_set():
        try:
            with tracks.run_worker(database, answering, lease=lease) as process:
                say(f"working as {process.executor_id}")
                while not stop.wait(_LOOK_SECONDS):
                    pass
        except DatabaseAwayError as error:
            if str(error) != last_error:
                say(f"waiting for the database: {error}")
            last_error = str(error)
            stop.wait(_AWAY_SECONDS)
