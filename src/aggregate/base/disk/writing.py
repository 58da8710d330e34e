"""Write files atomically, the user's and the program's own.

The program's own files are private and never links. All code replacing or publishing a file uses this module.
"""

import errno
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aggregate.base.disk.reading import is_inside, read_text, real_path
from aggregate.base.errors import ConfigError, OutputError

# Modes of our own files: prompts and records must not be readable by other users.
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
TEMPORARY_SUFFIX = ".tmp"  # of unfinished files
_WRITE_BYTES = 1 << 20  # buffer; with the default 8 KB each piece takes a system call
_OPEN_FILES = "/proc/self/fd"  # Linux: links to the open files and folders
# Of the name in a temporary name, which may have 255 bytes; a character has up to four.
_STEM_CHARACTERS = 50


def confined(path: Path, root: Path | None) -> Path:
    """Return ``path`` if it leads into ``root`` (None: anywhere), else raise ``OutputError``."""
    if root is None or is_inside(real_path(path), real_path(root)):
        return path
    raise OutputError(
        f"{path} leads out of the project {os.path.abspath(root)}: choose a path in it, or "
        'trust the project ("aggregate trust"), or allow it with --allow-outside'
    )


def without_links(path: Path) -> Path:
    """Return ``path`` unless a link leads out of its project.

    In that case raises ``OutputError``. The project is the checkout around ``path``, else the current folder. A path in
    neither is the user's choice.
    """
    name = Path(os.path.abspath(path))
    current = Path.cwd()
    checkout = next((folder for folder in name.parents if os.path.lexists(folder / ".git")), None)
    project = checkout or (current if name.is_relative_to(current) else None)
    if project is None or is_inside(real_path(name), real_path(project)):
        return path
    raise OutputError(
        f"{path} leads out of the project {project} through a link: replace the link by a folder, or use the path of "
        "its target"
    )


def replace_text(
    path: Path, text: str | bytes, *, like: Path | None = None, within: Path | None = None
) -> None:
    """Replace a user's file atomically and durably; links are followed.

    Permissions are kept; a new file gets those of ``like``. Raises ``OutputError`` if writing fails, or if the target
    is not in the folder ``within``, which protects against links of an untrusted project.
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
    """Replace one of the program's own files atomically.

    Such files are records and caches. A link is replaced, not followed. The file and new folders are readable by the
    user alone. ``durable`` waits until the data is on the disk. Raises ``OutputError`` if writing fails.
    """
    data = data.encode() if isinstance(data, str) else data
    try:
        private_folder(path.parent)
        pieces = (data,) if isinstance(data, bytes) else data
        _replace(path, pieces, mode=PRIVATE_FILE, durable=durable)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def append_own(path: Path, text: str) -> None:
    """Append to one of the program's own files, which must not be a link."""
    try:
        private_folder(path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, PRIVATE_FILE), "ab") as file:
            file.write(text.encode())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, pieces: Iterable[bytes], *, mode: int | None, durable: bool) -> None:
    # A mode of None leaves the user's default.
    temporary = temporary_name(target.parent, target.name[:_STEM_CHARACTERS])
    try:
        with (
            temporary.open("xb") if mode is None else os.fdopen(create_private(temporary), "wb")
        ) as file:
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
    folder: Path,
    stem: str,
    paths: Iterable[Path],
    pieces: Iterable[bytes],
    *,
    within: Path | None = None,
) -> Path:
    """Write a new file at the first free path in a folder, which is created if missing.

    Returns that path, one of ``paths``. An existing file is never overwritten, not even by programs that write at once.
    The text is first written to a temporary file with ``stem`` in its name. Raises ``OutputError`` if the folder is not
    in ``within``, with links resolved.
    """
    private_folder(confined(folder, within))
    with _pinned(folder, within) as pinned:
        temporary = temporary_name(pinned, stem)
        try:
            with os.fdopen(create_private(temporary), "wb", _WRITE_BYTES) as file:
                file.writelines(pieces)
            return next(path for path in paths if _take_name(temporary, pinned / path.name))
        finally:
            temporary.unlink(missing_ok=True)


