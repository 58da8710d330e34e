"""Resolve links of paths, and read untrusted files within limits."""

import errno
import os
import stat
from typing import TYPE_CHECKING

from aggregate.base.disk.witnesses import note

if TYPE_CHECKING:
    from pathlib import Path


def is_file(path: "str | Path") -> bool:
    note((str(path),))
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - no Path is built: runs for each entry
    except (OSError, ValueError):
        return False


def project_root(folder: "str | Path") -> str:
    """Return the root of the project around ``folder``.

    This is the real path of the git checkout around ``folder``, else of ``folder`` itself. A checkout is found by its
    ``.git``, without running git. A checkout of another user is ignored, and so is one of the home folder (dotfiles),
    which would make unrelated folders part of the project.
    """
    current = start = real_path(folder)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises without a home
    while True:
        owner = _owner(os.path.join(current, ".git"))
        if owner is not None and owner == _owner(start) and (current == start or current != home):
            return current
        parent = os.path.dirname(current)  # noqa: PTH120 - text in, text out
        if parent == current:
            return start
        current = parent


def real_path(path: "str | Path") -> str:
    """Return ``path`` with all links resolved; missing parts and invalid names stay."""
    try:
        return os.path.realpath(path)
    except (ValueError, RecursionError):  # a NUL; too many links
        return os.path.abspath(path)


def is_inside(real: str, root: str) -> bool:
    path, folder = os.path.normcase(real), os.path.normcase(root).rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


SETTINGS_BYTES = (
    5_000_000  # limit of configuration, ignore rules, scripts: real ones have kilobytes
)
CONTENT_BYTES = 50_000_000  # limit of sources, beads, records: no model takes more
# Non-blocking, since a FIFO without a writer would hang open(). NOCTTY: no terminal may become ours.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_CLOEXEC"):
    _FLAGS |= getattr(os, _name, 0)


_DEVICE_ERRORS = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)  # sockets, missing devices
_IRREGULAR = "is not a regular file"
_PART_BYTES = 1 << 20


class UnreadableError(OSError):
    """A file is too large or not regular; ``strerror`` has the reason."""


def open_regular(path: "str | Path") -> tuple[int, os.stat_result]:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in _DEVICE_ERRORS:
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
    """Return the content and status of a regular file.

    Links are followed. Raises ``UnreadableError`` if the file is not regular or larger than ``limit`` bytes,
    ``ValueError`` if the path contains a NUL.
    """
    descriptor, info = open_regular(path)
    try:
        size = info.st_size
        if size <= limit:
            data = os.read(descriptor, size + 1)
            # It is changing, or its file system reports no sizes: read at most one byte over the limit.
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
    reason = f"too large: {size:,} bytes, the limit is {limit:,}"
    raise UnreadableError(errno.EFBIG, reason, str(path))


def read_bytes(path: "str | Path", *, limit: int = SETTINGS_BYTES) -> bytes:
    return read_regular(path, limit=limit)[0]


def read_text(path: "str | Path", *, limit: int = SETTINGS_BYTES, is_own: bool = False) -> str:
    """Read a UTF-8 file, keeping its line ends.

    A byte order mark is removed. With ``is_own`` another user's file is refused. ``limit`` is in bytes.
    """
    data, info = read_regular(path, limit=limit)
    if is_own and hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise UnreadableError(errno.EPERM, "belongs to another user", str(path))
    return data.decode("utf-8-sig")
