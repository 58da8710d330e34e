"""Write all or nothing, in the user's own files and in ours, which follow no link, are private and have their folders.

Whatever replaces a file, or gives a new one its content under a name that others look at, does it here.
"""

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aggregate.base.disk.reading import confined
from aggregate.base.errors import ConfigError, OutputError

# Modes of what we write for ourselves: prompts and records hold what nobody else on the machine should read.
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700

# What the names of files end with that are not whole yet.
TEMPORARY_SUFFIX = ".tmp"

# What is collected of many pieces before it is written: with the usual 8 KB each piece is a call of the system.
_WRITE_BYTES = 1 << 20

# Where Linux has a link to each file and folder that the program has open.
_OPEN_FILES = "/proc/self/fd"

# Of a file's name in its temporary one, which must not have more than 255 bytes: a character has up to four.
_STEM_CHARACTERS = 50


def replace_text(
    path: Path, text: str | bytes, *, like: Path | None = None, within: Path | None = None
) -> None:
    """Replace the user's file at ``path`` by ``text`` in one step: a kill leaves the old or the new one, whole.

    A link is written through, so that it stays one; where it could be a stranger's, name the folder ``within`` which it
    has to lead. The file keeps its permissions, a new one has those of ``like``, and the disk is waited for. An
    ``OutputError`` says why it cannot be written, or that it leads elsewhere.
    """
    target = confined(Path(os.path.realpath(path)), within)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _pinned(target.parent, within) as folder:
            pinned = folder / target.name
            pattern = pinned if pinned.exists() else like
            mode = stat.S_IMODE(pattern.stat().st_mode) if pattern else None
            data = text.encode() if isinstance(text, str) else text
            _replace(pinned, [data], mode=mode, durable=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def replace_own(path: Path, data: str | bytes | Iterable[bytes], *, durable: bool = False) -> None:
    """Replace a file of ours at ``path`` in one step: a record, a cache, a state.

    A link in its place is replaced, not followed; the file is readable by the user alone, and so are the folders that
    had to be made for it. With ``durable`` the disk is waited for. Pieces of a text are written one behind the other.
    An ``OutputError`` says why it cannot be written.
    """
    data = data.encode() if isinstance(data, str) else data
    try:
        private_folder(path.parent)
        pieces = (data,) if isinstance(data, bytes) else data
        _replace(path, pieces, mode=PRIVATE_FILE, durable=durable)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def append_own(path: Path, text: str) -> None:
    """Add a line to a file of ours, which is made where it is missing; a link in its place is not followed."""
    try:
        private_folder(path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, PRIVATE_FILE), "ab") as file:
            file.write(text.encode())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, pieces: Iterable[bytes], *, mode: int | None, durable: bool) -> None:
    # ``mode`` ``None`` leaves the user's default.
    temporary = temporary_name(target.parent, target.name[:_STEM_CHARACTERS])
    try:
        opened = (
            temporary.open("xb") if mode is None else os.fdopen(create_private(temporary), "wb")
        )
        with opened as file:
            file.writelines(pieces)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_to_free(
    paths: Iterable[Path], pieces: Iterable[bytes], temporary: Path, *, within: Path | None = None
) -> Path:
    """Write a new file of ours, whole or not at all, under the first of ``paths`` that is free, and return that path.

    Each name is taken only if nothing bears it at that moment, so that no two programs share one and no file is
    overwritten. The ``temporary`` name lies in the same folder, which is made where it is missing and has to lie
    ``within`` another one, links resolved; else it is an ``OutputError``.
    """
    private_folder(confined(temporary.parent, within))
    with _pinned(temporary.parent, within) as folder:
        pinned = folder / temporary.name
        try:
            with os.fdopen(create_private(pinned), "wb", _WRITE_BYTES) as file:
                file.writelines(pieces)
            return next(path for path in paths if _take_name(pinned, folder / path.name))
        finally:
            pinned.unlink(missing_ok=True)


