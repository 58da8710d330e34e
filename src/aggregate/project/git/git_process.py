"""Runs git: the only place that does.

A repository that came from somebody else may name programs in its configuration and attributes, and git runs many of
them on commands that only look. So only plumbing is used, which reads no configuration meant for people (pagers,
signatures, orders, mail maps); what is left is switched off by ``GUARDS``. Older versions of git ignore the guards
that they do not know.
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

# Settings that a repository cannot override, since they stand on the command line.
GUARDS: Final = {
    "core.attributesFile": os.devnull,  # an endless file of attributes, which are of no use for lists of names
    "core.fsmonitor": "",  # a program that git asks which files have changed; "" turns it off in every version
    "core.hooksPath": os.devnull,  # hooks, such as post-index-change
    "core.pager": "cat",  # a program that shows what git prints
    "log.showSignature": "false",  # gpg.program, which checks signatures of commits
    "protocol.allow": "never",  # transports to a promisor's address, see GUARD_VARIABLES
    "safe.bareRepository": "explicit",  # a bare repository among the files of a clone, with a configuration of its own
    "submodule.recurse": "false",  # commands in submodules, with their configurations
}
GUARD_VARIABLES: Final = {
    "GIT_ALLOW_PROTOCOL": "",  # fetching missing objects by ext::, core.sshCommand, remote.*.uploadpack, credential
    # helpers: unlike protocol.allow it cannot be overridden for a single protocol by the repository
    "GIT_NO_LAZY_FETCH": "1",  # asking a promisor for missing objects at all
    "GIT_OPTIONAL_LOCKS": "0",  # writing the index, and the hook behind it
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_INHERITED = (
    "GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH", "GIT_SSL_CA",
)  # fmt: skip
_LOOK_SECONDS = 0.4  # Between two looks at a process that has not answered yet
# How often in a row a process is seen to sleep before it counts as waiting for what never comes.
_LOOKS = 3
# Bytes: far more than a list of names takes, and soon reached by what reads an endless file.
_MOST_MEMORY = 1_000_000_000
# What a command may take, in all and of a processor (Linux): those of the largest repositories take two or three.
_SECONDS, _PROCESSOR_SECONDS = 60, 5
# Of a processor, to look at ignore rules: a rule such as ``*a*a*a*a*b`` takes minutes.
_RULE_SECONDS = 1
# In all, where a processor's time is not limited: reading a disk counts too.
_RULE_SECONDS_ELSEWHERE = 2
# Tracked files for which listing the others gets a second more: 300,000 take half a second of a processor.
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
    """Git was ended since it waited for what never came, or took too much time or memory: its answer is not known."""


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


# For packs and trees: those of a large project are made and read in some seconds.
OWN_LIMITS: Final = GitLimits(elapsed=600, processor=120)
_ESCAPED: Final = re.compile(r"\\([0-7]{3}|.)")
_CONTROL: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_USUAL = GitLimits()
_READ_BYTES = 65_536  # Of what git prints, at once: as much as a pipe holds
# For what git has printed before it ended; only a program that outlives git could keep the pipe open.
_READER_SECONDS = 5


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
    may_say_no: bool = False,
    limits: GitLimits = _USUAL,
    variables: Mapping[str, str] | None = None,
    tells_stop: bool = False,
) -> bytes | None:
    """Return what ``git ARGUMENTS`` prints in ``folder``, ``None`` where git or a repository is missing or it fails.

    The exit code 1 is an answer too where git ``may_say_no``; a command that was ended is a ``StoppedError`` where that
    is asked for.
    """
    answer = bounded_git(folder, *arguments, stdin=stdin, limits=limits, variables=variables)
    if answer is None:
        return None
    if answer.code < 0 and tells_stop:
        raise StoppedError
    return answer.data if answer.code == 0 or (may_say_no and answer.code == 1) else None


def bounded_git(
    folder: str,
    *arguments: str,
    most: int = sys.maxsize,
    stdin: bytes = b"",
    limits: GitLimits = _USUAL,
    variables: Mapping[str, str] | None = None,
) -> Output | None:
    """Return the first bytes of what ``git ARGUMENTS`` prints; ``None`` where git or a repository is missing.

    What it printed before it was ended counts too, so that a repository without end tells its newest part.
    """
    if "\0" in folder or not _in_repository(folder):
        return None
    program = find_program("git", outside=(folder,))
    if program is None:
        return None
    environment = {**guarded_environment(folder, os.environ), **(variables or {})}
    return _run(
        [program, "--no-pager", *_SETTINGS, "-C", folder, *arguments],
        environment,
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
    """Return what git prints on a bare repository of ours, ``None`` where it says no by the exit code 1 and may.

    No other configuration is read, so that there are no filters and no drivers, and no repository is looked for.

    Raises:
        OSError: Git is missing, or has failed.
    """
    program = find_program("git", outside=(repository,))
    if program is None:
        raise FileNotFoundError("the program git is not installed")
    environment = guarded_environment(repository, os.environ) | _OWN_VARIABLES
    environment |= {"GIT_DIR": repository, **(variables or {})}
    answer = _run(
        [program, "--no-pager", *_SETTINGS, *arguments], environment, stdin=stdin, limits=OWN_LIMITS
    )
    if answer is None or answer.code not in ((0, 1) if may_say_no else (0,)):
        raise OSError(f"git {arguments[0]} has failed")
    return answer.data if answer.code == 0 or not may_say_no else None


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: bytes,
    limits: GitLimits,
    most: int = sys.maxsize,
) -> Output | None:
    import subprocess  # with the next one 7 ms, and most runs have nothing to ask
    import tempfile

    try:
        with tempfile.TemporaryFile() as given:  # a pipe would block us while git does not read
            given.write(stdin)
            given.seek(0)
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,  # without a terminal that a file of the repository could be a link to
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
    """Return a name that git has quoted as in C; its octal numbers are bytes of UTF-8."""
    if "\\" not in text:
        return text

    def byte(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8) & 0xFF) if len(code) == 3 else _CONTROL.get(code, code)

    bytewise = text.encode(errors="surrogateescape").decode("latin-1")
    return _ESCAPED.sub(byte, bytewise).encode("latin-1").decode(errors="surrogateescape")


def why_no_history(folder: str) -> str:
    if "\0" in folder or not _in_repository(folder):
        return "the files lie in no git repository"
    if find_program("git", outside=(folder,)) is None:
        return "the program git is not installed"
    return ""


def guarded_environment(folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git in ``folder``, or for another program that runs git there.

    Of git's own variables those stay that say what the user's configuration is; the others name a repository, as in a
    hook, or programs. The settings of ``GUARDS`` are added to them, which git knows since 2.31.
    """
    inherited = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name.startswith(_INHERITED)
    }
    inherited_count = inherited.get("GIT_CONFIG_COUNT", "")
    own_from = int(inherited_count) if inherited_count.isdecimal() else 0
    settings = {"GIT_CONFIG_COUNT": str(own_from + len(GUARDS))}
    for number, (name, value) in enumerate(GUARDS.items(), start=own_from):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    path = search_path(outside=(folder,), path=environ.get("PATH", ""))
    return {**inherited, **settings, **GUARD_VARIABLES, "PATH": path}


