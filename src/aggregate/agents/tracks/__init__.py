"""Tracks: sets of dependent tickets, each answered by a worker.

A worker is usually a language model. The files are those of the Conductor: ``conductor/tracks.md`` and
``conductor/tracks/<id>/`` with ``spec.md`` and ``tickets.toml``. A host calls ``conduct`` and ``run_control``, or
``run_worker_lifecycle`` for one ticket.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.tracks.assignment import TicketStatus, WorkerReply
    from aggregate.agents.tracks.service import conduct, run_worker
    from aggregate.agents.tracks.terms import WorkerTerms
    from aggregate.agents.tracks.tickets import Ticket
    from aggregate.agents.tracks.track import list_tracks, new_track, open_track
    from aggregate.agents.tracks.track_run import RunOptions
    from aggregate.agents.tracks.worker import (
        ModelWorker,
        make_worker,
        run_worker_lifecycle,
        worker_of_track,
    )
    from aggregate.agents.tracks.worker_context import PreviewStep, WorkerContexts, preview
else:
    __getattr__ = door(
        __name__,
        {
            "assignment": "TicketStatus WorkerReply",
            "service": "conduct run_worker",
            "terms": "WorkerTerms",
            "tickets": "Ticket",
            "track": "list_tracks new_track open_track",
            "track_run": "RunOptions",
            "worker": "ModelWorker make_worker run_worker_lifecycle worker_of_track",
            "worker_context": "PreviewStep WorkerContexts preview",
        },
    )
