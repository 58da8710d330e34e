"""Arguments and options of the commands of ``conduct``."""

from collections.abc import Callable

import click

from aggregate.cli.conduct.terms_options import TermsSettings, terms_options
from aggregate.cli.options import FiniteRange, config_option, scope_options

track_argument = click.argument("track")

database_option = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Use this database: postgresql://..., or a file for SQLite.  [default: one in your state folder]",
)
shared_database_option = click.option(
    "--database",
    required=True,
    metavar="URL",
    help="Use the database that `aggregate conduct run` uses.",
)
worker_option = click.option(
    "--worker",
    "spec",
    default="scripted",
    show_default=True,
    help="Ask scripted[:FILE] or PROVIDER[:MODEL].",
)
lease_option = click.option(
    "--lease",
    type=FiniteRange(min=0.5),
    default=15.0,
    show_default=True,
    help="Count as dead after this many seconds without a sign of life.",
)

_RUN_OPTIONS = (
    config_option,
    scope_options,
    database_option,
    worker_option,
    terms_options,
    lease_option,
    click.option(
        "--places",
        type=click.IntRange(min=1),
        help="Work on this many tickets at a time in each worker.  [default: 8]",
    ),
    click.option(
        "--no-work", is_flag=True, help="Leave the work to `aggregate conduct worker` processes."
    ),
    click.option(
        "--on-error",
        type=click.Choice(["report", "skip", "fail"]),
        help="Do this to the dependents of a ticket that failed; by default as tickets.toml says, else report.",
    ),
    click.option(
        "--lead/--no-lead",
        default=True,
        show_default=True,
        help="Send one worker ahead of others that share its prefix.",
    ),
    click.option(
        "--max-cost",
        type=FiniteRange(min=0, min_open=True),
        metavar="USD",
        help="Begin no further ticket once the run has cost this many US dollars.",
    ),
    click.option(
        "--plain", is_flag=True, help="Print one line per change instead of a live table."
    ),
)


class RunSettings(TermsSettings):
    """The values of the options of a run that do not concern its project."""

    database: str
    spec: str
    lease: float
    places: int | None
    no_work: bool
    on_error: str | None
    lead: bool
    max_cost: float | None
    plain: bool


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a run, which is begun or gone on with."""
    for option in reversed(_RUN_OPTIONS):
        command = option(command)
    return command
