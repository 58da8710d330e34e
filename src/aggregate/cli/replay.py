"""Fast path: replay the last run if none of its inputs changed.

The user's cache stores a run's output and the state of its inputs (``base.disk.witnesses``) by arguments, folder and
environment. The replay of an unchanged run copies the newest prompt, if that has the stored hash. In any doubt the
program runs as usual.
"""

import json
import os
import stat
import sys
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.reading import read_regular
from aggregate.base.disk.witnesses import Own, State, Stated, Witnesses
from aggregate.base.disk.writing import cache_folder, replace_own
from aggregate.base.errors import AggregateError

_VERSION: Final = 3
FOLDER: Final = "aggregate-index"  # of the index, so that both are deleted together
MOST_BYTES: Final = 200_000_000  # of a stored run
PATH, QUOTED_PATH = "\0path\0", "\0quoted path\0"  # marks in stored output, plain and in JSON
_PART_BYTES: Final = 1 << 20
# Environment variables with a possible effect on a run; a test compares them with the variables read by the program.
COUNTS: Final = frozenset(
    {
        "APPDATA", "COLORTERM", "COLUMNS", "FORCE_COLOR", "HOME", "LANG", "LANGUAGE", "LINES", "LOCALAPPDATA",
        "NO_COLOR", "PATH", "SUDO_UID", "TERM", "TZ", "USERPROFILE",
    }
)  # fmt: skip
COUNT_FROM: Final = ("AGGREGATE_", "BEADS_", "GIT_", "LC_", "PYTHON", "TTY_", "XDG_")


class Written(NamedTuple):
    """Hashes of a prompt and its records, ``""`` for a missing record."""

    prompt: str
    log: str
    audit: str


Output = list[tuple[int, str]]  # texts, each with its descriptor, 1 or 2


class RememberedRun(NamedTuple):
    key: str
    witnesses: Witnesses
    output: Output  # with a mark for the path
    written: Written | None  # ``None`` if no prompt was written
    output_dir: str  # as configured
    project: str | None  # the folder that must contain the prompt
    began_ns: int
    pages: bytes = b""  # blocks for a prompt after a few edits

    def pack(self) -> bytes:
        own, *stated = self.witnesses[:4]
        kinds = [(kind.paths, kind.states.tobytes().hex()) for kind in stated]
        head = self._replace(witnesses=[own, *kinds, *self.witnesses[4:]])[:-1]  # type: ignore[arg-type]
        data = json.dumps([_VERSION, *head]).encode() + b"\n" + self.pages
        return zlib.crc32(data).to_bytes(4, "big") + data

    @classmethod
    def unpack(cls, data: bytes) -> "RememberedRun":
        """Unpack a stored run; raise ``ValueError`` if the bytes are damaged."""
        if zlib.crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            raise ValueError("damaged")
        head, _, pages = data[4:].partition(b"\n")
        version, key, (own, *kinds), output, written, *rest = json.loads(head)
        if version != _VERSION:
            raise ValueError("another version")
        kinds[:3] = [
            Stated(paths, array("q", bytes.fromhex(states))) for paths, states in kinds[:3]
        ]
        witnesses = Witnesses(Own(*own), *kinds)
        output = [(number, text) for number, text in output]
        return cls(key, witnesses, output, written and Written(*written), *rest)._replace(
            pages=pages
        )


def key_of(arguments: list[str]) -> str:
    """Hash a run's inputs other than files: arguments, folder, environment, streams, interpreter."""
    environment = {
        name: value
        for name, value in sorted(os.environ.items())
        if name in COUNTS or name.startswith(COUNT_FROM)
    }
    screens = [
        [list(os.get_terminal_size(stream.fileno())) if stream.isatty() else [], stream.encoding]
        for stream in (sys.stdout, sys.stderr)
    ]
    folder = os.getcwd()  # noqa: PTH109 - text in, text out
    program = [sys.version, sys.executable, list(sys.flags)]
    inputs = json.dumps([program, folder, arguments, environment, screens])
    return sha256(inputs.encode()).hexdigest()


