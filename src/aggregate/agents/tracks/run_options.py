"""How a user wants a track to be run."""

from dataclasses import dataclass, field

from aggregate.agents.tracks.durable.heartbeat import LEASE_SECONDS
from aggregate.agents.tracks.terms import WorkerTerms
from aggregate.agents.tracks.track_events import PollingOptions
from aggregate.base.values import FailurePolicy


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a track is to be run.

    Attributes:
        database: A URL or a file; by default SQLite in the user's state folder of this project.
        concurrency: Tickets that every worker on the database works on at one time; by default as many as before, at
            first 8.
        lease: Seconds after which a worker without a sign of life counts as dead.
        on_error: What a failed ticket does, instead of what ``tickets.toml`` says; a run under way keeps what it has.
        resume: Only go on with the latest run, and run what failed in it once more; begin none.
        retry: Only go on with the latest run, and run these tickets once more, with all that depend on them.
        only: With ``retry``, leave those that depend on them as they are.
        max_cost: The most US dollars that the run may cost; what the track says can only lower it.
        polling: How many tickets are queued at one time, how often the queue is looked at, and what is sent ahead.
        terms: What the user allows the workers; by default what the worker itself says.
    """

    database: str = ""
    concurrency: int | None = None
    lease: float = LEASE_SECONDS
    on_error: FailurePolicy | None = None
    resume: bool = False
    retry: tuple[str, ...] = ()
    only: bool = False
    max_cost: float | None = None
    polling: PollingOptions = field(default_factory=PollingOptions)
    terms: WorkerTerms | None = None
