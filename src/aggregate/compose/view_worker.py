"""A process that renders views: batches of requests come in on its standard input, views go out on its output."""

import os
import pickle
import sys

from aggregate.models.view import PackedView, View, ViewRequest
from aggregate.views.rendering import render_view


def serve() -> None:
    """Answer batches until the input ends. What a library prints goes to standard error, not between the answers."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin.close()
    while True:
        try:
            batch: list[ViewRequest] = pickle.load(requests)  # noqa: S301 - a private pipe from the parent
        except EOFError:
            return
        views = [render_view(request) for request in batch]
        plain: list[PackedView | str] = [view.pack() if isinstance(view, View) else view for view in views]
        pickle.dump(plain, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
