"""Many analyses at once, made in child processes."""

from collections.abc import Iterable, Iterator
from contextlib import closing

from aggregate.base.concurrency import Call, in_child, in_children
from aggregate.base.errors import DeadlineError
from aggregate.project.files import SourceFile
from aggregate.prompt.known_files import AnalysisRequest, KnownFile
from aggregate.prompt.view_pool import useful_workers


def pack_all(
    requests: Iterable[AnalysisRequest], *, workers: int | None = None
) -> Iterator[bytes | None]:
    """Yield the packed ``KnownFile`` of each request, in their order.

    Requests are taken some megabytes ahead, and dropped once they are answered.

    Args:
        requests: What to analyse.
        workers: How many processes at most; by default one per core.
    """
    calls = in_children(map(_call, requests), workers=useful_workers(workers))
    with closing(calls) as answered:
        yield from map(_packed, answered)


def pack_one(path: str, source: SourceFile) -> bytes:
    """Return the packed ``KnownFile`` of what reading the file at ``path`` gave."""
    try:
        return in_child(_analysed, path, source)
    except DeadlineError as error:
        return _without_grammar(path, source, error)


def _call(request: AnalysisRequest) -> Call[AnalysisRequest, bytes]:
    return Call(request, _analysed if request else None, request or ())


def _packed(call: Call[AnalysisRequest, bytes]) -> bytes | None:
    if isinstance(call.answer, bytes):
        return call.answer
    return _without_grammar(*call.about, call.answer) if call.about else None


def _analysed(path: str, source: SourceFile) -> bytes:
    return KnownFile.of(path, source).pack()


def _without_grammar(path: str, source: SourceFile, why: Exception | None) -> bytes:
    """Analyse here what a child process was lost over."""
    return KnownFile.of(path, source, problem=str(why)).pack()