def _take_name(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without links: the name is taken first, then the text moved over it.
        try:
            os.close(create_private(path))
        except FileExistsError:
            return False
        temporary.replace(path)
    return True


def private_folder(folder: Path) -> None:
    missing: list[Path] = []
    while not folder.is_dir() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for below in reversed(missing):
        below.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


@contextmanager
def _pinned(folder: Path, root: Path | None) -> Iterator[Path]:
    """Give a path of a folder in ``root`` that stays this folder's, whoever puts a link in its place meanwhile.

    A check of the name alone holds until the next moment: who may write beside the folder can swap it before it is
    written to. Linux gives open folders a path; elsewhere the name is checked, and that moment remains.
    """
    if root is None or not os.path.isdir(_OPEN_FILES):  # noqa: PTH112 - text in, text out
        yield confined(folder, root)
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        path = f"{_OPEN_FILES}/{descriptor}"
        confined(Path(os.readlink(path)), root)  # noqa: PTH115
        yield Path(path)
    finally:
        os.close(descriptor)


def create_private(path: Path) -> int:
    """Create a file that must not be there, also as a link, for the user alone; return a descriptor to write to it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    return os.open(path, flags, PRIVATE_FILE)


def temporary_name(folder: Path, stem: str) -> Path:
    return folder / f".{stem}-{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"


@contextmanager
def exclusive_access(path: Path, *, seconds: float | None = None) -> Iterator[None]:
    """Keep others that ask the same from changing ``path`` meanwhile, by a lock on its folder that leaves no file.

    Windows locks no folders; there two writers at the same moment are not kept apart. Whoever may read the folder can
    keep it locked: after ``seconds`` that is an ``OSError``.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY | os.O_DIRECTORY)
    end = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | (fcntl.LOCK_NB if end else 0))
                break
            except BlockingIOError:
                if end and time.monotonic() > end:
                    reason = f"another program has kept its folder locked for {seconds:.0f} s"
                    raise TimeoutError(errno.ETIMEDOUT, f"{reason}: try again") from None
                time.sleep(0.05)
        yield
    finally:
        os.close(folder)


# The environment variables that move the folders.
CACHE_VARIABLE, STATE_VARIABLE = "AGGREGATE_CACHE_DIR", "AGGREGATE_STATE_DIR"

# Stands for the folders of a user without a home folder: nothing lies below it, and nothing can be made there.
_NO_HOME = Path(os.devnull)


def state_folder(project: Path) -> Path:
    """Return the folder with the state of the project at ``project``; nothing is made.

    It lies in the user's own state folder, because a folder in the project may have come with the project. Its name is
    the project folder's name and a hash of its real path, so that two clones have two.
    """
    real = os.path.realpath(project)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    return _states() / "projects" / f"{Path(real).name[:80] or 'root'}-{digest}"


def user_state_folder() -> Path | None:
    folder = _states()
    return folder if folder != _NO_HOME else None


def cache_folder() -> Path | None:
    """Return the folder of what can be computed again; nothing is made. ``None`` where the user has no home folder.

    It never depends on the current folder: that may be a stranger's project, which would bring a cache of its own. A
    ``ConfigError`` says that the environment variable names a relative path.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        if not Path(named).is_absolute():
            raise ConfigError(
                f'{CACHE_VARIABLE} is "{named}", a relative path, which would lead into the project of the moment: '
                "set it to an absolute one"
            )
        return Path(os.path.normpath(named))
    usual = _usual_folder("user_cache_path")
    return usual if usual != _NO_HOME else None


def home_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return _NO_HOME


def _states() -> Path:
    root = os.environ.get(STATE_VARIABLE)
    return Path(os.path.abspath(root)) if root else _usual_folder("user_state_path")


# Where Linux has them: an environment variable, and the folder below the user's home without it.
_LINUX = {
    "user_cache_path": ("XDG_CACHE_HOME", ".cache"),
    "user_state_path": ("XDG_STATE_HOME", ".local/state"),
}


def _usual_folder(name: str) -> Path:
    # As the library says, which takes 6 ms to load; the rare cases are left to it.
    if sys.platform == "linux":
        variable, usual = _LINUX[name]
        for named, below in ((os.environ.get(variable), ""), (os.environ.get("HOME"), usual)):
            if named and os.path.isabs(named):  # noqa: PTH117 - text in
                return Path(named, below, "manual_slop")
    import platformdirs

    try:
        folder: Path = getattr(platformdirs, name)("manual_slop", appauthor=False)
    except RuntimeError:  # without a home folder, where other versions of it have a relative path
        return _NO_HOME
    return folder if folder.is_absolute() else _NO_HOME
