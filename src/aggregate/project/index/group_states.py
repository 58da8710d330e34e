"""Whether a group of files is unchanged, in one row: a hundred thousand files are known again by some thousand rows."""

import os
import stat
import struct
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from aggregate.project.index.file_states import RACY_NS, FileState

_NUMBERS: Final = struct.Struct("<3Q2q")
"""Device, inode, size and both times of a file, as ``index.file_states`` keeps them."""
_SEEN: Final = struct.Struct("<q")
_SIZE: Final = struct.Struct("<I")
_SUM: Final = struct.Struct("<I")


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
