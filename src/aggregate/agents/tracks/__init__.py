"""Tracks: sets of dependent tickets, each answered by a worker.

A worker is usually a language model. The files are those of the Conductor: ``conductor/tracks.md`` and
``conductor/tracks/<id>/`` with ``spec.md`` and ``tickets.toml``. A host calls ``conduct`` and ``run_control``, or
``run_worker_lifecycle`` for one ticket.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.tracks.assignment import *
    from aggregate.agents.tracks.attempt import *
    from aggregate.agents.tracks.service import *
    from aggregate.agents.tracks.tickets import *
    from aggregate.agents.tracks.track import *
    from aggregate.agents.tracks.track_run import PreviewStep, RunOptions, preview
    from aggregate.agents.tracks.work_trees import *
    from aggregate.agents.tracks.worker import *
    from aggregate.agents.tracks.worker_context import WorkerContexts
    from aggregate.agents.tracks.worker_terms import WorkerTerms, worker_tools
else:
    __getattr__ = door(
        __name__,
        {
            "assignment": "Assignment TicketOutcome TicketStatus WorkerReply",
            "attempt": "Steps Worker attempt_assignment complete_assignment",
            "service": "conduct run_worker",
            "worker_terms": "WorkerTerms worker_tools",
            "tickets": "Ticket",
            "track": "list_tracks new_track open_track",
            "track_run": "PreviewStep RunOptions preview",
            "work_trees": "depot",
            "worker": "ModelWorker make_worker run_worker_lifecycle worker_of_track",
            "worker_context": "WorkerContexts",
        },
    )
