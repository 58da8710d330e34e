"""Read a file that somebody else may have put there: a regular one, up to a size."""

import errno
import os
import stat
from pathlib import Path

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


def open_regular(path: str | Path) -> tuple[int, os.stat_result]:
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


def read_regular(path: str | Path, *, limit: int) -> tuple[bytes, os.stat_result]:
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


def read_bytes(path: str | Path, *, limit: int = SETTINGS_BYTES) -> bytes:
    return read_regular(path, limit=limit)[0]


def read_text(path: str | Path, *, limit: int = SETTINGS_BYTES, is_own: bool = False) -> str:
    """Return a file as ``read_regular`` does, as UTF-8 text with its own line ends, without a byte order mark.

    Of one that this user has written, ``is_own``, others may have put another in its place.
    """
    data, info = read_regular(path, limit=limit)
    if is_own and hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise UnreadableError(errno.EPERM, "belongs to another user", str(path))
    return data.decode("utf-8-sig")
