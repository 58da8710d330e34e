"""JavaScript functions in QuickJS, in worker processes that can be killed.

QuickJS bounds most runs itself, but some of its built-ins (``new Array(1e9) + ''``) never look at the clock. So each
call has a deadline here too: the worker that misses it is killed, and the next call starts another. Workers stay warm
between calls; every call gets a fresh JavaScript context.
"""

import atexit
import json
import math
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final

from aggregate.errors import SandboxError, Stopped
from aggregate.models.values import Value, extent
from aggregate.sandbox.limits import (
    EXTRA,
    JAVASCRIPT_STACK,
    PROMISE_JOBS,
    SOURCE_CHARACTERS,
    WORKER_BYTES,
    SandboxLimits,
)
from aggregate.sandbox.pipes import DeadlinePassed, receive_message, send_message
from aggregate.sandbox.responses import parse_answer, parse_reply
from aggregate.sandbox.seccomp import MACHINES, seccomp_filter

MAX_WORKERS: Final = 4
GRACE: Final = 0.25
"""Seconds after the limit until a worker is killed."""
START_SECONDS: Final = 10.0
"""What a new worker may take until it is ready; not charged to the code that it runs."""
BOUNDS: Final = {"memory": WORKER_BYTES, "stack": JAVASCRIPT_STACK, "jobs": PROMISE_JOBS}
_WORKER: Final = Path(__file__).with_name("javascript_worker.py")


def run_javascript(
    source: str, argument: Value, *, limits: SandboxLimits | None = None, now: datetime | None = None
) -> Value:
    """Call the JavaScript function ``source`` with ``argument`` and return its result.

    Args:
        source: A function expression: ``function (results) {...}``, ``(results) => ...``, also ``async``.
        argument: Anything that JSON can hold.
        limits: Time, memory and the size of the result.
        now: What the clock shows inside, by default the time of this call; it stands still.

    Raises:
        SandboxError: The code failed, was stopped, gave nothing that JSON can hold, or QuickJS is not installed.
    """
    bounds = limits or SandboxLimits()
    if len(source) > SOURCE_CHARACTERS:
        raise SandboxError(f"the function has more than {SOURCE_CHARACTERS} characters")
    if extent(argument).too_often:
        raise SandboxError("JavaScript gets its values as JSON: it holds the same parts too often")
    try:
        text = json.dumps(argument, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SandboxError(f"JavaScript gets its values as JSON: {error}") from None
    request = {"source": source, "argument": text, "seconds": bounds.seconds, "memory": bounds.memory_bytes}
    request["now"] = math.floor((now or datetime.now(UTC)).timestamp() * 1000)
    reply = parse_reply(_POOL.call(json.dumps({**request, "output": bounds.output_bytes}).encode(), bounds))
    value = reply["value"]
    if not isinstance(value, str):
        raise SandboxError("the answer cannot be read: its value is no text", kind=Stopped.CRASH)
    try:
        return parse_answer(value.encode("utf-8", errors="surrogatepass"))
    except SandboxError as error:
        raise SandboxError(f"the function's result is not JSON: {error}", kind=error.kind) from None


def _filter() -> str:
    """Return the kernel's filter in hex, ``""`` on a machine that has none: QuickJS itself makes no calls."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return ""
    return seccomp_filter(platform.machine()).hex()


class _JavaScriptProcess:
    """One process that answers one request after the other (see ``pipes`` for the messages)."""

    def __init__(self, library: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER), library, json.dumps({**BOUNDS, "filter": _filter()})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise SandboxError("the JavaScript worker has no pipes", kind=Stopped.CRASH)
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        receive_message(self._out, time.monotonic() + START_SECONDS, most=64)

    def call(self, request: bytes, limits: SandboxLimits) -> bytes:
        deadline = time.monotonic() + limits.seconds + GRACE
        send_message(self._in, request, deadline)
        return receive_message(self._out, deadline, most=2 * limits.output_bytes + 65_536)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


class _JavaScriptPool:
    """At most ``MAX_WORKERS`` workers, handed out to one caller each."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._lock = Lock()
        self._slots = BoundedSemaphore(MAX_WORKERS)
        self._idle: list[_JavaScriptProcess] = []

    def call(self, request: bytes, limits: SandboxLimits) -> bytes:
        with self._slots:
            worker = self._take()
            try:
                reply = worker.call(request, limits)
            except DeadlinePassed:
                worker.kill()
                raise SandboxError(f"stopped after {limits.seconds:g} s", kind=Stopped.TIMEOUT) from None
            except OSError as error:
                worker.kill()
                raise SandboxError(f"the sandbox's process ended: {error}", kind=Stopped.CRASH) from None
            except BaseException:
                worker.kill()
                raise
            with self._lock:
                self._idle.append(worker)
            return reply

    def _take(self) -> _JavaScriptProcess:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if os.name != "posix":
            raise SandboxError("JavaScript functions need a POSIX system: use a Python one", kind=Stopped.MISSING)
        found = find_spec("_quickjs")
        if found is None or found.origin is None:
            raise SandboxError(f"JavaScript functions need quickjs-ng: {EXTRA}", kind=Stopped.MISSING)
        try:
            return _JavaScriptProcess(str(Path(found.origin).parent))
        except (OSError, DeadlinePassed) as error:
            raise SandboxError(f"the JavaScript worker does not start: {error}", kind=Stopped.CRASH) from None

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().kill()

    def forget(self) -> None:
        """Drop the parent's workers in a forked child, without ending them."""
        self._parents = self._idle
        self._reset()


_POOL: Final = _JavaScriptPool()
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)
