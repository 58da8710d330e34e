"""``conduct``: list the tracks, write, preview and run one; the help loads nothing else."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from aggregate.cli.output import counted, say, warn, warn_all, write_path, write_rows
from aggregate.cli.program import CONDUCT, LazyGroup, require_dbos

if TYPE_CHECKING:  # the help loads none of them
    from aggregate.agents.tracks import PreviewStep, WorkerTerms
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
worker_options = together(option("--database", "URL", "Use this database.", required=True), _WORKER)
past_run_options = together(_PROJECT, _DATABASE)
run_options = together(_PROJECT, options.scope_options, _DATABASE, _WORKER, _RUN)
decision_options = together(
    _TRACK,
    click.argument("ticket"),
    option("--note", "TEXT", "Pass this reason to the tickets that depend on TICKET.", default=""),
    options.config_option,
    _DATABASE,
)


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """The worker's model, tools and limits, as ``WorkerTerms.of_user`` names them."""

    spec: str
    base_url: str
    folder: Path | None
    allow: tuple[str, ...]
    max_tokens: int | None
    max_seconds: float | None
    max_turns: int | None

    def open(self, root: Path) -> "WorkerTerms":
        from aggregate.agents.tracks import WorkerTerms

        return WorkerTerms.of_user(root, **asdict(self))


@dataclass(frozen=True, slots=True)
class AskedRun(AskedProject):
    """The options of a run besides its worker's and those of ``RunOptions``."""

    no_work: bool = False
    apply: bool = False
    strict: bool = False


class ConductGroup(LazyGroup):
    table = CONDUCT


@click.group(
    cls=ConductGroup, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]..."
)
@options.config_option
@click.pass_context
def conduct(context: click.Context, config: Path) -> None:
    """Run the tickets of a track with many workers.

    Without a command, list the tracks. Run a track named like a command so: aggregate conduct run status.
    """
    context.default_map = {name: {"config": config} for name in CONDUCT}
    if context.invoked_subcommand is not None:
        return
    from aggregate.agents.tracks import list_tracks
    from aggregate.prompt.asking import open_project

    tracks = list_tracks(open_project(config).folder)
    if not tracks:
        say(
            "no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/; "
            'to write one: aggregate conduct new NAME --question "..."'
        )
    for track in tracks:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")


@click.command()
@click.argument("name")
@option("--question", "TEXT", "The question to answer; by default NAME.", default="")
@options.config_option
def new(name: str, question: str, config: Path) -> None:
    """Write a track NAME from a question; print its tickets' path.

    No model is asked.
    """
    from aggregate.agents.tracks import new_track
    from aggregate.prompt.asking import open_project

    folder = open_project(config).folder
    tickets = new_track(folder, name, time=datetime.now(UTC), question=question)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")


@click.command()
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
    from aggregate.agents.tracks import WorkerContexts, open_track, preview

    asked_terms, asked = take(AskedTerms, values), take(AskedRun, values)
    project = asked.configured()
    opened = open_track(project.folder, track)
    tickets = opened.tickets()
    terms = asked_terms.open(project.folder).with_checks(project, tickets)
    contexts = WorkerContexts(project, track=opened, terms=terms)
    steps = list(preview(tickets, contexts, max_cost=values["max_cost"]))
    for step in steps:
        write_rows(*_ticket_lines(step))
    tokens = sum(step.tokens for step in steps)
    write_rows(
        f"{counted(len(steps), 'ticket')}, {tokens:,} tokens without the results of dependencies"
    )
    warn_all(contexts.warnings)


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
    from aggregate.agents.tracks import (
        RunOptions,
        conduct as conduct_track,
        open_track,
        worker_of_track,
    )

    asked_terms, asked = take(AskedTerms, values), take(AskedRun, values)
    project = asked.configured()
    track = open_track(project.folder, name)
    terms = asked_terms.open(project.folder).with_checks(project, track.tickets())
    worker = None
    if not asked.no_work:
        worker, recipients = worker_of_track(project, track, asked_terms.spec, terms, tell=warn)
        if recipients:
            say(f"personas ask {', '.join(map(str, recipients))}")
    run_options = RunOptions(resume=resume, retry=retry, terms=terms, **values)
    resumption = f"aggregate conduct resume {track.track_id} continues"
    try:
        result = conduct_track(
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
    from aggregate.prompt.sections.subagent_results import one_line

    say(f"{state:<8} {ticket}{f': {one_line(detail)}' if detail else ''}")
