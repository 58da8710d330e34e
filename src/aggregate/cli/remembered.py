"""A run of which nothing has changed: what it wrote is written again, before anything else is loaded.

What a run has written and told is kept in the user's cache under its arguments, folder and environment, with what all
that it looked at was like (``base.disk.witnesses``). Where that still holds, the next run of the same words copies the
newest prompt, if its hash is that of the one remembered, and says the same. On any doubt the program runs as ever.
"""

import json
import os
import stat
import struct
import sys
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.reading import read_regular
from aggregate.base.disk.witnesses import Own, Witnesses
from aggregate.base.disk.writing import cache_folder, replace_own
from aggregate.base.errors import AggregateError

_VERSION: Final = 1
FOLDER: Final = "aggregate-index"  # that of the index, which is removed as a whole
MOST_BYTES: Final = 200_000_000  # Of a remembered run
# They stand for the path of the prompt in what was told, as it is and as JSON has it.
PATH, QUOTED_PATH = "\0path\0", "\0quoted path\0"
_SIZES: Final = struct.Struct(">QQ")  # Of the head and of the states
_PART_BYTES: Final = 1 << 20
# What of the environment may decide on a run; a test compares it with what the program asks for.
COUNTS: Final = frozenset(
    {
        "APPDATA", "COLORTERM", "COLUMNS", "FORCE_COLOR", "HOME", "LANG", "LANGUAGE", "LINES", "LOCALAPPDATA",
        "NO_COLOR", "PATH", "SUDO_UID", "TERM", "TZ", "USERPROFILE",
    }
)  # fmt: skip
COUNT_FROM: Final = ("AGGREGATE_", "BEADS_", "GIT_", "LC_", "PYTHON", "TTY_", "XDG_")


class Written(NamedTuple):
    """The hashes of the prompt and of the records beside it, ``""`` where there is none."""

    prompt: str
    log: str
    audit: str


Told = list[tuple[int, str]]  # texts that were told, each to descriptor 1 or 2


class RememberedRun(NamedTuple):
    key: str
    witnesses: Witnesses
    told: Told  # with a mark for the path
    written: Written | None  # ``None`` where nothing was written
    output_dir: str  # where the prompt lies, as the run was told
    project: str | None  # the folder that it has to lie in
    kept_ns: int
    pages: bytes = b""  # what an edited prompt is made of, see ``cli.edited_prompt``

    def pack(self) -> bytes:
        states = self.witnesses.states.tobytes()
        witnesses = self.witnesses._replace(states=array("q"))[:-1]
        head = json.dumps([_VERSION, self._replace(witnesses=witnesses, pages=None)]).encode()  # type: ignore[arg-type]
        sizes = _SIZES.pack(len(head), len(states))
        data = b"".join((sizes, head, states, self.pages))
        return zlib.crc32(data).to_bytes(4, "big") + data

    @classmethod
    def unpack(cls, data: bytes) -> "RememberedRun":
        """Return what was packed; anything else is a ``ValueError``."""
        if zlib.crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            raise ValueError("was damaged")
        head_size, states_size = _SIZES.unpack_from(data, 4)
        start = 4 + _SIZES.size + head_size
        version, head = json.loads(data[4 + _SIZES.size : start])
        if version != _VERSION:
            raise ValueError("is of another version")
        key, (own, *lists), told, written, output_dir, project, kept_ns, _ = head
        states = array("q", data[start : start + states_size])
        witnesses = Witnesses._make([Own(*own), *lists, states])
        written = written and Written(*written)
        told = [(number, text) for number, text in told]
        pages = data[start + states_size :]
        return cls(key, witnesses, told, written, output_dir, project, kept_ns, pages)


def key_of(arguments: list[str]) -> str:
    """Return a hash of all that decides on a run besides files: words, folder, environment, streams, interpreter."""
    environment = {
        name: value
        for name, value in sorted(os.environ.items())
        if name in COUNTS or name.startswith(COUNT_FROM)
    }
    screens = [_screen(stream) for stream in (sys.stdout, sys.stderr)]
    here = os.getcwd()  # noqa: PTH109 - text in, text out
    program = [sys.version, sys.executable, list(sys.flags)]
    told = json.dumps([program, here, arguments, environment, screens])
    return sha256(told.encode()).hexdigest()


def _screen(stream: Any) -> list[Any]:  # noqa: ANN401 - whatever a host has put there
    size = list(os.get_terminal_size(stream.fileno())) if stream.isatty() else []
    return [size, stream.encoding]


