"""Where a path leads, links resolved; and what a stranger may have left there, read within bounds."""

import errno
import os
import stat
from typing import TYPE_CHECKING

from aggregate.base.disk.witnesses import note
from aggregate.base.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


def is_file(path: "str | Path") -> bool:
    """Tell whether there is a regular file at ``path``; a name that no file system takes is none."""
    note((str(path),))
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a str is not made a Path, this runs for each entry
    except (OSError, ValueError):
        return False


def project_root(folder: "str | Path") -> str:
    """Return the real path of the root of the project around ``folder``: of its git checkout, else ``folder`` itself.

    A checkout counts by its ``.git``, git is not asked. One that belongs to another user than ``folder``, or that is a
    home folder (of dotfiles) around it, is passed over: neither makes what lies beside the project part of it.
    """
    current = start = real_path(folder)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - without a home it stays as it is
    while True:
        owner = _owner(os.path.join(current, ".git"))
        if owner is not None and owner == _owner(start) and (current == start or current != home):
            return current
        parent = os.path.dirname(current)  # noqa: PTH120 - text in, text out
        if parent == current:
            return start
        current = parent


def real_path(path: "str | Path") -> str:
    """Return ``path`` with every link on the way resolved; what is missing, or can be no file, stays by its text."""
    try:
        return os.path.realpath(path)
    except (ValueError, RecursionError):  # a NUL; more links than any system follows
        return os.path.abspath(path)


def is_inside(real: str, root: str) -> bool:
    path, folder = os.path.normcase(real), os.path.normcase(root).rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def confined(path: "Path", root: "Path | None") -> "Path":
    """Return ``path``, which need not exist, if it lies in ``root``, links resolved, or raise an ``OutputError``."""
    if root is None or is_inside(real_path(path), real_path(root)):
        return path
    raise OutputError(
        f"{path} leads out of the project {os.path.abspath(root)}: name a place in it, or "
        'trust the project ("aggregate trust"), or allow it with --allow-outside'
    )


def without_links(path: "Path") -> "Path":
    """Return ``path``, a place that the user or a default names, if no link in a project leads it out of there.

    The project is the checkout, else the current folder, that the name of ``path`` leads into; where it leads into
    neither, the user chose a place elsewhere. An ``OutputError`` says that a link leads out.
    """
    from pathlib import Path  # a list of commands does without

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


# The most bytes of a file that steers the program (configuration, ignore rules, scripts): real ones have kilobytes.
SETTINGS_BYTES = 5_000_000

# The most bytes of a file whose content is used (sources, beads, records): no model takes more.
CONTENT_BYTES = 50_000_000

# Not blocking: a FIFO without a writer would otherwise hang the run in open(). Nor does a terminal become ours.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_CLOEXEC"):
    _FLAGS |= getattr(os, _name, 0)


# Sockets and missing devices cannot even be opened.
_NO_FILE = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)

_IRREGULAR = "is no regular file"

_PART_BYTES = 1 << 20


class UnreadableError(OSError):
    """A file is there but is not read, for what it is or how large it is; ``strerror`` says so."""


def open_regular(path: "str | Path") -> tuple[int, os.stat_result]:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise UnreadableError(error.errno, _IRREGULAR, str(path)) from None
        raise
    try:
        info = os.fstat(descriptor)
        if stat.S_ISDIR(info.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", str(path))
        if not stat.S_ISREG(info.st_mode):
            raise UnreadableError(errno.EINVAL, _IRREGULAR, str(path))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, info


def read_regular(path: "str | Path", *, limit: int) -> tuple[bytes, os.stat_result]:
    """Return what the regular file at ``path``, or behind the link there, holds, and what it is.

    What is none, or larger than ``limit`` bytes, is an ``UnreadableError``, a path with a NUL a ``ValueError``.
    """
    descriptor, info = open_regular(path)
    try:
        size = info.st_size
        if size <= limit:
            data = os.read(descriptor, size + 1)
            # It changes meanwhile, or its file system does not know sizes: one byte over the limit at the most.
            if len(data) != size or not size:
                parts, size = [data], len(data)
                while size <= limit and parts[-1]:
                    parts.append(os.read(descriptor, min(limit + 1 - size, _PART_BYTES)))
                    size += len(parts[-1])
                data = b"".join(parts)
            if len(data) <= limit:
                return data, info
            size = len(data)
    finally:
        os.close(descriptor)
    reason = f"too large: {size:,} bytes, the most is {limit:,}"
    raise UnreadableError(errno.EFBIG, reason, str(path))


def read_bytes(path: "str | Path", *, limit: int = SETTINGS_BYTES) -> bytes:
    return read_regular(path, limit=limit)[0]


def read_text(path: "str | Path", *, limit: int = SETTINGS_BYTES, is_own: bool = False) -> str:
    """Return a file as ``read_regular`` does, as UTF-8 text with its own line ends, without a byte order mark.

    Of one that this user has written, ``is_own``, others may have put another in its place.
    """
    data, info = read_regular(path, limit=limit)
    if is_own and hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise UnreadableError(errno.EPERM, "belongs to another user", str(path))
    return data.decode("utf-8-sig")
