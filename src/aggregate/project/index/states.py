"""Whether files are unchanged since something was found out about them, without reading them (rule I-4)."""

import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from struct import Struct
from typing import Final, NamedTuple

# A file that was changed so shortly before it was read may change again without a new time: clocks of file systems
# tick in steps of up to two seconds.
RACY_NS: Final = 2_000_000_000
_SEEN: Final = Struct("<q")
_DESCRIBED: Final = 5  # The first fields of a state, by which a file is known again


class FileState(NamedTuple):
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int  # when content or description was changed last; no program can set it
    seen_ns: int  # when it was looked at, not later than that
    content_hash: bytes | None = None  # SHA-256 of the content, ``None`` if it has to be read

    @property
    def is_settled(self) -> bool:
        """Whether its times would show a later change: it was not changed shortly before it was seen."""
        return max(self.mtime_ns, self.ctime_ns) <= self.seen_ns - RACY_NS

    def still_holds(self, now: "FileState") -> bool:
        """Tell whether the file, as it is ``now``, surely holds what it held when this was seen (rule I-4)."""
        return self.is_settled and self[:_DESCRIBED] == now[:_DESCRIBED]


def file_state(info: os.stat_result, *, seen_ns: int) -> FileState:
    """Return the state of an open file.

    Args:
        info: From its descriptor, before the content is read.
        seen_ns: Unix time in nanoseconds from before ``info`` was asked for. A later change of the content then shows
            in the file's times, or falls into the two seconds in which no state is recorded.
    """
    return FileState(
        info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, seen_ns
    )


def look_at(path: str, *, seen_ns: int) -> FileState | None:
    try:
        info = os.stat(path)  # noqa: PTH116 - a str is not made a Path: this runs for each file
    except (OSError, ValueError):
        return None
    return file_state(info, seen_ns=seen_ns) if stat.S_ISREG(info.st_mode) else None


def describe(states: Sequence[FileState | None], *, settled: bool = False) -> bytes:
    """Return what files are known again by, ``b""`` where one is none, or not ``settled`` and that is asked for."""
    parts: list[bytes] = []
    for state in states:
        if state is None or (settled and not state.is_settled):
            return b""
        parts.append(b"%d %d %d %d %d\n" % state[:_DESCRIBED])
    return b"".join(parts)


def state_key(state: FileState) -> bytes:
    return sha256(b"%d %d" % (state.device, state.inode)).digest()


def state_row(states: Sequence[FileState], kept: bytes) -> bytes | None:
    """Return a row that keeps something of files while they are as seen; nothing where times prove nothing."""
    described = describe(states, settled=True)
    return described and described + _SEEN.pack(max(state.seen_ns for state in states)) + kept


def kept_of(row: bytes | None, states: Sequence[FileState | None], *, now_ns: int) -> bytes | None:
    """Return what a row keeps if its files are unchanged and the clock has not run backwards, else ``None``."""
    described = describe(states)
    if row is None or not described or not row.startswith(described):
        return None
    (seen_ns,) = _SEEN.unpack_from(row, len(described))
    return row[len(described) + _SEEN.size :] if seen_ns <= now_ns else None
