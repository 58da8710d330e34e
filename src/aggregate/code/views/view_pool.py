"""Many views at once: what runs a grammar is made in child processes, all else here."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from aggregate.base.concurrency import PATIENCE, Call, in_children
from aggregate.base.files import PackedView, View, ViewRequest
from aggregate.code.views.rendering import packed_views, render_view, takes_grammar, without_grammar


def render_all(
    requests: Iterable[ViewRequest],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = PATIENCE,
) -> Iterator[View | str]:
    """Yield the view of each request, in their order, or the traceback where one failed.

    Requests are taken as they are needed and dropped once their views are out, so that a few megabytes of texts are
    held at a time, however many there are. Requests of one text that follow each other share one parse of it.
    ``patience`` is how many seconds a process has for a text before it is given up.
    """
    texts = groupby(requests, lambda request: (request.path, id(request.text)))
    calls = (_call(list(group)) for _, group in texts)
    for call in in_children(calls, workers=workers, patience=patience):
        for view in _views(call):
            yield view
            if on_done:
                on_done(1)


def _call(requests: list[ViewRequest]) -> Call[list[ViewRequest], list[PackedView | str]]:
    sent = [request for request in requests if takes_grammar(request)]
    size = len(requests[0].text)
    return Call(requests, packed_views if sent else None, (sent,), size)


def _views(call: Call[list[ViewRequest], list[PackedView | str]]) -> Iterator[View | str]:
    made = iter(call.answer) if isinstance(call.answer, list) else None
    for request in call.about:
        if not takes_grammar(request):
            yield render_view(request)
        elif made is None:
            yield without_grammar(request, str(call.answer))
        else:
            view = next(made)
            yield view if isinstance(view, str) else View.unpack(view)
