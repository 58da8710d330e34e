"""Many analyses at once, made in child processes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from aggregate.compose.known_files import AnalysisRequest, KnownFile
from aggregate.compose.view_pool import useful_workers
from aggregate.concurrency.children import Call, in_child, in_children
from aggregate.errors import DeadlineError
from aggregate.sources.file_content import SourceFile

SaveAnalysis = Callable[[str, SourceFile, bytes], None]
"""Takes a file's path, what reading it gave, and its packed ``KnownFile``."""


def pack_all(
    requests: Iterable[AnalysisRequest],
    *,
    workers: int | None = None,
    save: SaveAnalysis | None = None,
) -> Iterator[bytes | None]:
    """Yield the packed ``KnownFile`` of each request, in their order.

    Requests are taken some megabytes ahead, and dropped once they are answered.

    Args:
        requests: What to analyse.
        workers: How many processes at most; by default one per core.
        save: Takes what processes have analysed and nobody has taken, where the work is ended before its time.
    """

    def on_cut(call: Call[AnalysisRequest, bytes]) -> None:
        if save and call.about and isinstance(call.answer, bytes):
            save(*call.about, call.answer)

    calls = map(_call, requests)
    with closing(in_children(calls, workers=useful_workers(workers), on_cut=on_cut)) as answered:
        for call in answered:
            yield _packed(call)


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
