"""Look at a project's files again and again, and report the changed paths."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import real_path
from aggregate.base.disk.witnesses import State
from aggregate.base.errors import ConfigError
from aggregate.project.files.file_listing import FolderListing, walk_tree
from aggregate.project.git.guarded_git import git
from aggregate.project.index.store import look_at

_LEAST_PAUSE: Final = 1.0  # seconds between two looks
# Pauses for each second of work in a look: looking takes at most 5 % of a processor. Waiting, such as for a busy
# machine, is no work, but a slow disk is left alone for half of the time.
_PAUSES: Final = 19
_GIT_FILES: Final = ("HEAD", "index", "packed-refs")
_REF_FOLDERS: Final = ("refs", "reftable")  # branches, in either format
_LOCK: Final = ".lock"  # end of git's temporary files, renamed afterwards


class TreeWatch:
    """Compares the sources below a folder and its repository's state with those of the last look.

    The state is branches, index and head. Ignored files are skipped; ``watch_files`` adds single files anywhere. The
    folder, and those of single files, may be created, deleted and replaced.
    """

    def __init__(self, root: Path | str, *, least_pause: float = _LEAST_PAUSE) -> None:
        self._root = real_path(root)
        self._least_pause = least_pause
        self._listed: list[str] = []
        self._files: set[str] = set()
        self._states = self._look()

    def watch_files(self, paths: Iterable[Path | str]) -> None:
        for path in {os.path.abspath(path) for path in paths} - self._files:
            self._files.add(path)
            self._states.setdefault(path, look_at(path))

    def wait(self, seconds: float) -> list[str]:
        """Wait ``seconds`` or until the next look; return the paths changed since the last one."""
        remaining = self._next_look - time.monotonic()
        time.sleep(max(0.0, min(seconds, remaining)))
        if remaining > seconds:
            return []
        old, self._states = self._states, self._look()
        return sorted(
            path
            for path in old.keys() | self._states.keys()
            if old.get(path) != self._states.get(path)
        )

    def _look(self) -> dict[str, State | None]:
        began, worked = time.monotonic(), _work_seconds()
        with suppress(ConfigError):  # while ignore rules are edited; reported when composing
            self._listed = FolderListing().files(self._root)
        names = (os.path.join(self._root, name) for name in self._listed)
        states = {path: look_at(path) for path in (*names, *self._git_files(), *self._files)}
        now = time.monotonic()
        pause = _PAUSES * (_work_seconds() - worked)
        self._next_look = now + max(self._least_pause, pause, now - began)
        return states

    def _git_files(self) -> Iterator[str]:
        output = git(self._root, "rev-parse", "--absolute-git-dir", "--git-common-dir") or b""
        folders = (os.path.join(self._root, os.fsdecode(line)) for line in output.splitlines())
        for folder in dict.fromkeys(map(real_path, folders)):
            yield from (os.path.join(folder, name) for name in _GIT_FILES)
            for refs in _REF_FOLDERS:
                for prefix, _, names in walk_tree(f"{folder}/{refs}"):
                    paths = (f"{folder}/{refs}/{prefix}{name}" for name in names)
                    yield from (path for path in paths if not path.endswith(_LOCK))


def _work_seconds() -> float:
    """Return the processor time of this thread and of ended processes, such as git's."""
    times = os.times()
    return time.thread_time() + times.children_user + times.children_system
