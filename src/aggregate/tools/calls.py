"""One call of a tool within limits: whatever it does, the caller gets plain data or a failed result in time."""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, Queue
from threading import Event, Lock, Thread
from typing import Any, Final

from aggregate.errors import AggregateError, ToolError

MEGABYTE: Final = 1_000_000
MOST_MEGABYTES: Final = 5
"""The largest output as JSON (rule D-10)."""
MOST_ITEMS: Final = 1_000_000
"""Of a generator, which may have no end; so many items are more than an output may hold."""
SECONDS: Final = 60.0
MOST_HANGING: Final = 16
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
class Hanging:
    """How many calls of one registry were given up and have not ended."""

    count: int = 0
    _given_up: set[int] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def give_up(self, call_ended: Event) -> None:
        """Count a call, unless it has ended by now."""
        with self._lock:
            if not call_ended.is_set():
                self._given_up.add(id(call_ended))
                self.count = len(self._given_up)

    def end(self, call_ended: Event) -> None:
        """Say that a call has ended."""
        with self._lock:
            call_ended.set()
            self._given_up.discard(id(call_ended))
            self.count = len(self._given_up)


def failure(error: str, *, retry: bool, hint: str = "") -> dict[str, Any]:
    """Return the envelope of a failed call (rule D-55)."""
    return {"success": False, "error": error, "retry": retry, **({"hint": hint} if hint else {})}


def call(name: str, action: Callable[[], Any], limits: CallLimits, hanging: Hanging) -> Any:  # noqa: ANN401 - its output
    """Run ``action`` in a thread of its own and return its output as plain data.

    An exception, a time over the limit, an output that is too large or no data each become a failed result.
    """
    if hanging.count >= MOST_HANGING:
        return failure(f"{name} was not called: {MOST_HANGING} earlier calls still hang", retry=False)
    box: Queue[Any] = Queue(1)
    context = copy_context()
    ended = Event()

    def work() -> None:
        try:
            box.put(context.run(_outcome, name, action, limits))
        finally:
            hanging.end(ended)

    Thread(target=work, name=f"tool {name}", daemon=True).start()
    try:
        return box.get(timeout=max(limits.seconds, 0.001))
    except Empty:
        hanging.give_up(ended)
        return failure(f"{name} did not answer within {limits.seconds:g} s", retry=True, hint="Ask for less.")


def _outcome(name: str, action: Callable[[], Any], limits: CallLimits) -> Any:  # noqa: ANN401 - what the tool returned
    try:
        value = action()
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except ToolError as error:
        return failure(str(error), retry=True)
    except AggregateError as error:
        return failure(str(error), retry=False)
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises, SystemExit too, becomes a failed result
        return failure(_said(error, 2000), retry=True)
    return _plain(name, value, limits)


def _plain(name: str, value: Any, limits: CallLimits) -> Any:  # noqa: ANN401 - what the tool returned
    """Return ``value`` as JSON knows it, NaN and infinities as ``None``: no later change by the tool can reach it."""
    try:
        text = json.dumps(value, default=_readable)
    except Exception as error:  # noqa: BLE001 - a value's own __str__ may raise anything
        return failure(f"{name} returned what JSON cannot hold: {_said(error, 200)}", retry=False)
    if len(text) > limits.megabytes * MEGABYTE:
        size = f"{len(text) / MEGABYTE:.1f} MB, the most is {limits.megabytes:g} MB"
        return failure(f"{name} returned {size}", retry=True, hint="Ask for fewer items or fields.")
    return json.loads(text, parse_constant=lambda _: None)


def _said(error: BaseException, most: int) -> str:
    """Return the kind of an error and its message, where it has one that can be read."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error's own __str__ may raise anything
        text = ""
    return f"{type(error).__name__}: {text[:most]}" if text else type(error).__name__


def _readable(value: object) -> object:
    """Stand in for what JSON does not know, without addresses or hash order."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, Iterator):
        return list(islice(value, MOST_ITEMS))
    text = str(value)
    return f"<{type(value).__name__}>" if " object at 0x" in text else text
