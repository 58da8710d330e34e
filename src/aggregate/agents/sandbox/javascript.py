"""JavaScript functions in QuickJS, in worker processes that can be killed.

QuickJS bounds most runs itself, but some of its built-ins (``new Array(1e9) + ''``) never look at the clock. So each
call has a process of its own and a deadline here too, at which the process is killed.
"""

import json
import math
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from aggregate.agents.sandbox.limits import (
    EXTRA,
    JAVASCRIPT_STACK,
    PROMISE_JOBS,
    WORKER_BYTES,
    SandboxLimits,
    check_length,
    shorten_error,
)
from aggregate.base.concurrency import DeadlinePassed, PoolProcess
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.values import Value, extent

GRACE = 0.25  # seconds after the limit until a worker is killed
START_SECONDS = 10.0  # of a new worker, not charged to the code that it runs
GREETING_BYTES = 64  # at most, of what a new worker says when it is ready: {}
FRAME_BYTES = 65_536  # of an answer beside its result: an error's text, names
# Lists and objects in one answer. An empty one is 3 bytes of JSON and 72 bytes in this process.
CONTAINERS = 1_000_000
BOUNDS = {"memory": WORKER_BYTES, "stack": JAVASCRIPT_STACK, "jobs": PROMISE_JOBS}
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_WORKER = Path(__file__).with_name("javascript_worker.py")


def run_javascript(
    source: str,
    argument: Value,
    *,
    limits: SandboxLimits | None = None,
    now: datetime | None = None,
) -> Value:
    """Call the JavaScript function ``source`` with ``argument``, what JSON can hold, and return its result.

    The clock stands still, by default at the time of this call.
    """
    bounds = limits or SandboxLimits()
    check_length(source, "function")
    if extent(argument).too_often:
        raise SandboxError("JavaScript gets its values as JSON: it holds the same parts too often")
    try:
        text = json.dumps(argument, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SandboxError(f"JavaScript gets its values as JSON: {error}") from None
    request = {
        "source": source,
        "argument": text,
        "seconds": bounds.seconds,
        "memory": bounds.memory_bytes,
        "now": math.floor((now or datetime.now(UTC)).timestamp() * 1000),
        "output": bounds.output_bytes,
    }
    # The result is JSON inside JSON, where each quote takes two bytes.
    most = 2 * bounds.output_bytes + FRAME_BYTES
    worker = _start_worker()
    try:
        reply = worker.ask(json.dumps(request).encode(), seconds=bounds.seconds + GRACE, most=most)
    except DeadlinePassed:
        raise bounds.timeout() from None
    except OSError as error:
        raise SandboxError(f"the sandbox's process ended: {error}", kind=Stopped.CRASH) from None
    finally:
        worker.kill()
    result = parse_reply(reply)
    try:
        return _parse(result.encode("utf-8", errors="surrogatepass"))
    except SandboxError as error:
        raise SandboxError(f"the function's result is not JSON: {error}", kind=error.kind) from None


def parse_reply(text: bytes) -> str:
    """Return the JSON of a result that a worker answers; an error is raised, whatever stands there."""
    reply = _parse(text)
    if not isinstance(reply, dict):
        raise SandboxError("the answer cannot be read: it is no object", kind=Stopped.CRASH)
    value, error, kind = map(reply.get, ("value", "error", "kind"))
    if isinstance(value, str):
        return value
    reason = error if isinstance(error, str) and error else "the code failed and did not say why"
    known = Stopped(kind) if kind in list(Stopped) else Stopped.RUNTIME
    raise SandboxError(shorten_error(reason), kind=known)


def _parse(text: bytes) -> Value:
    """Return the JSON value of an answer, unless it has too many parts or holds half of a surrogate pair."""
    if text.count(b"[") + text.count(b"{") > CONTAINERS:
        raise SandboxError(
            f"the answer holds more than {CONTAINERS} lists and objects", kind=Stopped.MEMORY
        )
    try:
        value = json.loads(text.decode("utf-8"))
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except MemoryError:
        raise SandboxError("the answer does not fit into memory", kind=Stopped.MEMORY) from None
    except (ValueError, RecursionError) as error:
        raise SandboxError(
            f"the answer cannot be read: {shorten_error(str(error))}", kind=Stopped.CRASH
        ) from None
    return value


def _start_worker() -> PoolProcess:
    if os.name != "posix":
        raise SandboxError(
            "JavaScript functions need a POSIX system: use a Python one", kind=Stopped.MISSING
        )
    library = find_spec("_quickjs")
    if library is None or library.origin is None:
        raise SandboxError(f"JavaScript functions need quickjs-ng: {EXTRA}", kind=Stopped.MISSING)
    folder, bounds = str(Path(library.origin).parent), json.dumps(BOUNDS)
    command = [sys.executable, "-I", "-S", str(_WORKER), folder, bounds]
    worker = None
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        worker = PoolProcess(process)
        worker.greeting(seconds=START_SECONDS, most=GREETING_BYTES)
    except (OSError, DeadlinePassed) as error:
        if worker:
            worker.kill()
        raise SandboxError(
            f"the JavaScript worker does not start: {error}", kind=Stopped.CRASH
        ) from None
    return worker
