"""Run a coroutine from code that is not asynchronous, also where the thread is busy with a loop already."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")


def run_async(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a coroutine returns; it runs in a loop of its own, in another thread if this one has a loop."""
    if not _is_in_loop():
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _is_in_loop() -> bool:
    """Return whether this thread is busy with a loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
