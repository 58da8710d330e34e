"""A process that renders views: batches of requests come in, views go out."""

import pickle

from aggregate.concurrency.pipes import serve_requests
from aggregate.models.view import PackedView, View, ViewRequest
from aggregate.views.rendering import render_view


def serve() -> None:
    """Answer batches until standard input ends."""
    serve_requests(_render_batch)


def _render_batch(request: bytes) -> bytes:
    batch: list[ViewRequest] = pickle.loads(request)  # noqa: S301 - a private pipe from the parent
    views = [render_view(request) for request in batch]
    packed: list[PackedView | str] = [
        view.pack() if isinstance(view, View) else view for view in views
    ]
    return pickle.dumps(packed, protocol=pickle.HIGHEST_PROTOCOL)
