"""Run git safely; no other module runs it.

An untrusted repository may name programs in its configuration and attributes, and git runs many of them even on
read-only commands. So only plumbing is used, which ignores configuration for people (pagers, signatures, orders, mail
maps); ``GUARDS`` switch off the rest. Older versions of git ignore unknown guards.
"""

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregate.base.disk.programs import find_program, search_path
from aggregate.base.disk.reading import real_path

if TYPE_CHECKING:
    import subprocess

# Settings on the command line, which a repository cannot override. The comments name the danger.
GUARDS: Final = {
    "core.attributesFile": os.devnull,  # an endless file of attributes, useless for lists of names
    "core.fsmonitor": "",  # a program reporting changed files; "" disables it in every version
    "core.hooksPath": os.devnull,  # hooks, such as post-index-change
    "core.pager": "cat",  # a program to display output
    "log.showSignature": "false",  # gpg.program, which checks signatures of commits
    "protocol.allow": "never",  # transports to a promisor's address, see GUARD_VARIABLES
    "safe.bareRepository": "explicit",  # a bare repository among a clone's files, with its own configuration
    "submodule.recurse": "false",  # commands in submodules, with their configurations
}
GUARD_VARIABLES: Final = {
    "GIT_ALLOW_PROTOCOL": "",  # fetching missing objects by ext::, core.sshCommand, remote.*.uploadpack, credential
    # helpers: unlike protocol.allow the repository cannot override it for a single protocol
    "GIT_NO_LAZY_FETCH": "1",  # fetching missing objects from a promisor at all
    "GIT_OPTIONAL_LOCKS": "0",  # writing the index, and its hook
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_INHERITED = (
    "GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH", "GIT_SSL_CA",
)  # fmt: skip
_CHECK_SECONDS = 0.4  # between checks of a running process
_CHECKS = 3  # checks until a sleeping process counts as blocked forever
_MOST_MEMORY = 1_000_000_000  # bytes: only a command reading an endless file takes so much
# Elapsed and (on Linux) CPU seconds of a command; the largest repositories take two or three.
_SECONDS, _PROCESSOR_SECONDS = 60, 5
_RULE_SECONDS = 1  # CPU seconds for ignore rules: a rule such as ``*a*a*a*a*b`` takes minutes
_RULE_SECONDS_ELSEWHERE = 2  # elapsed seconds without a CPU limit, with reading the disk
# Tracked files per additional second to list the others: 300,000 take half a CPU second.
_FILES_A_SECOND, _FILES_A_SECOND_ELSEWHERE = 100_000, 5_000
_SETTINGS: Final = [part for name, value in GUARDS.items() for part in ("-c", f"{name}={value}")]
# The same change is the same commit, whoever makes it and when.
IDENTITY: Final = {
    f"GIT_{who}_{field}": value
    for who in ("AUTHOR", "COMMITTER")
    for field, value in (
        ("NAME", "aggregate"),
        ("EMAIL", "aggregate@localhost"),
        ("DATE", "@0 +0000"),
    )
}
_OWN_VARIABLES: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    **IDENTITY,
}


class StoppedError(Exception):
    """Git was stopped because it blocked or exceeded its limits."""


