"""The program inside bubblewrap: it bounds itself, runs the code and writes one answer.

Its text is passed to ``python -c``, so it imports nothing of this package. It reads a length and a pickle (from the
host, which it trusts) and writes a length and JSON (which the host does not).
"""

import contextlib
import io
import json
import os
import pickle
import resource
import sys
from typing import Any

OVERHEAD = 768 * 1024 * 1024
"""Address space that Python and its libraries take before any value."""
FORBIDDEN = ("open", "eval", "exec", "compile", "input", "breakpoint", "help", "exit", "quit")


def main() -> None:
    """Answer one request."""
    header = sys.stdin.buffer.read(8)
    request = pickle.loads(sys.stdin.buffer.read(int.from_bytes(header, "big")))  # noqa: S301 - written by the host
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    bind(request["memory"], request["seconds"])
    reply = json.dumps(answer(request), default=str).encode()
    with os.fdopen(answers, "wb") as out:
        out.write(len(reply).to_bytes(8, "big") + reply)


def bind(memory: int, seconds: int) -> None:
    """Give up what the code does not need, for good."""
    for limit, most in (
        (resource.RLIMIT_AS, memory + OVERHEAD),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 32),
    ):
        resource.setrlimit(limit, (most, most))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run the code and return its result, or the exception that it raised."""

    def load_data_reference(ref_id: str) -> Any:  # noqa: ANN401 - whatever was stored
        if ref_id not in request["references"]:
            raise FileNotFoundError(f"Data reference not found: {ref_id}")
        return request["references"][ref_id]

    allowed = {name: value for name, value in vars(__import__("builtins")).items() if name not in FORBIDDEN}
    names = {"__builtins__": allowed, "__name__": "analysis", "load_data_reference": load_data_reference}
    names["data"] = request["data"]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(request["code"], "analysis.py", "exec"), names)  # noqa: S102 - the purpose of the sandbox
        if "result" not in names:
            raise NameError("name 'result' is not defined")
        json.dumps(names["result"], default=str)
    except MemoryError:
        return {"error": "stopped at the memory limit", "kind": "memory", "exception": "MemoryError"}
    except BaseException as error:  # noqa: BLE001 - each way to fail is an answer
        return {"error": str(error) or type(error).__name__, "kind": "runtime", "exception": type(error).__name__}
    return {"value": names["result"], "printed": printed.getvalue()}


if __name__ == "__main__":
    main()
