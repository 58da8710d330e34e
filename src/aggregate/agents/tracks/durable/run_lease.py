"""Who conducts a run: a lease beside those of the workers, so that others see whether anybody still does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_hex
from threading import Event, Thread

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from aggregate.agents.tracks.durable.database import first_line, retry_while_away
from aggregate.agents.tracks.durable.heartbeat import RENEWALS_PER_LEASE, Heartbeat, this_process


@contextmanager
def conducting(
    engine: sa.Engine,
    run_id: str,
    *,
    lease: float,
    away: Callable[[str], None] = lambda _reason: None,
) -> Iterator[None]:
    """Let others see while the block runs that this process conducts a run.

    Args:
        engine: The database.
        run_id: The run.
        lease: Seconds after which it counts as interrupted if this process gives no sign of life.
        away: Called in a thread with the reason, once for each time, while nothing can be written, such as onto a full
            disk: workers wait without a word until something can.
    """
    heartbeat = _heartbeat(engine, run_id, lease)
    retry_while_away(engine, heartbeat.renew_lease)
    stop = Event()

    def beat() -> None:
        is_away = False
        while not stop.wait(lease / RENEWALS_PER_LEASE):
            try:
                heartbeat.renew_lease()
                is_away = False
            except SQLAlchemyError as error:
                # The lease runs out, and that is right.
                if not is_away:
                    away(first_line(error))
                is_away = True

    thread = Thread(target=beat, name="conductor-run-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        heartbeat.stop()


def is_conducted(engine: sa.Engine, run_id: str) -> bool:
    """Tell whether a process conducts a run now: its lease holds, and it has not ended on this machine."""
    heartbeat = _heartbeat(engine, run_id, 0)
    return retry_while_away(engine, lambda: heartbeat.any_alive(_prefix(run_id)))


def _heartbeat(engine: sa.Engine, run_id: str, lease: float) -> Heartbeat:
    # A name of its own, for this process may work on tickets too.
    me = replace(this_process(), executor_id=f"{_prefix(run_id)}{token_hex(6)}")
    return Heartbeat(engine, me, lease=lease, recover=lambda _executor_id: None)


def _prefix(run_id: str) -> str:
    return f"conductor of {run_id}: "
