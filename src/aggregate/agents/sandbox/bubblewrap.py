"""Full Python in bubblewrap: one process that sees libraries alone, watched from outside."""

import math
import os
import pickle
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.agents.sandbox.limits import (
    ADDRESS_BYTES,
    OPEN_FILES,
    RUNTIME_BYTES,
    THREADS,
    WATCH_SECONDS,
    SandboxLimits,
    check_length,
    parse_reply,
)
from aggregate.agents.sandbox.monty import PythonRun
from aggregate.agents.sandbox.seccomp import seccomp_filter
from aggregate.base.concurrency import DeadlinePassed, PoolProcess
from aggregate.base.disk.programs import find_program
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.values import Value

# Memory that the processes wrote to themselves; what is read from files is the system's to drop.
COUNTED: Final = ("RssAnon:", "RssShmem:")


class _TreeUsage(NamedTuple):
    memory_bytes: int
    processes: int
    threads: int


def tree_usage(root: int) -> _TreeUsage:
    """Return what the process ``root`` and everything below it use; what cannot be read counts as nothing."""
    memory = processes = threads = 0
    pending = [root]
    while pending:
        folder = Path(f"/proc/{pending.pop()}")
        try:
            status = (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines()
            tasks = list((folder / "task").iterdir())
            pending += [
                int(child)
                for task in tasks
                for child in (task / "children").read_text("ascii").split()
            ]
        except OSError:  # it ended meanwhile
            continue
        processes += 1
        threads += len(tasks)
        memory += sum(1024 * int(line.split()[1]) for line in status if line.startswith(COUNTED))
    return _TreeUsage(memory, processes, threads)


RUNNER: Final = Path(__file__).with_name("bubblewrap_runner.py")
SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
PROCESSES: Final = 3  # bubblewrap outside, bubblewrap as the first process inside, Python
ISOLATION: Final = """
--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL --uid 65534 --gid 65534 --hostname sandbox
"""
# Nothing can be written: an empty folder or a link costs memory that no limit counts.
FROZEN: Final = "--dir /scratch --chdir /scratch --remount-ro /"
ANSWER_FRAME: Final = 65_536  # bytes of an answer beside its result: an error's text, names
# Read of what bubblewrap writes to its standard error: one line, where it is not allowed to make a sandbox.
ERROR_BYTES: Final = 4096
MISSING: Final = "code that needs full Python needs bubblewrap: install the package bubblewrap (the program bwrap)"


def run_full_python(
    code: str,
    data: Value,
    *,
    limits: SandboxLimits | None = None,
    references: Mapping[str, Value] | None = None,
    now: datetime | None = None,
) -> PythonRun:
    """Run ``code`` with the global ``data`` and return what it assigned to ``result``, as JSON gives it back.

    ``load_data_reference(ref_id)`` gives what is in ``references``. The clock stands still, by default at the time of
    this call.
    """
    bounds = limits or SandboxLimits()
    check_length(code, "code")
    request = {
        "code": code,
        "data": data,
        "references": dict(references or {}),
        "output": bounds.output_bytes,
    }
    request["now"] = (now or datetime.now(UTC)).timestamp()
    request["bounds"] = {
        "RLIMIT_AS": bounds.memory_bytes + ADDRESS_BYTES,
        "RLIMIT_DATA": bounds.memory_bytes + RUNTIME_BYTES,
        "RLIMIT_CPU": math.ceil(bounds.seconds) + 1,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_NPROC": THREADS,
    }
    try:
        payload = pickle.dumps(request)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise SandboxError(f"full Python gets plain data: {error}") from None
    reply = parse_reply(_ask(payload, bounds))
    printed = reply.get("printed")
    return PythonRun(reply["value"], printed if isinstance(printed, str) else "")


def _ask(payload: bytes, limits: SandboxLimits) -> bytes:
    """Start the sandbox, hand it the request and return its answer; nothing of it is left running."""
    bwrap = find_program("bwrap")
    if bwrap is None:
        raise SandboxError(MISSING, kind=Stopped.MISSING)
    worker = _start(bwrap, seccomp_filter(platform.machine()))

    def watch() -> None:
        usage = tree_usage(worker.pid)
        if usage.memory_bytes > limits.memory_bytes + RUNTIME_BYTES:
            raise SandboxError("stopped at the memory limit", kind=Stopped.MEMORY)
        if usage.processes > PROCESSES or usage.threads > PROCESSES + THREADS:
            raise SandboxError(f"stopped at more than {THREADS} threads", kind=Stopped.MEMORY)

    try:
        return worker.ask(
            payload,
            seconds=limits.seconds,
            most=limits.output_bytes + ANSWER_FRAME,
            watch=watch,
            every=WATCH_SECONDS,
        )
    except DeadlinePassed:
        raise limits.timeout() from None
    except OSError as error:
        said = worker.kill_and_read_errors(ERROR_BYTES)
        if said.startswith("bwrap:"):
            sentence = f"{MISSING}, and allow it to make namespaces ({said})"
            raise SandboxError(sentence, kind=Stopped.MISSING) from None
        raise SandboxError(f"the sandbox's process ended: {error}", kind=Stopped.CRASH) from None
    finally:
        worker.kill()


def _start(bwrap: str, forbidden: bytes) -> PoolProcess:
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as out:
            out.write(forbidden)
        process = subprocess.Popen(
            _command(bwrap, reading),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            bufsize=0,
            pass_fds=(reading,),
        )
        return PoolProcess(process)
    except OSError as error:
        raise SandboxError(f"{MISSING} ({error})", kind=Stopped.MISSING) from None
    finally:
        os.close(reading)


def _command(bwrap: str, forbidden: int) -> list[str]:
    variables = {
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(_libraries()),
    }
    environment = [part for name, value in variables.items() for part in ("--setenv", name, value)]
    devices = [part for device in DEVICES for part in ("--dev-bind-try", device, device)]
    arguments = [
        *ISOLATION.split(),
        *environment,
        *system_folders(),
        *_python(),
        *devices,
        *FROZEN.split(),
    ]
    python = [str(Path(sys.executable).resolve()), "-s", "-P", "-B", "-c"]
    program = RUNNER.read_text(encoding="utf-8")
    return [bwrap, *arguments, "--seccomp", str(forbidden), "--", *python, program]


def system_folders() -> list[str]:
    """Return what lets a sandbox see the system's programs and libraries, and none of their settings."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    # Settings of this machine's programs, which may hold their keys.
    for folder in filter(os.path.isdir, ("/usr/etc", "/usr/local/etc")):
        arguments += ["--tmpfs", folder, "--remount-ro", folder]
    return arguments


def _python() -> list[str]:
    folders = dict.fromkeys((sys.base_prefix, *_libraries()))
    own = [folder for folder in folders if not Path(folder).is_relative_to("/usr")]
    return [part for folder in own for part in ("--ro-bind", folder, folder)]


def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys((paths["purelib"], paths["platlib"])))