def path_of(key: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / FOLDER / f"run-{key[:16]}"


class ThisRun(NamedTuple):
    """This process's run, and the last run with equal arguments."""

    key: str
    began_ns: int
    earlier: RememberedRun | None
    changed: Mapping[str, State]  # present status of files changed since the earlier run


def this_run(arguments: list[str]) -> ThisRun | None:
    """Return this run, and the last one with equal arguments.

    Returns None if a replay is impossible.
    """
    began_ns = time.time_ns()
    if sys.platform == "win32":
        return None  # its st_ctime is the time of creation
    try:
        key = key_of(arguments)
        path = path_of(key)
        run = _read_run(path, began_ns) if path else None
        changed = run.witnesses.changed() if run and run.key == key else None
        return ThisRun(key, began_ns, None if changed is None else run, changed or {})
    except Exception:  # noqa: BLE001 - the run itself will report the cause
        return None


def _read_run(path: Path, now_ns: int) -> RememberedRun | None:
    """Read a stored run; return ``None`` if it is missing, damaged, foreign or of the future."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        data, info = read_regular(path, limit=MOST_BYTES)
        if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & stat.S_IWOTH):
            return None
        run = RememberedRun.unpack(data)
        return run if run.began_ns <= now_ns else None
    return None


def repeat(run: RememberedRun) -> int | None:
    """Replay a run's files and output; return ``None`` if that fails."""
    try:
        path = _write_again(run) if run.written else ""
    except Exception:  # noqa: BLE001 - the run itself will report the cause
        return None
    return None if path is None else _print_again(run, path)


class LastPrompt(NamedTuple):
    """The newest prompt; reading ``parts`` raises ``ValueError`` if it is not the remembered one."""

    path: Path
    parts: Iterator[bytes]
    log: bytes
    audit: bytes


def last_prompt(run: RememberedRun) -> LastPrompt | None:
    from aggregate.prompt.output.numbered_output import audit_path, numbered_files, request_log_path

    files = numbered_files(Path(run.output_dir), run.witnesses.own.namespace)
    if run.written is None or not files:
        return None
    path = files[-1][1]
    log = _read(request_log_path(path), run.written.log)
    audit = _read(audit_path(path), run.written.audit)
    if log is None or audit is None:
        return None
    return LastPrompt(path, _parts(path, run.written.prompt), log, audit)


def _write_again(run: RememberedRun) -> str | None:
    """Copy the remembered prompt to the next number; return the path."""
    from aggregate.prompt.output.numbered_output import audit_path, request_log_path, write_numbered

    last = last_prompt(run)
    if last is None:
        return None
    folder, project = Path(run.output_dir), Path(run.project) if run.project else None
    path = write_numbered(folder, run.witnesses.own.namespace, last.parts, project=project)
    try:
        for record, data in ((audit_path(path), last.audit), (request_log_path(path), last.log)):
            if data:
                replace_own(record, data)
    except (AggregateError, OSError):
        path.unlink()
        raise
    return str(path)


def _read(path: Path, expected: str) -> bytes | None:
    if not expected:
        return None if os.path.lexists(path) else b""
    data, _ = read_regular(path, limit=MOST_BYTES)
    return data if sha256(data).hexdigest() == expected else None


def _parts(path: Path, expected: str) -> Iterator[bytes]:
    """Yield a file in parts; raise ``ValueError`` if its hash differs."""
    digest = sha256()
    with path.open("rb") as file:
        while part := file.read(_PART_BYTES):
            digest.update(part)
            yield part
    if digest.hexdigest() != expected:
        raise ValueError("another prompt")


def _print_again(run: RememberedRun, path: str) -> int:
    quoted = json.dumps(path)[1:-1]
    for number, marked in run.output:
        stream = sys.stdout if number == 1 else sys.stderr
        text = marked.replace(PATH, path).replace(QUOTED_PATH, quoted)
        is_data = number == 1 and not stream.isatty()
        codec = ("utf-8", "surrogateescape") if is_data else (stream.encoding, "backslashreplace")
        try:
            stream.buffer.write(text.encode(*codec))
            stream.buffer.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            if number == 2:
                continue
            if not isinstance(error, BrokenPipeError):  # a reader who has left needs no message
                reason = error.strerror or error
                sys.stderr.write(f"aggregate: the output cannot be written: {reason}\n")
            return 1
    return 0
