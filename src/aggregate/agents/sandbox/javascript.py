"""JavaScript functions in QuickJS, in worker processes that can be killed.

QuickJS bounds most runs itself, but some of its built-ins (``new Array(1e9) + ''``) never look at the clock. So each
call has a process of its own and a deadline here too, at which the process is killed.
"""

import json
import math
import os
import platform
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
    parse_answer,
    parse_reply,
)
from aggregate.agents.sandbox.seccomp import MACHINES, seccomp_filter
from aggregate.base.concurrency import DeadlinePassed, PoolProcess
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.values import Value

GRACE = 0.25  # seconds after the limit until a worker is killed
START_SECONDS = 10.0  # of a new worker, not charged to the code that it runs
GREETING_BYTES = 64  # at most, of what a new worker says when it is ready: {}
FRAME_BYTES = 65_536  # of an answer beside its result: an error's text, names
BOUNDS = {"memory": WORKER_BYTES, "stack": JAVASCRIPT_STACK, "jobs": PROMISE_JOBS}
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
    value = parse_reply(reply)["value"]
    if not isinstance(value, str):
        raise SandboxError("the answer cannot be read: its value is no text", kind=Stopped.CRASH)
    try:
        return parse_answer(value.encode("utf-8", errors="surrogatepass"))
    except SandboxError as error:
        raise SandboxError(f"the function's result is not JSON: {error}", kind=error.kind) from None


def _start_worker() -> PoolProcess:
    if os.name != "posix":
        raise SandboxError(
            "JavaScript functions need a POSIX system: use a Python one", kind=Stopped.MISSING
        )
    library = find_spec("_quickjs")
    if library is None or library.origin is None:
        raise SandboxError(f"JavaScript functions need quickjs-ng: {EXTRA}", kind=Stopped.MISSING)
    # QuickJS itself makes no calls: on a machine that has no filter it runs without.
    is_filtered = sys.platform == "linux" and platform.machine() in MACHINES
    forbidden = seccomp_filter(platform.machine()).hex() if is_filtered else ""
    bounds = json.dumps({**BOUNDS, "filter": forbidden})
    command = [sys.executable, "-I", "-S", str(_WORKER), str(Path(library.origin).parent), bounds]
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
