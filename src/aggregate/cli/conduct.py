"""``conduct``: list the tracks and write one; the options of its other commands."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregate.cli import options
from aggregate.cli.options import (
    POSITIVE,
    AskedProject,
    FiniteRange,
    flag,
    number,
    option,
    together,
)
from aggregate.cli.output import say, write_path, write_rows
from aggregate.cli.program import CONDUCT, LazyGroup

if TYPE_CHECKING:  # the help loads none of them
    from aggregate.agents.tracks import WorkerTerms

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
    number("--places", "Work on this many tickets at a time in each worker.  [default: 8]"),
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
    """The options of a run besides its worker's."""

    database: str = ""
    lease: float = 0
    places: int | None = None
    no_work: bool = False
    max_cost: float | None = None
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
    from aggregate.prompt import open_project

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
    from aggregate.prompt import open_project

    folder = open_project(config).folder
    tickets = new_track(folder, name, time=datetime.now(UTC), question=question)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")