def _in_repository(folder: str) -> bool:
    """Tell whether there is a ``.git`` in or above ``folder``; where there is none, git need not be asked.

    A folder that git would take for a repository by what lies in it ends the search: versions before 2.38 do not know
    ``safe.bareRepository``.
    """
    start = Path(real_path(folder))
    for parent in (start, *start.parents):
        if os.path.lexists(parent / ".git"):
            return True
        if all((parent / name).exists() for name in ("HEAD", "objects", "refs")):
            return False
    return False


def _wait(process: "subprocess.Popen[bytes]", reader: Thread, limits: GitLimits) -> None:
    """Wait until ``process`` has ended; it is killed if it waits for a FIFO, or takes too long or too much memory."""
    import subprocess

    _limit(process.pid, limits.processor)
    end = time.monotonic() + limits.elapsed
    looks: list[list[bytes] | None] = []
    try:
        while time.monotonic() < end:
            # What it prints ends with it: a thread is told of that at once, while waiting for a process is a loop of
            # ever longer sleeps.
            reader.join(_LOOK_SECONDS)
            try:
                process.wait(timeout=0 if reader.is_alive() else _LOOK_SECONDS)
                return
            except subprocess.TimeoutExpired:
                looks = [*looks, _sleeps(process.pid)][-_LOOKS:]
                if looks[0] is not None and looks == [looks[0]] * _LOOKS:
                    return
    finally:
        if process.returncode is None:
            process.kill()


def _limit(pid: int, seconds: int) -> None:
    """Limit the memory of a process and its work, in seconds of a processor.

    An endless file, such as a reference that is a link to ``/dev/zero``, is not read into memory, and a pattern with
    many stars, which git matches in every way that they can share a name, is not tried for minutes.
    """
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(pid, resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))
        except (OSError, ValueError):  # it has ended, or a lower limit is in force
            return


def _sleeps(pid: int) -> list[bytes] | None:
    """Return how long each thread of a process has run, ``None`` where it is not known or not all of them sleep.

    One that is ready to run but gets no processor, on a busy machine, has not run either: it does not sleep.
    """
    try:
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir())
        if any((task / "stat").read_bytes().rpartition(b") ")[2][:1] != b"S" for task in tasks):
            return None
        return [(task / "schedstat").read_bytes() for task in tasks]
    except OSError:
        return None
