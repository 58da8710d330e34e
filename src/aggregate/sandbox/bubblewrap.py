"""Full Python, with the libraries of this environment and no other file, in a bubblewrap sandbox.

The program's own limits (memory, processor time, processes, file size) hold inside; wall time, the size of the answer
and the end of every process hold from outside.
"""

import json
import math
import os
import pickle
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aggregate.disk.programs import find_program
from aggregate.errors import SandboxError, Stopped
from aggregate.models.plain import Value
from aggregate.sandbox.limits import Limits
from aggregate.sandbox.monty import PythonRun
from aggregate.sandbox.pipes import Late, receive, send

RUNNER: Final = Path(__file__).with_name("bubblewrap_runner.py")
SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
SCRATCH_BYTES: Final = 32 * 1024 * 1024
NOBODY: Final = "65534"
MISSING: Final = "code that needs full Python needs bubblewrap: install the package bubblewrap (the program bwrap)"


def run_full_python(
    code: str, data: Value, *, limits: Limits | None = None, references: Mapping[str, Value] | None = None
) -> PythonRun:
    """Run ``code`` with the global ``data`` and return what it assigned to ``result``.

    Args:
        code: Any Python; libraries that are installed beside this package can be imported.
        data: Plain values; the code gets a copy.
        limits: Time, memory and output.
        references: What ``load_data_reference(ref_id)`` gives inside.

    Returns:
        The result as JSON gives it back (tuples as lists, dates as texts), and what was printed.

    Raises:
        SandboxError: The code failed, was stopped, or bubblewrap is missing or not allowed to make a sandbox.
    """
    bounds = limits or Limits()
    request = {"code": code, "data": data, "references": dict(references or {}), "memory": bounds.memory_bytes}
    payload = pickle.dumps({**request, "seconds": math.ceil(bounds.seconds) + 1})
    reply = json.loads(_ask(payload, bounds))
    if "value" not in reply:
        raise SandboxError(str(reply["error"]), kind=Stopped(reply["kind"]), exception=str(reply["exception"]))
    return PythonRun(reply["value"], str(reply.get("printed", "")))


def _ask(payload: bytes, limits: Limits) -> bytes:
    """Start the sandbox, hand it the request and return its answer; nothing of it is left running."""
    bwrap = find_program("bwrap")
    if bwrap is None:
        raise SandboxError(MISSING, kind=Stopped.MISSING)
    process = subprocess.Popen(
        _command(bwrap), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}, bufsize=0
    )
    with process:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise SandboxError("the sandbox has no pipes", kind=Stopped.CRASH)
        deadline = time.monotonic() + limits.seconds
        for pipe in (process.stdin, process.stdout):
            os.set_blocking(pipe.fileno(), False)
        try:
            send(process.stdin.fileno(), payload, deadline)
            return receive(process.stdout.fileno(), deadline, most=2 * limits.output_bytes)
        except Late:
            raise SandboxError(f"stopped after {limits.seconds:g} s", kind=Stopped.TIMEOUT) from None
        except OSError as error:
            process.kill()
            said = process.stderr.read(4096).decode("utf-8", errors="replace").strip()
            raise _ended(said, error) from None
        finally:
            process.kill()


def _ended(said: str, error: OSError) -> SandboxError:
    if said.startswith("bwrap:"):
        return SandboxError(f"{MISSING}, and allow it to make namespaces ({said})", kind=Stopped.MISSING)
    return SandboxError(f"the sandbox's process ended: {error}", kind=Stopped.CRASH)


def _command(bwrap: str) -> list[str]:
    scratch = ["--size", str(SCRATCH_BYTES), "--tmpfs", "/scratch", "--chdir", "/scratch"]
    isolation = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    identity = ["--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox"]
    variables = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(_libraries())}
    environment = [part for name, value in variables.items() for part in ("--setenv", name, value)]
    program = [str(Path(sys.executable).resolve()), "-s", "-P", "-B", "-c", RUNNER.read_text(encoding="utf-8")]
    return [bwrap, *isolation, *identity, *environment, *_system(), "--dev", "/dev", *scratch, "--", *program]


def _system() -> list[str]:
    """Return the arguments that show the system's libraries and this Python, read-only."""
    shown = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            shown += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            shown += ["--ro-bind", name, name]
    for folder in dict.fromkeys((sys.base_prefix, *_libraries())):
        if not Path(folder).is_relative_to("/usr"):
            shown += ["--ro-bind", folder, folder]
    return shown


def _libraries() -> tuple[str, ...]:
    """Return the folders of the installed packages."""
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys((paths["purelib"], paths["platlib"])))
