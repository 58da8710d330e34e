"""One call of a tool: arguments in their types (rule P4), and whatever it does, plain data or a failure in time."""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any, Final

from aggregate.agents.tools.tool import Tool
from aggregate.base.concurrency import run_in_thread
from aggregate.base.errors import AggregateError, ToolError
from aggregate.base.text import shorten
from aggregate.base.values import JsonCopy, extent, failure_text

_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``tool`` declares, cast to simple types; ``None`` and undeclared ones are dropped."""
    values = {name: value for name, value in arguments.items() if value is not None}
    missing = [parameter.name for parameter in tool.required if parameter.name not in values]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ToolError(f"missing {len(missing)} required argument(s) of {tool.name}: {names}")
    checked: dict[str, Any] = {}
    for parameter in tool.parameters:
        if parameter.name not in values:
            continue
        value = values[parameter.name]
        cast = _CASTS.get(parameter.type)
        try:
            checked[parameter.name] = cast(value) if cast else value
        except (ValueError, KeyError, OverflowError, RecursionError):
            raise ToolError(
                f"{parameter.name} must be {parameter.type}, not {value!r:.80}"
            ) from None
    return checked


def _truth(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    return value if isinstance(value, bool) else _TRUTH[_text(value).strip().lower()]


def _whole(value: Any) -> int:  # noqa: ANN401 - whatever JSON holds
    real = _real(value)
    if not real.is_integer():
        raise ValueError
    try:
        return int(value)  # every digit of a long number
    except ValueError:
        return int(real)  # "7.0"


def _real(value: Any) -> float:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    real = float(value)
    if not isfinite(real):
        raise ValueError
    return real


def _text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    text = str(value)
    text.encode()  # half a surrogate pair is no text
    return text


def _structure(value: Any, kind: type) -> Any:  # noqa: ANN401 - a list or an object
    structure = json.loads(value) if isinstance(value, str) else value
    if not isinstance(structure, kind):
        raise ValueError
    return structure


_CASTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "int": _whole,
    "float": _real,
    "str": _text,
    "bool": _truth,
    "list": lambda value: _structure(value, list),
    "dict": lambda value: _structure(value, dict),
}

_MEGABYTE: Final = 1_000_000
MOST_MEGABYTES: Final = 5  # the largest output as JSON (rule D-10)
MOST_ITEMS: Final = 1_000_000  # of a generator, which may have no end; no output may hold more
SECONDS: Final = 60.0  # of a call: ten that hang fit into the time of a goal
# Calls that were given up and still run; a thread cannot be ended from outside, so no more are begun then.
MOST_ABANDONED: Final = 16


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may take: wall time, and its output as JSON in millions of bytes."""

    seconds: float = SECONDS
    megabytes: float = MOST_MEGABYTES


def failure_envelope(error: str, *, retry: bool, hint: str | None = None) -> dict[str, Any]:
    envelope: dict[str, Any] = {"success": False, "error": error, "retry": retry}
    return {**envelope, "hint": hint} if hint else envelope


def call_with_limits(
    name: str, action: Callable[[], Any], limits: CallLimits, abandoned: "set[Future[Any]]"
) -> Any:  # noqa: ANN401 - its output
    """Run ``action`` in a thread of its own and return its output as plain data.

    An exception, a time over the limit, an output that is too large or no data each become a failed result. A call that
    is given up stands among the ``abandoned`` until it ends.
    """
    if len(abandoned) >= MOST_ABANDONED:
        return failure_envelope(
            f"{name} was not called: {MOST_ABANDONED} earlier calls still hang", retry=False
        )

    def outcome() -> Any:  # noqa: ANN401 - what the tool returned
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

    future = run_in_thread(f"tool {name}", outcome)
    try:
        return future.result(timeout=max(limits.seconds, 0.001))
    except TimeoutError:
        abandoned.add(future)
        future.add_done_callback(abandoned.discard)
        return failure_envelope(
            f"{name} did not answer within {limits.seconds:g} s", retry=True, hint="Ask for less."
        )


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
    if len(text) > limits.megabytes * _MEGABYTE:
        size = f"{len(text) / _MEGABYTE:.1f} MB, the most is {limits.megabytes:g} MB"
        return failure_envelope(
            f"{name} returned {size}", retry=True, hint="Ask for fewer items or fields."
        )
    return json.loads(text, parse_constant=lambda _: None)
