"""Why files that a glob stands for are not shown: they are binary, or a program has written them."""

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from aggregate.base.disk import open_regular
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.protocol import FileState

_PROBE: Final = 8_192
"""Bytes of a file in which a NUL is looked for, as git does."""


class OmittedFiles:
    """Tells why files that a glob stands for are not shown; each is looked at once, and again where it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamp, FileState]] = {}

    def of(self, composed: ComposedDraft) -> Mapping[str, FileState]:
        """Return the files of a prompt without a budget that are binary, or that a program has written."""
        if composed.request.budget is not None:
            return {}
        shown = {file.path for file in composed.composition.files}
        omitted = (
            (path, file)
            for path, file in composed.selected.items()
            if file.by_glob and path not in shown and not file.problem
        )
        self._known = {path: self._look_at(path, file.file) for path, file in omitted}
        return {path: state for path, (_, state) in self._known.items()}

    def _look_at(self, path: str, file: str) -> "tuple[_Stamp, FileState]":
        stamp = _Stamp.of(file)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known
        return stamp, "binary" if _is_binary(file) else "generated"


class _Stamp(NamedTuple):
    """What a file is known again by: its inode, size and both of its times, one of which nobody can set."""

    inode: int = 0
    size: int = 0
    modified_ns: int = 0
    changed_ns: int = 0

    @classmethod
    def of(cls, file: str) -> "_Stamp":
        try:
            info = os.stat(file)  # noqa: PTH116 - runs for each file
        except (OSError, ValueError):
            return cls()
        return cls(info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _is_binary(file: str) -> bool:
    try:
        descriptor, _ = open_regular(file)
        with os.fdopen(descriptor, "rb") as opened:
            return b"\0" in opened.read(_PROBE)
    except (OSError, ValueError):
        return False
