"""Whether a file is unchanged since its content was hashed, without reading it (rule I-4)."""

import os
import stat
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

RACY_NS: Final = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time: clocks of file systems
tick in steps of up to two seconds."""
_NUMBERS: Final = struct.Struct("<3Q3q")
_CHECK_BYTES: Final = 16
_MASK: Final = (1 << 64) - 1
_SPREAD: Final = 0x9E3779B97F4A7C15
"""An odd number without a pattern, so that two devices' inodes do not fall together."""

FileRow: TypeAlias = tuple[int, bytes]
"""What the index has of a file: when it was seen, and the hash of its content behind a checksum."""


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


def file_state(
    info: os.stat_result, *, seen_ns: int, content_hash: bytes | None = None
) -> FileState:
    """Return the state of an open file.

    Args:
        info: From its descriptor, before the content is read.
        seen_ns: Unix time in nanoseconds from before ``info`` was asked for. A later change of the content then shows
            in the file's times, or falls into the two seconds in which no state is recorded.
        content_hash: SHA-256 of the content, where it is known.
    """
    return FileState(
        info.st_dev,
        info.st_ino,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
        seen_ns,
        content_hash,
    )


def look_at(
    paths: Iterable[str], find: Callable[[Sequence[int]], Mapping[int, FileRow]], *, seen_ns: int
) -> list[FileState | None]:
    """Return the state of each file, through links; ``None`` where there is no regular file.

    Args:
        paths: Some files.
        find: Returns the rows that are there of those with these keys.
        seen_ns: The time now.
    """
    infos = [_regular(path) for path in paths]
    rows = find([_row_id(info.st_dev, info.st_ino) for info in infos if info is not None])
    states: list[FileState | None] = []
    for info in infos:
        content_hash = None
        if info is not None and rows:
            row = rows.get(_row_id(info.st_dev, info.st_ino))
            content_hash = None if row is None else _recorded_hash(info, row, now_ns=seen_ns)
        states.append(
            None if info is None else file_state(info, seen_ns=seen_ns, content_hash=content_hash)
        )
    return states


def file_row(state: FileState, content_hash: bytes) -> tuple[int, FileRow] | None:
    """Return what is to be kept of a file, behind its key; nothing if its times prove nothing.

    They do not if it was changed shortly before it was read, or in the future.
    """
    newest = state.seen_ns - RACY_NS
    if state.mtime_ns > newest or state.ctime_ns > newest:
        return None
    try:
        numbers = _NUMBERS.pack(*state[:6])
    except struct.error:
        return None  # a file that is dated centuries back
    check = sha256(numbers + content_hash).digest()[:_CHECK_BYTES]
    return _row_id(state.device, state.inode), (state.seen_ns, check + content_hash)


def _regular(path: str) -> os.stat_result | None:
    try:
        info = os.stat(path)  # noqa: PTH116 - a str is not made a Path, this runs for each file
    except (OSError, ValueError):
        return None
    return info if stat.S_ISREG(info.st_mode) else None


def _row_id(device: int, inode: int) -> int:
    """Return the key of a file's row; near inodes have near keys."""
    return ((inode + device * _SPREAD) & _MASK) - (1 << 63)


def _recorded_hash(info: os.stat_result, row: FileRow, *, now_ns: int) -> bytes | None:
    """Return the hash of the content if the file is as it was when ``row`` was made; ``None`` if it may not be.

    Device, inode, size and both times must be the same, and the row undamaged: the checksum covers them all.
    The clock must not have run backwards since.
    """
    seen, data = row
    try:
        numbers = _NUMBERS.pack(
            info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, seen
        )
        content_hash = data[_CHECK_BYTES:]
        check = sha256(numbers + content_hash).digest()[:_CHECK_BYTES]
        is_sure = data.startswith(check) and seen <= now_ns
    except (struct.error, TypeError, AttributeError):
        return None  # a file that is dated centuries back or ahead; a damaged page, which can hold anything
    return content_hash if is_sure else None
