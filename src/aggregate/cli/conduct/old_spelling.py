"""``conduct TRACK`` with flags, and ``worker``, as the last release spelled them; they go with the next one."""

from pathlib import Path
from typing import Any

import click
from click.exceptions import NoSuchCommand

from aggregate.cli import lazy
from aggregate.cli.commands import CONDUCT, load
from aggregate.cli.conduct.options import (
    lease_option,
    run_options,
    shared_database_option,
    worker_option,
)
from aggregate.cli.conduct.terms_options import terms_options
from aggregate.cli.output import say

_COMMANDS = ("status", "resume", "cancel", "forget")
"""Commands that the old spelling has as flags; they exclude each other and ``--dry-run``."""
BY_TRACK = "TRACK"


@click.command(BY_TRACK, hidden=True)
@click.argument("track", required=False, metavar="")
@run_options
@click.option("--dry-run", is_flag=True, help="Show order, contexts and tokens; run nothing.")
@click.option("--status", is_flag=True, help="Show how the latest run stands.")
@click.option("--resume", is_flag=True, help="Go on with an unfinished run; never begin one.")
@click.option("--cancel", is_flag=True, help="End the run that is under way.")
@click.option(
    "--forget", is_flag=True, help="Delete runs that are over from the database; their files stay."
)
@click.pass_context
def by_track(context: click.Context, /, track: str | None, dry_run: bool, **options: Any) -> None:  # noqa: ANN401
    """Run the tickets of TRACK, or what a flag says; write a command before TRACK instead."""
    flags = [name for name in _COMMANDS if options[name]]
    if len(flags) + dry_run > 1:
        raise click.UsageError(
            "--dry-run, --status, --resume, --cancel and --forget exclude each other: take one of them"
        )
    if track is None:
        lazy.print_tracks(options["config"])
        return
    _refuse_mistyped(context, track, options["config"])
    name = flags[0] if flags else "run"
    old = f"conduct {track} --{name}" if flags else f"conduct {track}"
    _say_new_spelling(old, f"conduct {name} {track}")
    _forward(context, name, context.params)


def _refuse_mistyped(context: click.Context, name: str, config: Path) -> None:
    """Name the nearest command where ``name`` is near one and no track's.

    Raises:
        NoSuchCommand: It is.
    """
    mistyped = NoSuchCommand(name, possibilities=CONDUCT, ctx=context.parent)
    if mistyped.possibilities and not lazy.is_track(config, name):
        raise mistyped


@click.command(hidden=True)
@shared_database_option
@worker_option
@terms_options
@lease_option
@click.pass_context
def worker(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - passed on as they are
    """Work on the tickets of every track on a database until interrupted."""
    _say_new_spelling("worker", "conduct worker")
    _forward(context, "worker", options)


def _say_new_spelling(old: str, new: str) -> None:
    say(f"aggregate {old} is now aggregate {new}: the old spelling goes with the next release")


def _forward(context: click.Context, name: str, options: dict[str, Any]) -> None:
    """Invoke a command of ``conduct`` with those of the options that it has."""
    command = load(name, CONDUCT)
    own = {parameter.name for parameter in command.params}
    context.invoke(command, **{key: value for key, value in options.items() if key in own})
