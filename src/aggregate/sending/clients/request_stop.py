"""Ending a request from another thread than the one that waits for it."""

import asyncio
from collections.abc import Callable, Coroutine
from threading import RLock
from typing import Any, TypeVar

from aggregate.base.errors import ProviderError

_T = TypeVar("_T")


class RequestStop:
    """Ends one request as soon as it is asked to, also while it waits to be repeated."""

    def __init__(self) -> None:
        self._lock = RLock()  # a second Ctrl-C may come in the middle of the first one's handler
        self._is_set = False
        self._cancel: Callable[[], object] | None = None

    def set(self) -> None:
        """End the request, or keep it from beginning; may be called from any thread, and more than once."""
        with self._lock:
            self._is_set = True
            if self._cancel:
                self._cancel()

    async def guard(self, request: Coroutine[Any, Any, _T]) -> _T:
        """Return what a request gives.

        Raises:
            ProviderError: It was stopped.
        """
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(request)
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._is_set:
                task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            if not self._is_set:
                raise
            raise ProviderError("the request was stopped") from None
        finally:
            with self._lock:
                self._cancel = None  # the loop ends with the request
