"""A process that renders views: batches of requests come in on its standard input, views go out on its output."""

import os
import pickle
import sys

from aggregate.models.view import View, ViewRequest
from aggregate.views.attempt import attempt


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
        views: list[View | str] = [attempt(request) for request in batch]
        pickle.dump(views, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