@dataclass(frozen=True, slots=True)
class GitLimits:
    elapsed: float = _SECONDS
    processor: int = _PROCESSOR_SECONDS

    @classmethod
    def for_rules(cls, *, tracked: int = 0) -> "GitLimits":
        if sys.platform == "linux":
            return cls(processor=_RULE_SECONDS + tracked // _FILES_A_SECOND)
        return cls(
            elapsed=min(_RULE_SECONDS_ELSEWHERE + tracked // _FILES_A_SECOND_ELSEWHERE, _SECONDS)
        )


# For packs and trees, of which large ones take some seconds.
OWN_LIMITS: Final = GitLimits(elapsed=600, processor=120)
_ESCAPED: Final = re.compile(r"\\([0-7]{3}|.)")
_CONTROL: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_USUAL = GitLimits()
_READ_BYTES = 65_536  # the size of a pipe
_READER_SECONDS = 5  # to read the rest after git's end; an orphaned child could keep the pipe open


class Output(NamedTuple):
    data: bytes
    code: int

    @property
    def is_complete(self) -> bool:
        return self.code == 0


def git(
    folder: str,
    *arguments: str,
    stdin: bytes = b"",
    limits: GitLimits = _USUAL,
    variables: Mapping[str, str] | None = None,
) -> bytes | None:
    """Return the output of ``git ARGUMENTS`` run in ``folder``, None if git fails or is missing."""
    answer = bounded_git(folder, *arguments, stdin=stdin, limits=limits, variables=variables)
    return answer.data if answer and answer.is_complete else None


def bounded_git(
    folder: str,
    *arguments: str,
    most: int = sys.maxsize,
    stdin: bytes = b"",
    limits: GitLimits = _USUAL,
    variables: Mapping[str, str] | None = None,
) -> Output | None:
    """Return the first ``most`` bytes of git's output.

    Returns None if git fails or is missing. Output before a timeout counts, so that a huge repository still yields its
    newest part.
    """
    if "\0" in folder or not _in_repository(folder):
        return None
    environment = guarded_environment(folder, os.environ)
    program = find_program("git", outside=(folder,), safe_path=environment["PATH"])
    if program is None:
        return None
    return _run(
        [program, "--no-pager", *_SETTINGS, "-C", folder, *arguments],
        {**environment, **(variables or {})},
        stdin=stdin,
        most=most,
        limits=limits,
    )


def own_git(
    repository: str,
    *arguments: str,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
    may_say_no: bool = False,
) -> bytes | None:
    """Run git on a bare repository of this program.

    Returns git's output, None for an allowed exit code 1. Git reads only the repository's own configuration, so there
    are no filters or drivers.

    Raises:
        OSError: Git is missing or failed.
    """
    environment = guarded_environment(repository, os.environ)
    program = find_program("git", outside=(repository,), safe_path=environment["PATH"])
    if program is None:
        raise FileNotFoundError("the program git is not installed")
    environment |= {**_OWN_VARIABLES, "GIT_DIR": repository, **(variables or {})}
    answer = _run(
        [program, "--no-pager", *_SETTINGS, *arguments], environment, stdin=stdin, limits=OWN_LIMITS
    )
    if answer is None or answer.code not in ((0, 1) if may_say_no else (0,)):
        raise OSError(f"git {arguments[0]} failed")
    return answer.data if answer.code == 0 or not may_say_no else None


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: bytes,
    limits: GitLimits,
    most: int = sys.maxsize,
) -> Output | None:
    import subprocess  # 7 ms with the next one, and most runs need no git
    import tempfile

    try:
        with tempfile.TemporaryFile() as input_file:  # a pipe would block while git does not read
            input_file.write(stdin)
            input_file.seek(0)
            process = subprocess.Popen(
                command,
                stdin=input_file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # no terminal, which a link in the repository could open
            )
    except OSError:
        return None
    chunks: list[bytes] = []

    def read() -> None:
        size = 0
        while process.stdout and (chunk := os.read(process.stdout.fileno(), _READ_BYTES)):
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                process.kill()
                return

    reader = Thread(target=read, daemon=True)
    with process:
        reader.start()
        _wait(process, reader, limits)
        reader.join(_READER_SECONDS)
    data = b"".join(chunks)
    is_cut = reader.is_alive() or len(data) > most
    return Output(data[:most], -1 if is_cut else process.returncode)


def unquoted(text: str) -> str:
    """Unquote a path that git quoted like a C string."""
    if "\\" not in text:
        return text

    def byte(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8) & 0xFF) if len(code) == 3 else _CONTROL.get(code, code)

    bytewise = text.encode(errors="surrogateescape").decode("latin-1")
    return _ESCAPED.sub(byte, bytewise).encode("latin-1").decode(errors="surrogateescape")


def why_no_history(folder: str) -> str:
    if "\0" in folder or not _in_repository(folder):
        return "the files are not in a git repository"
    if find_program("git", outside=(folder,)) is None:
        return "the program git is not installed"
    return ""


def guarded_environment(folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git in ``folder``.

    It also suits a program that runs git. Git's variables for the user's configuration are kept. Git's other variables
    are removed: they name a repository (in a hook) or programs. The settings of ``GUARDS`` are added as variables (git
    2.31 and later).
    """
    inherited = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name.startswith(_INHERITED)
    }
    inherited_count = inherited.get("GIT_CONFIG_COUNT", "")
    first = int(inherited_count) if inherited_count.isdecimal() else 0
    settings = {"GIT_CONFIG_COUNT": str(first + len(GUARDS))}
    for number, (name, value) in enumerate(GUARDS.items(), start=first):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    path = search_path(outside=(folder,), path=environ.get("PATH", os.defpath))
    return {**inherited, **settings, **GUARD_VARIABLES, "PATH": path}


def _in_repository(folder: str) -> bool:
    """Return whether ``folder`` or a parent has a ``.git``.

    Does not run git. A bare repository on the way ends the search: git before 2.38 ignores ``safe.bareRepository``.
    """
    start = Path(real_path(folder))
    for parent in (start, *start.parents):
        if os.path.lexists(parent / ".git"):
            return True
        if all((parent / name).exists() for name in ("HEAD", "objects", "refs")):
            return False
    return False


def _wait(process: "subprocess.Popen[bytes]", reader: Thread, limits: GitLimits) -> None:
    """Wait for the process; kill a blocked or slow one."""
    import subprocess

    _limit(process.pid, limits.processor)
    end = time.monotonic() + limits.elapsed
    checks: list[list[bytes] | None] = []
    try:
        while time.monotonic() < end:
            # Joining the reader returns at once when the output ends; waiting for a process polls.
            reader.join(_CHECK_SECONDS)
            try:
                process.wait(timeout=0 if reader.is_alive() else _CHECK_SECONDS)
                return
            except subprocess.TimeoutExpired:
                checks = [*checks, _run_times_if_asleep(process.pid)][-_CHECKS:]
                if checks[0] is not None and checks == [checks[0]] * _CHECKS:
                    return
    finally:
        if process.returncode is None:
            process.kill()


def _limit(pid: int, seconds: int) -> None:
    """Limit the memory and the CPU time of a process.

    This stops endless files, such as a reference linked to ``/dev/zero``, and patterns with many stars, which take git
    exponential time.
    """
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(pid, resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
        except (OSError, ValueError):  # it has ended, or has a lower limit
            return


def _run_times_if_asleep(pid: int) -> list[bytes] | None:
    """Return the CPU time of each thread of a process.

    Returns None unless all threads sleep. A thread waiting for a CPU on a busy machine is not asleep.
    """
    try:
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir())
        if any((task / "stat").read_bytes().rpartition(b") ")[2][:1] != b"S" for task in tasks):
            return None
        return [(task / "schedstat").read_bytes() for task in tasks]
    except OSError:
        return None
