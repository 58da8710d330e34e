"""Watch a folder and its repository, and report the changed paths in batches."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple, Self

from aggregate.base.disk.reading import real_path
from aggregate.base.errors import ConfigError
from aggregate.project.files.path_resolution import walk_ruled
from aggregate.project.git.git import tracked_files
from aggregate.project.git.git_process import git
from aggregate.project.paths.ignore_rules import MARKERS, IgnoreRules, dependency_rules
from aggregate.project.watching.watch_backends import (
    Backend,
    Entry,
    Report,
    is_limit,
    system_backend,
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
_GIT_FILES: Final = frozenset({"HEAD", "index", "packed-refs"})
_REF_FOLDERS: Final = ("refs", "reftable")  # branches, in either format
# Git's temporary files, renamed afterwards.
_LOCK_FILES: Final = IgnoreRules().below("", ["*.lock"])


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    tree: str  # base folder of the rules
    prefix: str  # path of the folder below it: ``""`` or ``a/b/``
    rules: IgnoreRules
    names: frozenset[str] | None = None  # watched names; None for all not ignored

    @property
    def path(self) -> str:
        below = self.prefix.rstrip("/").replace("/", os.sep)
        return os.path.join(self.tree, below) if below else self.tree

    def counts(self, name: str, *, is_folder: bool) -> bool:
        if self.names is not None:
            return name in self.names
        if is_folder and name == ".git":
            return False
        return not self.rules.ignores(self.prefix + name, is_folder=is_folder)


class ChangedPaths(NamedTuple):
    paths: tuple[str, ...]
    is_incomplete: bool = False


class TreeWatch:
    """Watches the sources below a folder and its repository's state, for one thread.

    The state is branches, index and head. Skips ignored folders, dependencies, outputs, caches and the rest of
    ``.git``; ``watch_files`` adds single files anywhere. The folder, and those of single files, may be created, deleted
    and replaced: ``wait`` checks them. Raises ``ConfigError`` if the system allows no more watches, also in ``wait``.
    As a context manager it stops its threads at the end.
    """

    def __init__(
        self, root: Path | str, *, make_backend: Callable[[str, Report], Backend] = system_backend
    ) -> None:
        self._root = real_path(root)
        self._entries: SimpleQueue[Entry | None] = SimpleQueue()  # None if events were lost
        self._files: set[str] = set()
        self._folders: dict[str, WatchedFolder] = {}
        self._below: dict[str, set[str]] = {}  # watched folders by their parent
        self._identities = {path: _identity(path) for path in (self._root, f"{self._root}/.git")}
        self._checked = time.monotonic()
        folders = _folders_of_project(self._root)
        try:
            self._backend = make_backend(self._root, self._entries.put)
        except OSError as error:
            if is_limit(error):
                raise ConfigError(_LIMITED) from None
            raise
        try:
            self._watch(folders)
        except ConfigError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._backend.close()

    def watch_files(self, paths: Iterable[Path | str]) -> None:
        for path in sorted({str(path) for path in paths} - self._files):
            self._files.add(path)
            for target in {os.path.abspath(path), real_path(path)}:
                self._files.add(target)
                folder, name = os.path.split(target)
                watched = self._folders.get(folder)
                names = frozenset() if watched is None else watched.names
                if names is not None and name not in names:
                    watched = WatchedFolder(folder, "", IgnoreRules(), names | {name})
                    # Outside the tree, whose events cover its folders.
                    self._identities.setdefault(folder, _identity(folder))
                    self._watch({folder: watched})

    def wait(self, seconds: float | None = None) -> ChangedPaths | None:
        """Return the next batch of changes, at most 50 ms after the first one; None after ``seconds``."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            remaining = _CHECK_SECONDS if end is None else max(0.0, end - time.monotonic())
            with suppress(Empty):
                entry = self._entries.get(timeout=min(remaining, _CHECK_SECONDS))
                changes = self._batch(entry)
                if changes.paths or changes.is_incomplete:
                    return changes
            if not remaining:
                return None
            self._check_identities()

    def _batch(self, entry: Entry | None) -> ChangedPaths:
        """Return the paths changed by an event and by those soon after it."""
        paths: set[str] = set()
        is_incomplete = False
        end = time.monotonic() + _BATCH_SECONDS
        with suppress(Empty):
            while True:
                if entry is None:
                    is_incomplete = True
                else:
                    paths |= self._changed_by(entry)
                remaining = end - time.monotonic()
                if remaining <= 0:
                    break
                entry = self._entries.get(timeout=min(remaining, _QUIET_SECONDS))
        if is_incomplete:  # new folders may be missing: watch everything again
            for folder in self._folders:
                self._backend.discard(folder)
            self._watch_by_new_rules()
        return ChangedPaths(tuple(sorted(paths)), is_incomplete)

    def _check_identities(self) -> None:
        """Report everything as changed if the watched folder was replaced."""
        if time.monotonic() < self._checked + _CHECK_SECONDS:
            return
        self._checked = time.monotonic()
        identities = {path: _identity(path) for path in self._identities}
        if identities != self._identities:
            self._identities = identities
            self._entries.put(None)

    def _watch(self, folders: dict[str, WatchedFolder]) -> None:
        self._folders |= folders
        for folder in folders:
            self._below.setdefault(os.path.split(folder)[0], set()).add(folder)
        try:
            for folder in folders:
                self._backend.add(folder)
        except OSError as error:
            if is_limit(error):
                raise ConfigError(_LIMITED) from None
            raise

    def _changed_by(self, entry: Entry) -> set[str]:
        """Return the changed paths that count; watch and forget folders."""
        if not entry.name:
            if entry.folder in self._identities:
                self._identities[entry.folder] = _GONE
            return set()
        path = os.path.join(entry.folder, entry.name)
        watched = self._folders.get(entry.folder)
        if watched is None:
            return set()
        if not watched.counts(entry.name, is_folder=entry.is_folder) and path not in self._files:
            return set()
        is_of_tree = watched.names is None
        if entry.is_folder and entry.is_gone:
            self._unwatch(path)
        elif entry.is_folder:
            return {path, *self._watch_new(watched, entry.name)} if is_of_tree else {path}
        elif entry.name in MARKERS and watched.prefix:
            self._unwatch(entry.folder)
        elif entry.name == ".gitignore" and is_of_tree:
            self._watch_by_new_rules()
        return {path}

    def _watch_new(self, parent: WatchedFolder, name: str) -> Iterator[str]:
        """Watch a new folder; yield its files, which may be older than the watch."""
        try:
            new = dict(_folders_below(parent.tree, parent.rules, f"{parent.prefix}{name}/"))
        except ConfigError:
            return  # invalid ignore rules, reported when composing
        self._watch(new)
        for folder, watched in new.items():
            with suppress(OSError):  # gone again
                for entry in os.scandir(folder):
                    is_file = not entry.is_dir(follow_symlinks=False)
                    if is_file and watched.counts(entry.name, is_folder=False):
                        yield entry.path

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
            folders = _folders_of_project(self._root)
        except ConfigError:
            return  # while it is edited; reported when composing
        for folder in self._folders.keys() - folders.keys():
            self._backend.discard(folder)
        self._folders, self._below = {}, {}
        self._watch(folders)
        files, self._files = self._files, set()
        self.watch_files(files)


