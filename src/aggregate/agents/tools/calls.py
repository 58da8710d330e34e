"""One call of a tool within limits: whatever it does, the caller gets plain data or a failed result in time."""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any, Final

from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import AggregateError, ToolError
from aggregate.base.text import shorten
from aggregate.base.values import JsonCopy, extent, failure_text

MEGABYTE: Final = 1_000_000
MOST_MEGABYTES: Final = 5
"""The largest output as JSON (rule D-10)."""
MOST_ITEMS: Final = 1_000_000
"""Of a generator, which may have no end; so many items are more than an output may hold."""
SECONDS: Final = 60.0
"""Of a call: ten that hang fit into the time of a goal."""
MOST_ABANDONED: Final = 16
"""Calls that were given up and still run; a thread cannot be ended from outside, so no more are begun then."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may take.

    Attributes:
        seconds: Wall time.
        megabytes: Its output as JSON, in millions of bytes.
    """

    seconds: float = SECONDS
    megabytes: float = MOST_MEGABYTES


@dataclass(slots=True)
class AbandonedCalls:
    """The calls of one registry that were given up and may go on."""

    _calls: list["Future[Any]"] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    @property
    def count(self) -> int:
        """How many have not ended."""
        with self._lock:
            self._calls = [call for call in self._calls if not call.done()]
            return len(self._calls)

    def add(self, call: "Future[Any]") -> None:
        """Count a call for as long as it goes on."""
        with self._lock:
            self._calls.append(call)


def failure_envelope(error: str, *, retry: bool, hint: str | None = None) -> dict[str, Any]:
    """Return the envelope of a failed call (rule D-55)."""
    envelope: dict[str, Any] = {"success": False, "error": error, "retry": retry}
    return {**envelope, "hint": hint} if hint else envelope


def call_with_limits(
    name: str, action: Callable[[], Any], limits: CallLimits, abandoned: AbandonedCalls
) -> Any:  # noqa: ANN401 - its output
    """Run ``action`` in a thread of its own and return its output as plain data.

    An exception, a time over the limit, an output that is too large or no data each become a failed result.
    """
    if abandoned.count >= MOST_ABANDONED:
        return failure_envelope(
            f"{name} was not called: {MOST_ABANDONED} earlier calls still hang", retry=False
        )
    future = run_in_thread(f"tool {name}", lambda: _outcome(name, action, limits))
    try:
        return future.result(timeout=max(limits.seconds, 0.001))
    except TimeoutError:
        abandoned.add(future)
        return failure_envelope(
            f"{name} did not answer within {limits.seconds:g} s", retry=True, hint="Ask for less."
        )


def _outcome(name: str, action: Callable[[], Any], limits: CallLimits) -> Any:  # noqa: ANN401 - what the tool returned
    try:
        value = action()
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except ToolError as error:
        return failure_envelope(str(error), retry=True)
    except AggregateError as error:
        return failure_envelope(str(error), retry=False)
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises, SystemExit too, becomes a failed result
        return failure_envelope(shorten(failure_text(error), 2000), retry=True)
    return _plain(name, value, limits)


def _plain(name: str, value: Any, limits: CallLimits) -> Any:  # noqa: ANN401 - what the tool returned
    """Return ``value`` as JSON knows it, NaN and infinities as ``None``: no later change by the tool can reach it."""
    if extent(value).too_often:
        return failure_envelope(
            f"{name} returned what JSON cannot hold: it holds the same parts too often", retry=False
        )
    copying = JsonCopy(stored=True)

    def readable(part: Any) -> Any:  # noqa: ANN401 - what JSON does not know
        return list(islice(part, MOST_ITEMS)) if isinstance(part, Iterator) else copying.of(part)

    try:
        text = json.dumps(value, default=readable)
    except Exception as error:  # noqa: BLE001 - keys that JSON does not know, or what holds itself
        return failure_envelope(
            f"{name} returned what JSON cannot hold: {shorten(failure_text(error), 200)}",
            retry=False,
        )
    if len(text) > limits.megabytes * MEGABYTE:
        size = f"{len(text) / MEGABYTE:.1f} MB, the most is {limits.megabytes:g} MB"
        return failure_envelope(
            f"{name} returned {size}", retry=True, hint="Ask for fewer items or fields."
        )
    return json.loads(text, parse_constant=lambda _: None)
