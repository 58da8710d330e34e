"""Python expressions and analysis code in Monty: an interpreter of its own, in pooled worker processes.

Monty bounds time and memory itself, and its pool kills a worker that does not stop in time. The clock and the random
numbers that code may ask for are fixed, so that the same code on the same values gives the same result.
"""

import atexit
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from aggregate.errors import SandboxError, Stopped
from aggregate.models.plain import Value
from aggregate.sandbox.limits import EXTRA, Limits
from aggregate.sandbox.values import require_plain

GRACE: Final = 0.25
"""Seconds after a limit until the pool kills a worker."""
POLICY: Final = {"sleep": "zero", "random_start": {"seed": 0}, "datetime": datetime(2000, 1, 1, tzinfo=UTC)}


@dataclass(frozen=True, slots=True)
class PythonRun:
    """What code gave: the value of its last expression, and what it printed."""

    value: Value
    printed: str


def run_python(
    code: str,
    inputs: Mapping[str, Value],
    *,
    limits: Limits | None = None,
    functions: Mapping[str, Callable[..., Value]] | None = None,
) -> PythonRun:
    """Run ``code`` with ``inputs`` as its globals and return the value of its last expression.

    Args:
        code: Python as Monty knows it: no file, network or environment, a part of the standard library.
        inputs: Plain values; the code gets copies.
        limits: Time, memory and output.
        functions: Functions of the host that the code may call; each argument and result is copied.

    Raises:
        SandboxError: The code failed (with the name of its exception), was stopped, or Monty is not installed.
    """
    bounds = limits or Limits()
    monty = _module()
    printed = monty.CollectString(max_bytes=bounds.output_bytes)
    allowed = {"max_feed_duration_secs": bounds.seconds, "max_memory": bounds.memory_bytes}
    try:
        with _POOL.get(monty).checkout(limits=allowed, os_policy=POLICY) as session:
            value = session.feed_run(
                code, inputs=dict(inputs), external_lookup=dict(functions or {}), print_callback=printed
            )
    except monty.MontyError as error:
        raise _translated(error, monty, bounds) from None
    return PythonRun(require_plain(value), printed.output)


def _module() -> Value:
    try:
        import pydantic_monty
    except ImportError:
        raise SandboxError(f"Python code needs pydantic-monty: {EXTRA}", kind=Stopped.MISSING) from None
    return pydantic_monty


def _translated(error: Value, monty: Value, limits: Limits) -> SandboxError:
    """Return the pool's error as ours; the messages of the code's own exceptions stay as they are."""
    if isinstance(error, monty.MontyCrashedError):
        if error.timed_out:
            return SandboxError(f"stopped after {limits.seconds:g} s", kind=Stopped.TIMEOUT)
        return SandboxError("the sandbox's process ended", kind=Stopped.CRASH)
    cause = error.exception()
    name = type(cause).__name__
    text = str(cause) or name
    if isinstance(error, monty.MontySyntaxError):
        return SandboxError(text, kind=Stopped.SYNTAX, exception="SyntaxError")
    if name == "TimeoutError":
        return SandboxError(f"stopped after {limits.seconds:g} s", kind=Stopped.TIMEOUT, exception=name)
    if name == "MemoryError":
        return SandboxError("stopped at the memory limit", kind=Stopped.MEMORY, exception=name)
    return SandboxError(text, kind=Stopped.RUNTIME, exception=name)


class _Pool:
    """The process's pool of workers: made at the first use, made anew in a forked child, closed at exit."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stack = ExitStack()
        self._pool: Value = None
        self._parents: ExitStack | None = None

    def get(self, monty: Value) -> Value:
        if self._parents is not None:
            raise SandboxError("Monty cannot run in a process that was forked after its use: start it with spawn")
        with self._lock:
            if self._pool is None:
                pool = monty.Monty(max_processes=max(2, os.cpu_count() or 2), feed_duration_limit_grace=GRACE)
                self._pool = self._stack.enter_context(pool)
            return self._pool

    def close(self) -> None:
        with self._lock:
            self._pool = None
            self._stack.close()

    def forget(self) -> None:
        """Leave the parent's workers alone in a forked child, where the threads that serve them are gone."""
        self._lock = Lock()
        if self._pool is not None:
            self._parents, self._stack, self._pool = self._stack, ExitStack(), None


_POOL: Final = _Pool()
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)
