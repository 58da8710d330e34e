"""What several views of one text have in common, computed once while they are made."""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Result = TypeVar("_Result")
_local = threading.local()


@contextmanager
def shared_parse() -> Iterator[None]:
    """Keep what ``computed_once`` returns to this thread until the end of the block, which is about one text."""
    outer = getattr(_local, "results", None)
    _local.results = {} if outer is None else outer
    try:
        yield
    finally:
        _local.results = outer


def computed_once(key: Hashable, compute: Callable[[], _Result]) -> _Result:
    """Return what ``compute`` returns, in ``shared_parse`` the one kept for ``key``; errors are not kept."""
    results: dict[Hashable, _Result] | None = getattr(_local, "results", None)
    if results is None:
        return compute()
    if key not in results:
        results[key] = compute()
    return results[key]


def is_shared() -> bool:
    """Tell whether other views of the present text may follow in this thread."""
    return getattr(_local, "results", None) is not None
