"""Whether a file is unchanged since its content was hashed, without reading it (rule I-4)."""

import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from struct import Struct
from typing import NamedTuple

_RACY_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time: clocks of file systems
tick in steps of up to two seconds."""
_NUMBERS = Struct("<6Q")
_HASH_BYTES, _CHECK_BYTES = 32, 16
_MASK = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15
"""An odd number without a pattern, so that two devices' inodes do not fall together."""


class FileState(NamedTuple):
    """A regular file as the system describes it, and what is known of its content.

    Attributes:
        device: Of the file system.
        inode: In that file system.
        size: In bytes.
        mtime_ns: When the content was changed last, in nanoseconds of Unix time.
        ctime_ns: When content or description was changed last; no program can set it.
        seen_ns: When it was looked at, not later than that.
        content_hash: SHA-256 of the content, ``None`` if it has to be read.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    seen_ns: int
    content_hash: bytes | None = None


class FileRow(NamedTuple):
    """What the index has of a file: a key, when it was read, and the hash of its content with a checksum."""

    id: int
    seen: int
    data: bytes


def file_state(info: os.stat_result, *, seen_ns: int) -> FileState:
    """Return the state of an open file.

    Args:
        info: From its descriptor, before the content is read.
        seen_ns: Unix time in nanoseconds from before ``info`` was asked for. A later change of the content then shows
            in the file's times, or falls into the two seconds in which no state is recorded.
    """
    return FileState(
        info.st_dev & _MASK,
        info.st_ino & _MASK,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
        seen_ns,
    )


def look_at(paths: Sequence[str], *, seen_ns: int) -> list[FileState | None]:
    """Return the state of each file, through links; ``None`` where there is no regular file."""
    states: list[FileState | None] = []
    for path in paths:
        try:
            info = os.stat(path)  # noqa: PTH116 - a str is not made a Path, this runs for each file
        except (OSError, ValueError):
            states.append(None)
            continue
        states.append(file_state(info, seen_ns=seen_ns) if stat.S_ISREG(info.st_mode) else None)
    return states


def is_racy(state: FileState) -> bool:
    """Tell whether a file was changed so shortly before it was read, or in the future, that its times prove nothing."""
    return max(state.mtime_ns, state.ctime_ns) > state.seen_ns - _RACY_NS


def row_id(state: FileState) -> int:
    """Return the key of a file's row; near inodes have near keys."""
    return ((state.inode + state.device * _SPREAD) & _MASK) - (1 << 63)


def file_row(state: FileState, content_hash: bytes) -> FileRow:
    """Return the row that is to be kept."""
    data = content_hash + _check(state, state.seen_ns, content_hash)
    return FileRow(row_id(state), state.seen_ns, data)


def recorded_hash(state: FileState, row: FileRow) -> bytes | None:
    """Return the hash of the content if the file is as it was when ``row`` was made; ``None`` if it may not be.

    Device, inode, size and both times must be the same, the row undamaged, and the clock must not have run backwards.
    """
    if len(row.data) != _HASH_BYTES + _CHECK_BYTES or row.seen > state.seen_ns or is_racy(state):
        return None
    content_hash = row.data[:_HASH_BYTES]
    check = _check(state, row.seen, content_hash)
    return content_hash if check == row.data[_HASH_BYTES:] else None


def _check(state: FileState, seen: int, content_hash: bytes) -> bytes:
    """Return a checksum over all that makes a row, the file's state among it."""
    numbers = _NUMBERS.pack(
        state.device,
        state.inode,
        state.size,
        state.mtime_ns & _MASK,  # a file can be dated centuries back or ahead
        state.ctime_ns & _MASK,
        seen & _MASK,
    )
    return sha256(numbers + content_hash).digest()[:_CHECK_BYTES]
