"""The program inside bubblewrap: it bounds itself, stops its clock, runs the code and writes one answer.

Its text is passed to ``python -c``, so it imports nothing of this package. It reads a length and a pickle (from the
host, which it trusts) and writes a length and JSON (which the host does not).
"""

import contextlib
import ctypes
import datetime
import gc
import io
import json
import os
import pickle
import random
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

FORBIDDEN_BUILTINS = "open eval exec compile input breakpoint help exit quit"
# What nothing may be had of: files that grow, core files, message queues, locked memory.
ZERO_LIMITS = ("RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK")


def main() -> None:
    header = sys.stdin.buffer.read(8)
    request = pickle.loads(sys.stdin.buffer.read(int.from_bytes(header, "big")))  # noqa: S301 - written by the host
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.closerange(max(answers, nothing) + 1, 1024)
    os.close(nothing)
    stop_clock(request["now"])
    random.seed(0)
    for name, most in {**request["bounds"], **dict.fromkeys(ZERO_LIMITS, 0)}.items():
        resource.setrlimit(getattr(resource, name, resource.RLIMIT_CORE), (most, most))
    reply = answer(request)
    with os.fdopen(answers, "wb") as out:
        out.write(len(reply).to_bytes(8, "big") + reply)


def stop_clock(now: float) -> None:
    """Make the clock of ``time`` and ``datetime`` show ``now`` for good; what measures durations goes on."""
    time.time = lambda: now
    time.time_ns = lambda: int(now * 1_000_000) * 1000
    # The numbers of the clocks that show the time of day: the usual one, the coarse one, the atomic one.
    gettime = time.clock_gettime
    time.clock_gettime = lambda clock: now if clock in (0, 5, 11) else gettime(clock)
    time.clock_gettime_ns = lambda clock: int(time.clock_gettime(clock) * 1_000_000) * 1000
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, with_default_seconds(now, getattr(time, name)))
    for name in ("asctime", "strftime"):
        setattr(time, name, with_default_time(getattr(time, name)))
    # The types are C's and cannot be assigned to, but their namespace is a dictionary all the same. A subclass in
    # their place would not be the type of the dates that libraries make.
    methods = gc.get_referents(datetime.datetime.__dict__)[0]
    methods["now"] = classmethod(lambda cls, tz=None: cls.fromtimestamp(now, tz))
    methods["utcnow"] = classmethod(
        lambda cls: cls.fromtimestamp(now, datetime.UTC).replace(tzinfo=None)
    )
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


def with_default_seconds(now: float, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seconds=None: function(now if seconds is None else seconds)


def with_default_time(function: Callable[..., str]) -> Callable[..., str]:
    least = 1 if function.__name__ == "strftime" else 0
    return lambda *values: (
        function(*values) if len(values) > least else function(*values, time.localtime())
    )


def answer(request: dict[str, Any]) -> bytes:
    def load_data_reference(ref_id: str) -> Any:  # noqa: ANN401 - whatever was stored
        if ref_id not in request["references"]:
            raise FileNotFoundError(f"Data reference not found: {ref_id}")
        return request["references"][ref_id]

    allowed = dict(vars(__import__("builtins")))
    for name in FORBIDDEN_BUILTINS.split():
        allowed.pop(name, None)
    names = {
        "__builtins__": allowed,
        "__name__": "analysis",
        "load_data_reference": load_data_reference,
        "data": request["data"],
    }
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(request["code"], "analysis.py", "exec"), names)  # noqa: S102 - the purpose of the sandbox
        if "result" not in names:
            raise NameError("name 'result' is not defined")
        reply = encoded({"value": names["result"], "printed": printed.getvalue()})
    except MemoryError:
        return failure("stopped at the memory limit", "memory", "MemoryError")
    except BaseException as error:  # noqa: BLE001 - each way to fail is an answer
        name = type(error).__name__
        try:
            return failure(str(error)[:10_000] or name, "runtime", name)
        except BaseException:  # noqa: BLE001 - its own text failed
            return failure(f"{name}, whose message cannot be read", "runtime", name)
    if len(reply) > request["output"]:
        problem = f"the result and what was printed have more than {request['output']} bytes"
        return failure(problem, "memory", "")
    return reply


def failure(error: str, kind: str, exception: str) -> bytes:
    return encoded({"error": error, "kind": kind, "exception": exception})


def encoded(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply, default=str, ensure_ascii=False).encode()


if __name__ == "__main__":
    main()
