"""Tracks: sets of dependent tickets, each answered by a worker.

A worker is usually a language model. The files are those of the Conductor: ``conductor/tracks.md`` and
``conductor/tracks/<id>/`` with ``spec.md`` and ``tickets.toml``. A host calls ``conduct`` and ``run_control``, or
``run_worker_lifecycle`` for one ticket.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.tracks.assignment import (
        Assignment,
        TicketOutcome,
        TicketStatus,
        WorkerReply,
    )
    from aggregate.agents.tracks.attempt import (
        attempt_assignment,
        complete_assignment,
        run_worker_lifecycle,
    )
    from aggregate.agents.tracks.preview import PreviewStep, preview
    from aggregate.agents.tracks.run_files import PollingOptions, RunOptions
    from aggregate.agents.tracks.service import conduct, run_worker
    from aggregate.agents.tracks.terms import WorkerTerms, worker_tools
    from aggregate.agents.tracks.tickets import Ticket
    from aggregate.agents.tracks.track import list_tracks, new_track, open_track
    from aggregate.agents.tracks.trees import depot
    from aggregate.agents.tracks.worker import ModelWorker, Worker, make_worker, worker_of_track
    from aggregate.agents.tracks.worker_context import WorkerContexts
else:
    __getattr__ = door(
        __name__,
        {
            "assignment": "Assignment TicketOutcome TicketStatus WorkerReply",
            "attempt": "attempt_assignment complete_assignment run_worker_lifecycle",
            "preview": "PreviewStep preview",
            "run_files": "PollingOptions RunOptions",
            "service": "conduct run_worker",
            "terms": "worker_tools WorkerTerms",
            "tickets": "Ticket",
            "track": "list_tracks new_track open_track",
            "trees": "depot",
            "worker": "make_worker ModelWorker Worker worker_of_track",
            "worker_context": "WorkerContexts",
        },
    )
