"""``conduct worker``: work on the tickets of every track on a database."""

import signal
from pathlib import Path
from threading import Event
from typing import Unpack

import click

from aggregate.agents.tracks import make_worker, run_worker
from aggregate.cli.conduct.options import TermsSettings, open_terms, worker_options
from aggregate.cli.output import say, warn
from aggregate.prompt import redaction_for

# How long a wait lasts before Python looks whether it was interrupted: a wait without end hides Ctrl-C on Windows.
_LOOK_SECONDS = 0.5


@click.command()
@worker_options
def worker(database: str, lease: float, **settings: Unpack[TermsSettings]) -> None:
    """Work on the tickets of every track on a database until interrupted."""
    stop = Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    redaction = redaction_for(sending=True)
    answering = make_worker(
        settings["spec"],
        redact=redaction.replaces,
        allow=redaction.allow,
        tell=warn,
        base_url=settings["base_url"],
        terms=open_terms(settings, Path()),
    )
    with run_worker(database, answering, lease=lease) as process:
        say(f"working as {process.executor_id}")
        while not stop.wait(_LOOK_SECONDS):
            pass
