"""Run Python code in Monty, in worker processes.

Monty is a Python interpreter with limits of time and memory, and its pool kills hanging workers. A fixed clock and
random seed make runs repeatable.

Monty does not limit the size of results. A list containing another one twice, forty levels deep, is small in Monty but
becomes a million million lists when copied. So values are measured inside before they are fetched, and the host's
functions take only short arguments.
"""

import ast
import atexit
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.messages import shorten
from aggregate.base.values import Value

SOURCE_CHARACTERS = 65_536  # of one piece of code: a parser's time and memory grow with it
ERROR_CHARACTERS = 2_000  # of an error, which code chooses freely
GRACE = 0.25  # seconds after a limit until the pool kills a worker
POLICY = {"sleep": "zero", "random_start": {"seed": 0}}
ARGUMENT_BYTES = 4096  # of one call of a host's function
# The size of a value as JSON. The code cannot guess its name, nor replace its parts, which are bound before.
MEASURE = """
import datetime as _datetime_{tag}, json as _json_{tag}
def _size_{tag}(value, most, dumps=_json_{tag}.dumps, dates=_datetime_{tag}, isinstance=isinstance, len=len, type=type,
                str=str, bytes=bytes, int=int, float=float, dict=dict, list=list, tuple=tuple, set=set,
                frozenset=frozenset, TypeError=TypeError):
    try:
        return len(dumps(value, ensure_ascii=False))
    except TypeError:
        pass  # sets, dates, keys of other types
    size, pending = 0, [value]
    while pending and size <= most:
        item = pending.pop()
        size += 8
        if isinstance(item, str) or isinstance(item, bytes):
            size += len(item)
        elif isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list) or isinstance(item, tuple) or isinstance(item, set) or isinstance(item, frozenset):
            pending.extend(item)
        elif not (item is None or isinstance(item, int) or isinstance(item, float) or isinstance(item, dates.date)
                  or isinstance(item, dates.time) or isinstance(item, dates.timedelta)):
            raise TypeError(f"the code returned a {{type(item).__name__}}, not plain data")
    return size
"""
FUNCTION = """
def {name}(*given, **named):
    if _size_{tag}([given, named], {most}) > {most}:
        raise ValueError('{name}() takes only short arguments')
    return _host_{tag}_{name}(*given, **named)
"""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    seconds: float = 2.0  # of wall time
    memory_bytes: int = 64 * 1024 * 1024  # of all values
    output_bytes: int = 16 * 1024 * 1024  # of the printed text, and of the result as JSON

    def timeout(self, exception: str = "") -> SandboxError:
        text = f"stopped after {self.seconds:g} s"
        return SandboxError(text, kind=Stopped.TIMEOUT, exception=exception)


@dataclass(frozen=True, slots=True)
class PythonRun:
    """The value of the last expression, and the printed text."""

    value: Value
    printed: str


def run_python(
    code: str,
    inputs: Mapping[str, Value],
    *,
    limits: SandboxLimits | None = None,
    functions: Mapping[str, Callable[..., Value]] | None = None,
    now: datetime | None = None,
) -> PythonRun:
    """Run ``code``; return the value of its last expression, and printed text."""
    bounds = limits or SandboxLimits()
    try:
        import pydantic_monty as monty
    except ImportError:
        reason = "Python code needs pydantic-monty: install manual-slop[sandbox]"
        raise SandboxError(reason, kind=Stopped.MISSING) from None
    tag = secrets.token_hex(16)
    host_functions = dict(functions or {})
    wrappers = [FUNCTION.format(tag=tag, name=name, most=ARGUMENT_BYTES) for name in host_functions]
    prepared = MEASURE.format(tag=tag) + "".join(wrappers)
    program = _program(code, tag)
    printed = monty.CollectString(max_bytes=bounds.output_bytes)
    allowed = {"max_feed_duration_secs": bounds.seconds, "max_memory": bounds.memory_bytes}
    policy = {**POLICY, "datetime": (now or datetime.now(UTC)).astimezone(UTC)}
    lookup = {f"_host_{tag}_{name}": function for name, function in host_functions.items()}
    try:
        with _pool(monty).checkout(limits=allowed, os_policy=policy) as session:
            session.feed_run(f"{prepared}None")
            session.feed_run(
                program, inputs=dict(inputs), external_lookup=lookup, print_callback=printed
            )
            size = session.feed_run(f"_size_{tag}(_value_{tag}, {bounds.output_bytes})")
            if size > bounds.output_bytes:
                raise SandboxError(
                    f"the result has more than {bounds.output_bytes} bytes", kind=Stopped.MEMORY
                )
            value = session.feed_run(f"_value_{tag}")
    except monty.MontyError as error:
        raise _translated(error, monty, bounds) from None
    return PythonRun(value, printed.output)


def _program(code: str, tag: str) -> str:
    """Return ``code`` with its last expression assigned to a name.

    ``tag`` makes the name secret. The text is generated from the syntax tree, so Python and Monty cannot parse it
    differently.
    """
    if len(code) > SOURCE_CHARACTERS:
        raise SandboxError(f"the code has more than {SOURCE_CHARACTERS} characters")
    try:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        value = ast.unparse(last) if last else "None"
        return f"{ast.unparse(tree)}\n_value_{tag} = ({value})\nNone"
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        reason = shorten(reason, ERROR_CHARACTERS) or "nested too deeply"
        raise SandboxError(reason, kind=Stopped.SYNTAX, exception="SyntaxError") from None


def _translated(error: Value, monty: Value, limits: SandboxLimits) -> SandboxError:
    """Convert an error of the pool to a ``SandboxError``.

    An error of the code keeps its message.
    """
    if isinstance(error, monty.MontyCrashedError):
        if error.timed_out:
            return limits.timeout()
        return SandboxError("the sandbox's process ended", kind=Stopped.CRASH)
    cause = error.exception()
    name = type(cause).__name__
    text = shorten(str(cause), ERROR_CHARACTERS) or name
    if isinstance(error, monty.MontySyntaxError):
        return SandboxError(text, kind=Stopped.SYNTAX, exception="SyntaxError")
    if name == "TimeoutError":
        return limits.timeout(name)
    if name == "MemoryError":
        return SandboxError("stopped at the memory limit", kind=Stopped.MEMORY, exception=name)
    return SandboxError(text, kind=Stopped.RUNTIME, exception=name)


_POOLS: dict[int, Value] = {}  # at most one, by its process
_STACK = ExitStack()
_LOCK = Lock()


def _pool(monty: Value) -> Value:
    """Return the worker pool of this process; after a fork there is a new one."""
    if _POOLS.keys() - {os.getpid()}:
        raise SandboxError(
            "Monty cannot run in a process that was forked after its use: start it with spawn"
        )
    with _LOCK:
        if not _POOLS:
            most = max(2, os.cpu_count() or 2)
            pool = monty.Monty(max_processes=most, feed_duration_limit_grace=GRACE)
            _POOLS[os.getpid()] = _STACK.enter_context(pool)
        return _POOLS[os.getpid()]


def _close_pool() -> None:
    if os.getpid() in _POOLS:  # not the parent's after a fork
        _STACK.close()


atexit.register(_close_pool)