def _take_name(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links: reserve the name, then move the text over it.
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
    """Yield a lasting path of ``folder``.

    The path stays valid if the folder is replaced by a link. The folder must be in ``root``. On Linux the path goes
    through the open folder. Elsewhere only the name is checked, which leaves a short race.
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
    """Create a new file readable by the user alone; return its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    return os.open(path, flags, PRIVATE_FILE)


def temporary_name(folder: Path, stem: str) -> Path:
    return folder / f".{stem}-{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"


@contextmanager
def exclusive_access(path: Path, *, seconds: float | None = None) -> Iterator[None]:
    """Lock the folder of a path against other processes.

    Only processes of this program respect the lock, which needs no lock file. There is no lock on Windows. Any process
    with read access to the folder can also keep it locked, so ``OSError`` is raised after ``seconds``.
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


# Environment variables for other folders.
CACHE_VARIABLE, STATE_VARIABLE = "AGGREGATE_CACHE_DIR", "AGGREGATE_STATE_DIR"
# Replaces the folders of a user without a home: nothing is or can be created below it.
NO_HOME = Path(os.devnull)


def state_folder(project: Path) -> Path:
    """Return the folder of a project's saved state.

    The folder is not created. It is in the user's state folder, since the project's files are not trusted. Its name
    consists of the project's name and a hash of the project's real path, which separates clones.
    """
    real = os.path.realpath(project)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    return _states() / "projects" / f"{Path(real).name[:80] or 'root'}-{digest}"


def user_state_folder() -> Path | None:
    folder = _states()
    return folder if folder != NO_HOME else None


def cache_folder() -> Path | None:
    """Return the user's cache folder without creating it.

    Returns None without a home folder. The folder is never below the current folder, since an untrusted project could
    bring its own cache. Raises ``ConfigError`` if the environment variable has a relative path.
    """
    path = os.environ.get(CACHE_VARIABLE)
    if path:
        if not Path(path).is_absolute():
            raise ConfigError(
                f'{CACHE_VARIABLE} is "{path}", a relative path, which could be inside a project: '
                "set it to an absolute path"
            )
        return Path(os.path.normpath(path))
    default = _default_folder("user_cache_path")
    return default if default != NO_HOME else None


def _states() -> Path:
    root = os.environ.get(STATE_VARIABLE)
    return Path(os.path.abspath(root)) if root else _default_folder("user_state_path")


# On Linux: an environment variable, else a folder in the user's home.
_LINUX = {
    "user_cache_path": ("XDG_CACHE_HOME", ".cache"),
    "user_state_path": ("XDG_STATE_HOME", ".local/state"),
}


def _default_folder(name: str) -> Path:
    # The same as platformdirs, which takes 6 ms to load; rare cases are left to it.
    if sys.platform == "linux":
        variable, default = _LINUX[name]
        for root, below in ((os.environ.get(variable), ""), (os.environ.get("HOME"), default)):
            if root and os.path.isabs(root):  # noqa: PTH117 - text in
                return Path(root, below, "manual_slop")
    import platformdirs

    try:
        folder: Path = getattr(platformdirs, name)("manual_slop", appauthor=False)
    except RuntimeError:  # no home folder; other versions of it return a relative path
        return NO_HOME
    return folder if folder.is_absolute() else NO_HOME


def read_state(path: Path) -> Any:  # noqa: ANN401 - JSON, checked by the caller
    """Return the data of a state file, ``None`` if it is unreadable."""
    try:
        return json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None


def change_state(path: Path, change: Callable[[Any], Any]) -> str:
    """Replace the data of a state file by ``change(data)``; return an error message, or ``""``."""
    try:
        private_folder(path.parent)
        with exclusive_access(path):
            text = json.dumps(change(read_state(path)), default=str, indent=0)
            replace_own(path, text + "\n")
    except OSError as error:
        return f"cannot write {path}: {error.strerror or error}"
    except OutputError as error:
        return str(error)
    return ""