def _folders_of_project(root: str) -> dict[str, WatchedFolder]:
    """Return the folders with sources below ``root``, and those with the state of its repository."""
    folders = dict(_folders_below(root, dependency_rules()))
    rules = folders[root].rules if root in folders else IgnoreRules()
    prefixes = {name[: name.rfind("/") + 1] for name in tracked_files(root) or ()}
    for prefix in sorted(prefixes):
        folder = WatchedFolder(root, prefix, rules)
        if folder.path not in folders and os.path.isdir(folder.path):  # noqa: PTH112 - Path raises without permission
            folders[folder.path] = folder
    output = git(root, "rev-parse", "--absolute-git-dir", "--git-common-dir")
    for line in (output or b"").splitlines():
        state = real_path(os.path.join(root, os.fsdecode(line)))
        folders[state] = WatchedFolder(state, "", IgnoreRules(), names=_GIT_FILES)
        for name in _REF_FOLDERS:
            path = os.path.join(state, name)
            if os.path.isdir(path):  # noqa: PTH112
                folders |= _folders_below(path, _LOCK_FILES)
    return folders


def _folders_below(
    tree: str, rules: IgnoreRules, start: str = ""
) -> Iterator[tuple[str, WatchedFolder]]:
    for prefix, _, ruled in walk_ruled(tree, rules, start=start, defaults=True):
        folder = WatchedFolder(tree, prefix, ruled)
        yield folder.path, folder


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)  # noqa: PTH116 - called often
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino
