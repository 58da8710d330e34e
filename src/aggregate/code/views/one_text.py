"""The view of one text, made in a child process where that takes a grammar."""

from pathlib import PurePath

from aggregate.base.values import View, ViewMode, ViewRequest
from aggregate.code.views.rendering import render, takes_grammar


def view_of(request: ViewRequest) -> View:
    if not takes_grammar(request):
        return render(request)
    from aggregate.base.concurrency import in_child

    return in_child(render, request)


def summarise_file(path: str | PurePath, content: str) -> str:
    """Return the digest of ``content``, of which the name of ``path`` tells the kind (rule M-16)."""
    return view_of(ViewRequest(str(path), content, ViewMode.SUMMARY)).text
