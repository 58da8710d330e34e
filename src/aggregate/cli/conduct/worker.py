"""``conduct worker``: work on the tickets of every track on a database."""

import signal
from threading import Event

import click

from aggregate.cli.conduct.options import lease_option, shared_database_option, worker_option
from aggregate.cli.output import say, warn
from aggregate.compose.project import redaction_for
from aggregate.conductor.service import run_worker
from aggregate.conductor.worker import make_worker

_LOOK_SECONDS = 0.5
"""How long a wait lasts before Python looks whether it was interrupted: a wait without end hides Ctrl-C on Windows."""


@click.command()
@shared_database_option
@worker_option
@lease_option
def worker(database: str, spec: str, lease: float) -> None:
    """Work on the tickets of every track on a database until interrupted."""
    stop = Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
    redaction = redaction_for(sending=True)
    allow = redaction.allow if redaction else ()
    answering = make_worker(spec, redact=redaction is not None, allow=allow, tell=warn)
    with run_worker(database, answering, lease=lease, away=_say_away) as process:
        say(f"working as {process.executor_id}")
        while not stop.wait(_LOOK_SECONDS):
            pass


def _say_away(reason: str) -> None:
    say(f"waiting for the database ({reason})")
