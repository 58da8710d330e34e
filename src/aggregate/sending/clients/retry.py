"""When to ask again, how long to wait before, and how a request is stopped."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import RLock
from typing import Any, TypeVar

from aggregate.base.concurrency import doubling_delay
from aggregate.base.errors import ProviderError

_T = TypeVar("_T")
# Statuses that pass: too many requests, overload (529 at Anthropic), time-outs, failures of the server.
RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


@dataclass(frozen=True, slots=True)
class Retry:
    attempts: int = 5  # exchanges in all
    first: float = 1.0  # before the second one; doubled each time
    longest: float = 30.0  # before any
    # that a provider's own delay is followed; beyond, the error is raised at once
    patience: float = 120.0

    def wait(self, failed: int, error: ProviderError) -> float | None:
        if not error.retryable or failed >= self.attempts:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.patience else None
        # Callers that failed together should not come back together.
        jitter = random.uniform(0.75, 1.0)  # noqa: S311 - no secret
        return doubling_delay(failed, self.first, self.longest) * jitter


async def with_retries(
    attempt: Callable[[], Awaitable[_T]],
    retry: Retry,
    *,
    may_repeat: Callable[[], bool],
    on_wait: Callable[[float, ProviderError], None] | None = None,
) -> _T:
    failed = 0
    while True:
        try:
            return await attempt()
        except ProviderError as error:
            failed += 1
            if not may_repeat():
                raise
            seconds, asked = retry.wait(failed, error), error.retry_after
            if seconds is None and error.retryable and (asked or 0) > retry.patience:
                limit = f"longer than the limit of {retry.patience:,.0f} s"
                raise ProviderError(
                    f"{error}; it asks to wait {asked:,.0f} s, {limit}: try again later",
                    status=error.status,
                    retry_after=asked,
                    retryable=True,
                ) from None
            if seconds is None:
                raise
            if on_wait:
                on_wait(seconds, error)
            await asyncio.sleep(seconds)


def retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = seconds_of(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return seconds_of(headers.get("retry-after"))


def seconds_of(value: str | None, *, now: float | None = None) -> float | None:
    """Return a ``retry-after`` header, a number or a date, as seconds from ``now``; ``None`` for neither."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value).timestamp()
        except (ValueError, OverflowError):
            return None
        seconds = max(then - (time.time() if now is None else now), 0.0)
    return seconds if 0 <= seconds < math.inf else None


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
