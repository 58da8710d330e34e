"""Writing files in one step: for the user's own files, and for ours, which follow no link and are private."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aggregate.disk.roots import is_inside, real_path
from aggregate.errors import OutputError

ALLOW = 'trust the project ("aggregate trust"), or allow it with --allow-outside'
"""What a user does who wants a project to reach out of its own folder."""
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""Modes of what we write for ourselves: prompts and records hold what nobody else on the machine should read."""


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the user's file at ``path`` by ``text`` in one step: a kill leaves the old or the new one, whole.

    A link is written through, so that it stays one; where it could be a stranger's, ask ``confined`` before. The file
    keeps its permissions. With ``durable`` off the disk is
    not waited for: after a power failure the file may be missing, so it is for what a program can write again.

    Raises:
        OutputError: It cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        _replace(target, text.encode(), mode=mode, durable=durable)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def replace_own(path: Path, data: str | bytes, *, durable: bool = False) -> None:
    """Replace a file of ours at ``path`` in one step: a record, a cache, a state.

    A link in its place is replaced, not followed; the file is readable by the user alone, and so are the folders that
    had to be made for it. With ``durable`` the disk is waited for.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        private_folder(path.parent)
        _replace(path, data.encode() if isinstance(data, str) else data, mode=PRIVATE_FILE, durable=durable)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def private_folder(folder: Path) -> None:
    """Make ``folder`` and what is missing above it, for the user alone; one that is there keeps its mode.

    Raises:
        OSError: It cannot be made.
    """
    missing: list[Path] = []
    while not folder.is_dir() and folder != folder.parent:
        missing.append(folder)
        folder = folder.parent
    for below in reversed(missing):
        below.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def confined(path: Path, root: Path | None) -> Path:
    """Return ``path`` if it lies in ``root`` with every link on the way resolved; it need not exist.

    Args:
        path: A file or a folder.
        root: The project's folder; ``None`` lets it lie anywhere.

    Raises:
        OutputError: It lies elsewhere.
    """
    if root is None or is_inside(real_path(path), real_path(root)):
        return path
    raise OutputError(f"{path} leads out of the project {os.path.abspath(root)}: name a place in it, or {ALLOW}")


def without_links(path: Path) -> Path:
    """Return ``path``, a place that the user or a default names, if no link in a project leads it out of there.

    The project is the checkout, else the current folder, that the name of ``path`` leads into; where it leads into
    neither, the user chose a place elsewhere.

    Raises:
        OutputError: A link leads out.
    """
    name = Path(os.path.abspath(path))
    current = Path.cwd()
    checkout = next((folder for folder in name.parents if os.path.lexists(folder / ".git")), None)
    project = checkout or (current if name.is_relative_to(current) else None)
    if project is None or is_inside(real_path(name), real_path(project)):
        return path
    raise OutputError(
        f"{path} leads out of the project {project} through a link: put a folder in the place of the link, or name the "
        "place that it leads to"
    )


def create_private(path: Path) -> int:
    """Create the file at ``path``, which must not be there, for the user alone; return a descriptor to write to it.

    Raises:
        OSError: It is there, also as a link, or cannot be made.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags, PRIVATE_FILE)


def _replace(target: Path, data: bytes, *, mode: int | None, durable: bool) -> None:
    """Put ``data`` in the place of ``target`` itself; ``mode`` ``None`` leaves the user's default."""
    temporary = target.with_name(f".{target.name[:100]}-{os.urandom(8).hex()}.tmp")
    try:
        opened = temporary.open("xb") if mode is None else os.fdopen(create_private(temporary), "wb")
        with opened as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
    """Keep others that ask the same from changing ``path`` meanwhile, by a lock on its folder that leaves no file.

    Windows locks no folders; there two writers at the same moment are not kept apart.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