def place_of(key: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / FOLDER / f"run-{key[:16]}"


class Earlier(NamedTuple):
    """The last run of the same words, and what the files are like now that have changed since; nothing else has."""

    run: RememberedRun
    changed: Mapping[str, tuple[int, ...]]


class ThisRun(NamedTuple):
    """The run of this process: what it is remembered by, and since when it may have looked at files."""

    key: str
    began_ns: int
    earlier: Earlier | None


def this_run(arguments: list[str]) -> ThisRun | None:
    """Return the run of these words, with the last one if hardly anything has changed since; ``None`` for no such."""
    began_ns = time.time_ns()
    if sys.platform == "win32":
        return None  # its files do not tell when they were last changed, but when they were made
    try:
        key = key_of(arguments)
        return ThisRun(key, began_ns, _look_back(key, began_ns))
    except Exception:  # noqa: BLE001 - the run itself tells what is wrong
        return None


def _look_back(key: str, now_ns: int) -> Earlier | None:
    with suppress(OSError, ValueError, TypeError, KeyError, struct.error):
        run = _find(key)
        if run and run.kept_ns <= now_ns and (changed := run.witnesses.changed()) is not None:
            return Earlier(run, changed)
    return None


def repeat(run: RememberedRun) -> int | None:
    """Write and tell the same once more, and return the exit code; ``None`` where that cannot be done."""
    try:
        path = _write_again(run) if run.written else ""
    except Exception:  # noqa: BLE001 - the run itself tells what is wrong
        return None
    return None if path is None else _tell_again(run, path)


def _find(key: str) -> RememberedRun | None:
    place = place_of(key)
    run = place and _read_run(place)
    return run if run and run.key == key else None


def newest_run() -> RememberedRun | None:
    """Return what was remembered last, of whatever words."""
    folder = cache_folder()
    with suppress(OSError, ValueError, TypeError, KeyError, struct.error):
        places = [*(folder / FOLDER).glob("run-*")] if folder else []
        newest = max(places, key=lambda place: place.lstat().st_mtime_ns, default=None)
        run = newest and _read_run(newest)
        return run if run and run.kept_ns <= time.time_ns() else None
    return None


def _read_run(place: Path) -> RememberedRun | None:
    data, info = read_regular(place, limit=MOST_BYTES)
    if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & stat.S_IWOTH):
        return None
    return RememberedRun.unpack(data)


class LastPrompt(NamedTuple):
    """The newest prompt, which is the one that is remembered; its parts turn out to be it, or end by an error."""

    path: Path
    parts: Iterator[bytes]
    log: bytes
    audit: bytes


def last_prompt(run: RememberedRun) -> LastPrompt | None:
    from aggregate.prompt.numbered_output import audit_path, numbered_files, request_log_path

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
    """Write the newest prompt once more, if it is the one that is remembered; return the new one's path."""
    from aggregate.prompt.numbered_output import audit_path, request_log_path, write_numbered

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


def _read(path: Path, wanted: str) -> bytes | None:
    if not wanted:
        return None if os.path.lexists(path) else b""
    data, _ = read_regular(path, limit=MOST_BYTES)
    return data if sha256(data).hexdigest() == wanted else None


def _parts(path: Path, wanted: str) -> Iterator[bytes]:
    """Yield what a file holds; where that is not what is wanted it ends with a ``ValueError``."""
    digest = sha256()
    with path.open("rb") as file:
        while part := file.read(_PART_BYTES):
            digest.update(part)
            yield part
    if digest.hexdigest() != wanted:
        raise ValueError("is another prompt")


def _tell_again(run: RememberedRun, path: str) -> int:
    quoted = json.dumps(path)[1:-1]
    for number, marked in run.told:
        stream = sys.stdout if number == 1 else sys.stderr
        text = marked.replace(PATH, path).replace(QUOTED_PATH, quoted)
        is_data = number == 1 and not stream.isatty()
        how = ("utf-8", "surrogateescape") if is_data else (stream.encoding, "backslashreplace")
        try:
            stream.buffer.write(text.encode(*how))
            stream.buffer.flush()
        except OSError as error:
            if number == 1:
                return _unwritten(error)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return 0


def _unwritten(error: OSError) -> int:
    """Tell that standard output takes nothing, as any command does; a reader who has left misses nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"aggregate: the output cannot be written: {error.strerror or error}\n")
    return 1
