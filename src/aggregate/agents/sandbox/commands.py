"""Run a command in bubblewrap with one writable folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import Final, NamedTuple

from aggregate.base.disk.programs import find_program
from aggregate.base.errors import SandboxError, Stopped

# A command's output: the head names the program, the tail shows the end.
PRINTED_BYTES: Final = 12_000
_HEAD_BYTES: Final = 3_000
MEMORY_BYTES: Final = 4 << 30  # of all its processes together
PROCESSES: Final = 256
# Written memory; the system can drop memory read from files.
_COUNTED: Final = ("RssAnon:", "RssShmem:")
_SCRATCH_BYTES: Final = 512 << 20  # of /tmp, which is memory
_LOOK_SECONDS: Final = 0.1
# No capabilities, network, other processes or terminal
_ISOLATION: Final = """
--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL --hostname sandbox --proc /proc
"""
# Variables in place of the user's: they hold no keys, and Python writes no cache files
_VARIABLES: Final = {
    "HOME": "/tmp",  # noqa: S108 - of the sandbox, a file system of its own
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
}
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_MISSING: Final = (
    "commands run in bubblewrap: install the package bubblewrap (the program bwrap), or set sandbox = false under "
    "[conduct] in your own configuration"
)


class CommandResult(NamedTuple):
    code: int
    printed: str  # standard output and standard error together, cut in the middle

    @property
    def sentence(self) -> str:
        return f"exit code {self.code}\n{self.printed}".rstrip()


def run_command(
    words: Sequence[str], root: Path, folder: str = "", *, seconds: float, sandboxed: bool = True
) -> CommandResult:
    """Run a command in ``folder``, with write access to ``root``.

    Raises:
        SandboxError: The program or the sandbox is missing, or a limit of time or memory was reached.
    """
    # Shims choose versions by the user's files, which a sandbox hides.
    folders = os.environ.get("PATH", _PATH).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).name != "shims")
    program = find_program(words[0], path=path)
    if program is None:
        raise SandboxError(f"no program {words[0]!r} on PATH", kind=Stopped.MISSING)
    cwd = root / folder
    if sandboxed:
        bwrap = find_program("bwrap")
        if bwrap is None:
            raise SandboxError(_MISSING, kind=Stopped.MISSING)
        command = [bwrap, *_arguments(program, root, cwd), "--", program, *words[1:]]
        environment: dict[str, str] = {}
    else:
        command = [program, *words[1:]]
        environment = {**_VARIABLES, "PATH": path, "HOME": os.environ.get("HOME", "")}
    with TemporaryFile() as printed:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
        try:
            _wait(process, seconds)
        finally:
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return CommandResult(process.returncode, _read(printed.fileno()))


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    end = monotonic() + seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_LOOK_SECONDS)
            return
        if monotonic() > end:
            raise SandboxError(f"stopped after {seconds:g} s", kind=Stopped.TIMEOUT)
        memory, processes = tree_usage(process.pid)
        if memory > MEMORY_BYTES or processes > PROCESSES:
            raise SandboxError("stopped at the limit of memory or processes", kind=Stopped.MEMORY)


def tree_usage(root: int) -> tuple[int, int]:
    """Return the memory in bytes and the number of a process and its descendants."""
    memory = processes = 0
    pending = [root]
    while pending:
        folder = Path(f"/proc/{pending.pop()}")
        try:
            status = (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines()
            lists = [task.read_text("ascii") for task in folder.glob("task/*/children")]
        except OSError:  # it has ended
            continue
        pending += [int(child) for children in lists for child in children.split()]
        processes += 1
        memory += sum(1024 * int(line.split()[1]) for line in status if line.startswith(_COUNTED))
    return memory, processes


def _read(printed: int) -> str:
    size = os.fstat(printed).st_size
    if size <= PRINTED_BYTES:
        return os.pread(printed, size, 0).decode("utf-8", "replace")
    tail = PRINTED_BYTES - _HEAD_BYTES
    head = os.pread(printed, _HEAD_BYTES, 0).decode("utf-8", "replace")
    end = os.pread(printed, tail, size - tail).decode("utf-8", "replace")
    return f"{head}\n[{size - PRINTED_BYTES:,} bytes are left out here]\n{end}"


def _arguments(program: str, root: Path, cwd: Path) -> list[str]:
    path = f"{Path(program).parent}:{_PATH}"
    variables = {**_VARIABLES, "PATH": path}
    environment = [part for name, value in variables.items() for part in ("--setenv", name, value)]
    devices = [part for device in _DEVICES for part in ("--dev-bind-try", device, device)]
    scratch = ["--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - as above
    libraries = [part for folder in _folders_of(program) for part in ("--ro-bind", folder, folder)]
    tree = ["--bind", str(root), str(root), "--chdir", str(cwd)]
    return [
        *_ISOLATION.split(),
        *environment,
        *_system_folders(),
        *devices,
        *scratch,
        *libraries,
        *tree,
        "--remount-ro",
        "/",
    ]


def _system_folders() -> list[str]:
    """Return bubblewrap's arguments for the system's programs and libraries."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    # Settings may contain keys.
    for folder in filter(os.path.isdir, ("/usr/etc", "/usr/local/etc")):
        arguments += ["--tmpfs", folder, "--remount-ro", folder]
    return arguments


def _folders_of(program: str) -> list[str]:
    """Return a program's folders, such as its Python environment."""
    folders: dict[str, None] = {}
    for path in (Path(program), Path(program).resolve()):
        prefix = path.parent.parent
        is_python = (prefix / "pyvenv.cfg").is_file() or str(prefix) == sys.base_prefix
        folders[str(prefix if is_python else path.parent)] = None
    if Path(program).is_relative_to(sys.prefix):
        folders[sys.base_prefix] = None
    return [
        folder for folder in folders if not Path(folder).is_relative_to("/usr") and folder != "/bin"
    ]
