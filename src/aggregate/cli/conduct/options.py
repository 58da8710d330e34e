"""Arguments and options of the commands of ``conduct``, and what the user allows workers by them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import click

from aggregate.agents.tracks import WorkerTerms
from aggregate.cli.options import (
    FiniteRange,
    allow_option,
    base_url_option,
    config_option,
    scope_options,
    tools_option,
)
from aggregate.project.configuration import Project
from aggregate.prompt import open_project

Command = Callable[..., None]


class TermsSettings(TypedDict):
    spec: str
    base_url: str
    folder: Path | None
    allow: tuple[str, ...]
    max_tokens: int | None
    max_seconds: float | None
    max_turns: int | None


class RunSettings(TermsSettings):
    config: Path
    allow_outside: bool | None
    allow_secrets: bool | None
    database: str
    lease: float
    places: int | None
    no_work: bool
    max_cost: float | None
    apply: bool
    strict: bool


_TRACK = click.argument("track")
_WORKER = click.option(
    "--worker",
    "spec",
    default="scripted",
    show_default=True,
    help="Ask scripted[:FILE] or PROVIDER[:MODEL].",
)
_TERMS = (
    base_url_option,
    tools_option,
    allow_option,
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let a ticket use at most this many tokens; by default as [conduct] of your own "
        "configuration says, else 500,000.",
    ),
    click.option(
        "--max-seconds",
        type=FiniteRange(min=0, min_open=True),
        metavar="N",
        help="Let one attempt take at most this many seconds; by default as the ticket says.",
    ),
    click.option(
        "--max-turns",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let a ticket with tools ask the model at most this many times; by default 40.",
    ),
)
_LEASE = click.option(
    "--lease",
    type=FiniteRange(min=0.5),
    default=15.0,
    show_default=True,
    help="Count as dead after this many seconds without a sign of life.",
)
_DATABASE = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Use this database: postgresql://..., or a file for SQLite.  [default: one in your state folder]",
)
_SHARED_DATABASE = click.option(
    "--database",
    required=True,
    metavar="URL",
    help="Use the database that `aggregate conduct run` uses.",
)
_RUN = (
    click.option(
        "--places",
        type=click.IntRange(min=1),
        help="Work on this many tickets at a time in each worker.  [default: 8]",
    ),
    click.option(
        "--no-work", is_flag=True, help="Leave the work to `aggregate conduct worker` processes."
    ),
    click.option(
        "--max-cost",
        type=FiniteRange(min=0, min_open=True),
        metavar="USD",
        help="Begin no further ticket once the run has cost this many US dollars.",
    ),
    click.option(
        "--strict", is_flag=True, help="End with exit code 1 if a ticket changed nothing."
    ),
    click.option(
        "--apply", is_flag=True, help="Write what tickets have changed into your files at the end."
    ),
)


def _adding(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


worker_options = _adding(_SHARED_DATABASE, _WORKER, *_TERMS, _LEASE)
run_options = _adding(
    _TRACK, config_option, scope_options, _DATABASE, _WORKER, *_TERMS, _LEASE, *_RUN
)
past_run_options = _adding(_TRACK, config_option, _DATABASE)
decision_options = _adding(
    _TRACK,
    click.argument("ticket"),
    click.option(
        "--note",
        default="",
        metavar="TEXT",
        help="Say why; what depends on the ticket is shown it.",
    ),
    config_option,
    _DATABASE,
)


def open_terms(settings: TermsSettings, root: Path) -> WorkerTerms:
    return WorkerTerms.of_user(
        root,
        settings["spec"],
        base_url=settings["base_url"],
        folder=settings["folder"],
        allow=settings["allow"],
        max_tokens=settings["max_tokens"],
        max_seconds=settings["max_seconds"],
        max_turns=settings["max_turns"],
    )


def open_run_project(settings: RunSettings) -> Project:
    return open_project(
        settings["config"],
        allow_outside=settings["allow_outside"],
        allow_secrets=settings["allow_secrets"],
    )
