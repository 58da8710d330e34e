"""The worker process behind ``javascript``: a program of its own that imports nothing of this package.

Started as ``python -I -S javascript_worker.py <folder of _quickjs> <bounds>`` with an empty environment; the bounds are
JSON, of ``limits``: ``memory`` and ``stack`` in bytes, ``jobs``. It bounds itself before it reads anything, so that a
hole in QuickJS leads nowhere: it can start no process, open no file or socket, and grow no file; memory is limited, and
a timer ends it should its parent be gone.
"""

import json
import resource
import signal
import sys
from types import ModuleType
from typing import Any, BinaryIO

# Stops the clock and begins the random numbers at the same place, as the other sandboxes do.
CLOCK = """(function (now) {
  const Real = Date;
  const make = (target, given, as) => Reflect.construct(target, given.length ? given : [now], as);
  const Still = new Proxy(Real, { construct: make, apply: () => String(new Real(now)) });
  Real.now = () => now;
  Real.prototype.constructor = Still;
  globalThis.Date = Still;
  let state = 1;
  Math.random = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
})"""
CALL = """(function (f, text, box) {
  if (typeof f !== 'function') throw new TypeError('the text is no function');
  const keep = v => {
    const json = v === undefined ? 'null' : JSON.stringify(v);
    if (json === undefined) throw new TypeError('the function returned nothing that JSON can hold');
    box.value = json;
  };
  const fail = e => { box.error = String(e); };
  const v = f(JSON.parse(text));
  if (v instanceof Promise) v.then(keep).catch(fail); else keep(v);
})"""


def main(library: str, bounds: dict[str, Any]) -> None:
    sys.path.insert(0, library)
    import _quickjs

    sys.path.clear()
    bind(bounds["memory"])
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    write(writing, b"{}")
    request = json.loads(reading.read(int.from_bytes(reading.read(8), "big")) or "{}")
    if request:
        signal.setitimer(signal.ITIMER_REAL, request["seconds"] + 1)
        reply = answer(_quickjs, {**bounds, **request})
        write(writing, json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace"))


def bind(memory: int) -> None:
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 0),  # of new ones: the pipes to the parent are open
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(limit, (most, most))


def answer(quickjs: ModuleType, request: dict[str, Any]) -> dict[str, str]:
    try:
        value = run(quickjs, request)
    except quickjs.JSException as error:
        return failure(str(error).strip())
    except MemoryError:
        return {"error": "stopped at the memory limit", "kind": "memory"}
    if len(value.encode("utf-8", "replace")) > request["output"]:
        return {"error": "the result is too long", "kind": "memory"}
    return {"value": value}


def run(quickjs: ModuleType, request: dict[str, Any]) -> str:
    context = quickjs.Context()
    context.set_memory_limit(request["memory"])
    context.set_max_stack_size(request["stack"])
    context.set_time_limit(request["seconds"])
    context.eval(CLOCK)(float(request["now"]))  # whole numbers are cut to 32 bits
    box = context.eval("Object.create(null)")  # no prototype that the function could change
    call = context.eval(CALL)
    call(context.eval(f"({request['source']}\n)"), request["argument"], box)
    jobs = 0
    while context.execute_pending_job():
        jobs += 1
        if jobs > request["jobs"]:
            raise quickjs.JSException("too many promise jobs")
    outcome = json.loads(box.json())
    if not isinstance(outcome, dict):
        raise quickjs.JSException("the function changed how its result is read")
    if "value" not in outcome:
        raise quickjs.JSException(outcome.get("error", "the promise never settled"))
    return str(outcome["value"])


def failure(text: str) -> dict[str, str]:
    message = text.splitlines()[0] if text else "the function failed"
    if "interrupted" in message:
        return {"error": "stopped at the time limit", "kind": "timeout"}
    if "out of memory" in message:
        return {"error": "stopped at the memory limit", "kind": "memory"}
    return {"error": message, "kind": "syntax" if message.startswith("SyntaxError") else "runtime"}


def write(stream: BinaryIO, data: bytes) -> None:
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
