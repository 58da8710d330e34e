"""A process that renders views: batches of requests come in, views go out."""

import gc
import pickle
from itertools import chain

from aggregate.concurrency.pipes import serve_requests
from aggregate.models.view import PackedView, View, ViewRequest
from aggregate.views.rendering import views_by_file

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A hundred times what is usual: some ten megabytes."""


def serve() -> None:
    """Say that the process is ready, then answer batches until standard input ends."""
    # Hardly anything here makes cycles, and looking for them often takes some percent of the time.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    serve_requests(_render_batch, greeting=b"")


def _render_batch(request: bytes) -> bytes:
    batch: list[ViewRequest] = pickle.loads(request)  # noqa: S301 - a private pipe from the parent
    views = chain.from_iterable(views_by_file(batch))
    packed: list[PackedView | str] = [
        view.pack() if isinstance(view, View) else view for view in views
    ]
    return pickle.dumps(packed, protocol=pickle.HIGHEST_PROTOCOL)
