"""Run the tickets of a track: a worker for each, results merged into those that depend on them, durably.

The files are those of the Conductor: ``conductor/tracks.md`` and ``conductor/tracks/<id>/`` with ``spec.md``,
``plan.md`` and ``metadata.json``; ``tickets.toml`` beside them says what the workers are asked. A host calls
``service.conduct``, ``service.status`` and ``service.cancel``, or ``lifecycle.run_worker_lifecycle`` for one ticket.
"""
