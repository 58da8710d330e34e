"""Waiting until git has done what it began, so that nobody reads a work tree half checked out."""

import os
import time
from collections.abc import Iterator
from typing import Final

from aggregate.project.watching.watching import Changes, TreeWatch

_LOCK: Final = "index.lock"
"""Is there from before a checkout, merge, stash or reset touches the first file until behind the last."""
_STEPS: Final = ("rebase-merge", "rebase-apply")
"""Are there while commits are applied one after another, and while a person mends one that could not be."""
_MOST_SECONDS: Final = 10.0
"""A checkout of 100,000 files takes less; a lock that is older was left behind by a git that was killed."""
_LOCK_SECONDS: Final = 0.05
"""Between two looks at a lock, and behind the last: the head moves a moment after it."""
_STEP_SECONDS: Final = 0.3
"""Without a change for so long a rebase has stopped for a person: a commit takes a tenth, its hooks somewhat more."""


class GitActivity:
    """What git does in a watched tree, by the files that it keeps beside the index meanwhile.

    Args:
        watch: Watches the tree.
        most_seconds: After so long nothing is waited for any more.
    """

    def __init__(self, watch: TreeWatch, *, most_seconds: float = _MOST_SECONDS) -> None:
        self._watch = watch
        self._most_seconds = most_seconds
        self._left_behind: set[tuple[str, int, int]] = set()

    def settle(self, changes: Changes) -> Changes:
        """Return changes with all that came behind them, once git is done: a checkout or a rebase is one change.

        While a rebase has stopped for a person, each change is waited on for 0.3 s.
        """
        batches = [changes, *filter(None, self._later_changes())]
        paths = {path for batch in batches for path in batch.paths}
        return Changes(tuple(sorted(paths)), any(batch.is_incomplete for batch in batches))

    def _later_changes(self) -> Iterator[Changes | None]:
        """Yield what is there already, and what comes until git is done."""
        # Without git one more batch: a file that is written all the time would bring ever more.
        yield self._watch.wait(0)
        folders, end = self._watch.git_folders(), time.monotonic() + self._most_seconds
        if not (self._is_writing(folders) or _is_rebasing(folders)):
            return
        while time.monotonic() < end:
            changes = self._watch.wait(_STEP_SECONDS if _is_rebasing(folders) else _LOCK_SECONDS)
            yield changes
            if changes is None and not self._is_writing(folders):
                return
        self._left_behind = _locks(folders)

    def _is_writing(self, git_folders: list[str]) -> bool:
        return bool(_locks(git_folders) - self._left_behind)


def _is_rebasing(git_folders: list[str]) -> bool:
    steps = (os.path.join(folder, name) for folder in git_folders for name in _STEPS)
    return any(map(os.path.isdir, steps))


def _locks(git_folders: list[str]) -> set[tuple[str, int, int]]:
    """Return the locks that are there, each with what tells it from a later one in its place."""
    locks: set[tuple[str, int, int]] = set()
    for folder in git_folders:
        path = os.path.join(folder, _LOCK)
        try:
            info = os.stat(path)  # noqa: PTH116 - looked at again and again
        except OSError:
            continue
        locks.add((path, info.st_ino, info.st_mtime_ns))
    return locks
