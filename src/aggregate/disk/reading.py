"""Reading a file that somebody else may have put there: regular files only, up to a size."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS_BYTES = 5_000_000
"""The most bytes of a file that steers the program (configuration, ignore rules, records): real ones have kilobytes."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class UnreadableError(OSError):
    """A file is there but is not read, for what it is or how large it is; ``strerror`` says so."""


@contextmanager
def open_regular(path: str | Path) -> Iterator[int]:
    """Open the regular file at ``path`` for reading and yield its descriptor.

    Opening never blocks: a FIFO without a writer or a device is refused, not waited for.

    Raises:
        UnreadableError: It is no regular file.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "is a directory", str(path))
        if not stat.S_ISREG(mode):
            raise UnreadableError(22, "is no regular file", str(path))
        yield descriptor
    finally:
        os.close(descriptor)


def is_file(path: str | Path) -> bool:
    """Tell whether there is a regular file at ``path``; a name that no file system takes is none."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a str is not made a Path, this runs for each entry
    except (OSError, ValueError):
        return False


def read_bytes(path: str | Path, *, limit: int = SETTINGS_BYTES) -> bytes:
    """Return what the regular file at ``path`` holds.

    Args:
        path: A file; a link to one is followed.
        limit: The most bytes that it may hold.

    Raises:
        UnreadableError: It is no regular file, or holds more than ``limit`` bytes.
        OSError: It cannot be read.
    """
    with open_regular(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size <= limit:
            data = read_up_to(descriptor, limit + 1, expected=size)
            if len(data) <= limit:
                return data
            size = len(data)  # it grew meanwhile, or its file system does not know sizes
    raise UnreadableError(27, f"is too large: {size:,} bytes, the most is {limit:,}", str(path))


def read_text(path: str | Path, *, limit: int = SETTINGS_BYTES) -> str:
    """Return the regular file at ``path`` as UTF-8 text, without a byte order mark.

    Raises:
        UnicodeDecodeError: It is no UTF-8.
        UnreadableError: It is no regular file, or holds more than ``limit`` bytes.
        OSError: It cannot be read.
    """
    return read_bytes(path, limit=limit).decode("utf-8-sig")


def read_up_to(descriptor: int, most: int, *, expected: int = 0) -> bytes:
    """Return up to ``most`` bytes from ``descriptor``; ``expected`` is how many there probably are."""
    parts = []
    left = most
    while left > 0 and (part := os.read(descriptor, min(left, max(expected + 1, 65536)))):
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
