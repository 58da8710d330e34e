"""Watch a folder and report the changed paths in batches."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import RLock
from typing import Final, NamedTuple, Self

from aggregate.base.disk.reading import real_path
from aggregate.base.errors import ConfigError
from aggregate.project.paths.ignore_rules import MARKERS
from aggregate.project.watching.watch_backends import (
    Backend,
    Entry,
    Report,
    is_limit,
    system_backend,
)
from aggregate.project.watching.watched_folders import (
    WatchedFolder,
    folder_of_file,
    folders_below,
    folders_of_project,
)

# Ends a batch: simultaneous changes of a program arrive within a few milliseconds.
_QUIET_SECONDS: Final = 0.02
_BATCH_SECONDS: Final = 0.05  # largest delay of the first change of a batch
# Waits are split, since some systems cannot interrupt one, and folders are checked in between.
_CHECK_SECONDS: Final = 0.5

# Identity of a deleted folder: a new one may get the same inode.
_GONE: Final = -1, -1


_LIMITED: Final = (
    "too many watched folders for the system: on Linux raise fs.inotify.max_user_watches and "
    "fs.inotify.max_user_instances with sysctl"
)


class ChangedPaths(NamedTuple):
    paths: tuple[str, ...]
    is_incomplete: bool = False


MakeBackend = Callable[[str, Report], Backend]


class TreeWatch:
    """Watches the sources below a folder and its repository's state.

    The state is branches, index and head. Skips ignored folders, dependencies, outputs, caches and the rest of
    ``.git``; ``watch_files`` adds single files anywhere. The folder, and those of single files, may be created, deleted
    and replaced: ``wait`` checks them. Raises ``ConfigError`` if the system allows no more watches, also in ``wait``.
    As a context manager it stops its threads at the end.
    """

    def __init__(self, root: Path | str, *, make_backend: MakeBackend = system_backend) -> None:
        self._root = real_path(root)
        self._changes: SimpleQueue[str | None] = SimpleQueue()
        self._lock = RLock()
        self._files: set[str] = set()
        self._is_closed = self._is_lost = False
        self._folders: dict[str, WatchedFolder] = {}
        self._below: dict[str, set[str]] = {}
        self._identities = {path: _identity(path) for path in (self._root, f"{self._root}/.git")}
        self._checked = time.monotonic()
        self._is_limited = False
        folders = folders_of_project(self._root)
        try:
            self._backend = make_backend(self._root, self._on_entry)
        except OSError as error:
            if is_limit(error):
                raise ConfigError(_LIMITED) from None
            raise
        self._watch(folders)
        if self._is_limited:
            self.close()
            raise ConfigError(_LIMITED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def watch_files(self, paths: Iterable[Path | str]) -> None:
        with self._lock:
            new = {str(path) for path in paths} - self._files
            for path in sorted(new):
                self._files.add(path)
                for target in {os.path.abspath(path), real_path(path)}:
                    self._files.add(target)
                    folder, watched = folder_of_file(target, self._folders)
                    if (
                        watched.names is not None
                    ):  # outside the tree, whose events cover its folders
                        self._identities.setdefault(folder, _identity(folder))
                    self._watch({folder: watched})

    def wait(self, seconds: float | None = None) -> ChangedPaths | None:
        """Return the next batch of changes, at most 50 ms after the first one; None after ``seconds``."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self._is_closed:
            remaining = _CHECK_SECONDS if end is None else max(0.0, end - time.monotonic())
            try:
                return self._batch(self._changes.get(timeout=min(remaining, _CHECK_SECONDS)))
            except Empty:
                if not remaining:
                    return None
                self._check_identities()
        return None

    def close(self) -> None:
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            backend = self._backend
        if not was_closed:
            backend.close()

    def _batch(self, change: str | None) -> ChangedPaths:
        paths, end = {change}, time.monotonic() + _BATCH_SECONDS
        while (remaining := end - time.monotonic()) > 0:
            try:
                paths.add(self._changes.get(timeout=min(remaining, _QUIET_SECONDS)))
            except Empty:
                break
        if self._is_lost:
            with self._lock:  # watch everything again
                self._is_lost = False
                for folder in self._folders:
                    self._backend.discard(folder)
                self._watch_by_new_rules()
        if self._is_limited:
            raise ConfigError(_LIMITED)
        changed = sorted(path for path in paths if path is not None)
        return ChangedPaths(tuple(changed), is_incomplete=None in paths)

    def _check_identities(self) -> None:
        """Report everything as changed if the watched folder was replaced."""
        if time.monotonic() < self._checked + _CHECK_SECONDS:
            return
        self._checked = time.monotonic()
        with self._lock:
            identities = {path: _identity(path) for path in self._identities}
            if identities != self._identities:
                self._identities = identities
                self._on_entry(None)

    def _watch(self, folders: dict[str, WatchedFolder]) -> None:
        with self._lock:
            self._folders |= folders
            for folder in folders:
                self._below.setdefault(os.path.split(folder)[0], set()).add(folder)
            try:
                for folder in folders:
                    self._backend.add(folder)
            except OSError as error:
                if not is_limit(error):
                    raise
                self._is_limited = True  # raised later: this may be a backend's thread
                self._changes.put(None)

    def _on_entry(self, entry: Entry | None) -> None:
        if entry is None:
            self._is_lost = True  # new folders may be missing
            self._changes.put(None)
            return
        with self._lock:
            watched = self._folders.get(entry.folder)
            if not entry.name and entry.folder in self._identities:
                self._identities[entry.folder] = _GONE
            path = os.path.join(entry.folder, entry.name)
            if watched is None or not entry.name or self._is_closed:
                return
            counts = watched.counts(entry.name, is_folder=entry.is_folder)
            if not counts and path not in self._files:
                return
            if entry.is_folder and not entry.is_gone and watched.names is None:
                # First, to report its content in the same batch.
                self._watch_new(watched, entry.name)
            self._changes.put(path)
            if entry.is_folder and entry.is_gone:
                self._unwatch(path)
            elif entry.is_folder:
                return
            elif entry.name in MARKERS and watched.prefix:
                self._unwatch(entry.folder)
            elif entry.name == ".gitignore" and watched.names is None:
                self._watch_by_new_rules()

    def _watch_new(self, parent: WatchedFolder, name: str) -> None:
        try:
            new = dict(folders_below(parent.tree, parent.rules, f"{parent.prefix}{name}/"))
        except ConfigError:
            return  # invalid ignore rules, reported when composing
        self._watch(new)
        for folder, watched in new.items():
            with suppress(OSError):  # gone again
                for entry in os.scandir(folder):
                    is_file = not entry.is_dir(follow_symlinks=False)
                    if is_file and watched.counts(entry.name, is_folder=False):
                        self._changes.put(entry.path)

    def _unwatch(self, path: str) -> None:
        self._below.get(os.path.split(path)[0], set()).discard(path)
        stack = [path]
        while stack:
            folder = stack.pop()
            stack += self._below.pop(folder, ())
            if self._folders.pop(folder, None):
                self._backend.discard(folder)

    def _watch_by_new_rules(self) -> None:
        try:
            folders = folders_of_project(self._root)
        except ConfigError:
            return  # while it is edited; reported when composing
        for folder in self._folders.keys() - folders.keys():
            self._backend.discard(folder)
        self._folders, self._below = {}, {}
        self._watch(folders)
        files, self._files = self._files, set()
        self.watch_files(files)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)  # noqa: PTH116 - called often
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino
