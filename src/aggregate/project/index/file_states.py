"""Whether files are unchanged since their content was hashed, without reading them (rule I-4)."""

import os
import stat
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

RACY_NS: Final = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time: clocks of file systems
tick in steps of up to two seconds."""
_NUMBERS: Final = struct.Struct("<3Q2q")
_SEEN: Final = struct.Struct("<q")
_SUM: Final = struct.Struct("<I")
"""Of a row. It is enough: what it guards besides the hash has to be equal to the byte."""
_HASH_AT: Final = _NUMBERS.size + _SEEN.size
_SUM_AT: Final = _HASH_AT + 32
_ROW_BYTES: Final = _SUM_AT + _SUM.size
_DESCRIBED: Final = 5
"""The first fields of a state, by which a file is known again."""
_MASK: Final = (1 << 64) - 1
_SPREAD: Final = 0x9E3779B97F4A7C15
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

    @property
    def is_settled(self) -> bool:
        """Whether its times would show a later change: it was not changed shortly before it was seen."""
        return max(self.mtime_ns, self.ctime_ns) <= self.seen_ns - RACY_NS

    def still_holds(self, now: "FileState") -> bool:
        """Tell whether the file, as it is ``now``, surely holds what it held when this was seen (rule I-4)."""
        return self.is_settled and self[:_DESCRIBED] == now[:_DESCRIBED]


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
    paths: Iterable[str], find: Callable[[Sequence[int]], Mapping[int, bytes]], *, seen_ns: int
) -> list[FileState | None]:
    """Return the state of each file, through links; ``None`` where there is no regular file.

    A loop for a hundred thousand files: it calls little.

    Args:
        paths: Some files.
        find: Returns the rows that are there of those with these keys.
        seen_ns: The time now.
    """
    described: list[tuple[int, int, int, int, int] | None] = []
    ids: list[int] = []
    for path in paths:
        try:
            info = os.stat(path)  # noqa: PTH116 - a str is not made a Path
        except (OSError, ValueError):
            described.append(None)
            continue
        if stat.S_ISREG(info.st_mode):
            device, inode = info.st_dev, info.st_ino
            described.append((device, inode, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
            ids.append(_row_id(device, inode))
        else:
            described.append(None)
    rows = map(find(ids).get, ids)
    return [
        None
        if numbers is None
        else FileState(*numbers, seen_ns, _recorded_hash(numbers, next(rows), now_ns=seen_ns))
        for numbers in described
    ]


def file_row(state: FileState, content_hash: bytes) -> tuple[int, bytes] | None:
    """Return what is to be kept of a file, behind its key; nothing if its times prove nothing.

    They do not if it was changed shortly before it was read, or in the future.
    """
    if not state.is_settled:
        return None
    try:
        row = _NUMBERS.pack(*state[:_DESCRIBED]) + _SEEN.pack(state.seen_ns) + content_hash
    except struct.error:
        return None  # a file that is dated centuries back
    return _row_id(state.device, state.inode), row + _SUM.pack(crc32(row))


def _row_id(device: int, inode: int) -> int:
    """Return the key of a file's row; near inodes have near keys."""
    return ((inode + device * _SPREAD) & _MASK) - (1 << 63)


def _recorded_hash(
    numbers: tuple[int, int, int, int, int], row: bytes | None, *, now_ns: int
) -> bytes | None:
    """Return the hash of the content if the file is as it was when ``row`` was made; ``None`` if it may not be.

    Device, inode, size and both times must be the same, the row undamaged, and the clock must not have run backwards.
    """
    if row is None or len(row) != _ROW_BYTES:
        return None
    try:
        packed = _NUMBERS.pack(*numbers)
    except struct.error:
        return None  # a file that is dated centuries back or ahead
    if not row.startswith(packed) or not row.endswith(_SUM.pack(crc32(row[:_SUM_AT]))):
        return None
    (seen_ns,) = _SEEN.unpack_from(row, _NUMBERS.size)
    return row[_HASH_AT:_SUM_AT] if seen_ns <= now_ns else None


_SIZE: Final = struct.Struct("<I")


def describe_files(paths: Sequence[str]) -> bytes:
    """Return what files are known again by, through links; ``b""`` where one is no regular file.

    A loop for a hundred thousand files: it calls little.
    """
    parts: list[bytes] = []
    look, pack = os.stat, _NUMBERS.pack
    try:
        for path in paths:
            info = look(path)
            if not stat.S_ISREG(info.st_mode):
                return b""
            parts.append(
                pack(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            )
    except (OSError, ValueError, struct.error):  # gone, or dated centuries back
        return b""
    return b"".join(parts)


def describe_settled(paths: Sequence[str], *, seen_ns: int) -> bytes:
    """Return what ``describe_files`` does, ``b""`` also where a later change of one might not show (rule I-4).

    Args:
        paths: Some files.
        seen_ns: The time now, in nanoseconds of Unix time.
    """
    described = describe_files(paths)
    latest = seen_ns - RACY_NS
    for *_, changed_ns, described_ns in _NUMBERS.iter_unpack(described):
        if changed_ns > latest or described_ns > latest:
            return b""
    return described


def group_id(key: bytes) -> int:
    """Return under which number a group's row lies."""
    return int.from_bytes(key[:8], "big", signed=True)


def group_row(key: bytes, states: Sequence[FileState], kept: bytes) -> bytes | None:
    """Return a group's row; nothing if the times of one of its files prove nothing (rule I-4).

    Args:
        key: Names the group: its files and all that ``kept`` depends on besides what they hold.
        states: Of the files, in order.
        kept: What to keep of them.
    """
    if not all(state.is_settled for state in states):
        return None
    try:
        numbers = b"".join([_NUMBERS.pack(*state[:5]) for state in states])
    except struct.error:
        return None
    row = (
        key
        + _SIZE.pack(len(numbers))
        + numbers
        + _SEEN.pack(max(state.seen_ns for state in states))
        + kept
    )
    return row + _SUM.pack(crc32(row))


def kept_of(row: bytes | None, key: bytes, numbers: bytes, *, now_ns: int) -> bytes | None:
    """Return what a row keeps, if all files are as they were when it was made; ``None`` if one may not be.

    Args:
        row: From ``group_row``, ``None`` for none.
        key: Names the group.
        numbers: From ``describe_files``, now.
        now_ns: The time now: where the clock has run backwards, nothing is known.
    """
    beginning = key + _SIZE.pack(len(numbers)) + numbers
    if row is None or not numbers or not row.startswith(beginning):
        return None
    if not row.endswith(_SUM.pack(crc32(row[: -_SUM.size]))):
        return None
    start = len(beginning)
    (seen_ns,) = _SEEN.unpack_from(row, start)
    return row[start + _SEEN.size : -_SUM.size] if seen_ns <= now_ns else None
