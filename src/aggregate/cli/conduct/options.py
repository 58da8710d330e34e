"""Arguments and options of ``conduct``."""

from pathlib import Path
from typing import TypedDict

import click

from aggregate.agents.tracks import WorkerTerms
from aggregate.cli import options
from aggregate.cli.options import POSITIVE, Command, Decorator, FiniteRange, limit_option
from aggregate.project.configuration import Project
from aggregate.prompt import open_project


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
    options.base_url_option,
    options.tools_option,
    options.allow_option,
    limit_option(
        "--max-tokens", "Limit the tokens of a ticket; by default 500,000, or as you configured."
    ),
    limit_option(
        "--max-seconds", "Limit the seconds of an attempt; by default as the ticket says.", POSITIVE
    ),
    limit_option("--max-turns", "Limit the requests of a ticket with tools; by default 40."),
)
_LEASE = limit_option(
    "--lease",
    "Count a worker as dead after this many seconds of silence.",
    FiniteRange(min=0.5),
    metavar="S",
    default=15.0,
)
_DATABASE = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Use this database: postgresql://..., or a file for SQLite.  [default: one in your state folder]",
)
_SHARED_DATABASE = click.option(
    "--database", required=True, metavar="URL", help="Use this database."
)
_RUN = (
    limit_option("--places", "Work on this many tickets at a time in each worker.  [default: 8]"),
    click.option(
        "--no-work",
        is_flag=True,
        help="Leave the tickets to processes of `aggregate conduct worker`.",
    ),
    limit_option(
        "--max-cost",
        "Start no further ticket once the run has cost this much.",
        POSITIVE,
        metavar="USD",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="End with exit code 1 if a ticket that should edit files changed none.",
    ),
    click.option("--apply", is_flag=True, help="Apply the changes to your files at the end."),
)


def _adding(*decorators: Decorator) -> Decorator:
    def add(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return add


worker_options = _adding(_SHARED_DATABASE, _WORKER, *_TERMS, _LEASE)
_PROJECT = (_TRACK, options.config_option)
run_options = _adding(*_PROJECT, options.scope_options, _DATABASE, _WORKER, *_TERMS, _LEASE, *_RUN)
past_run_options = _adding(*_PROJECT, _DATABASE)
decision_options = _adding(
    _TRACK,
    click.argument("ticket"),
    click.option(
        "--note",
        default="",
        metavar="TEXT",
        help="Pass this reason to the tickets that depend on TICKET.",
    ),
    options.config_option,
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
    outside, secrets = settings["allow_outside"], settings["allow_secrets"]
    return open_project(settings["config"], allow_outside=outside, allow_secrets=secrets)
