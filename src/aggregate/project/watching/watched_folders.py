"""Find the folders that must be watched for changes of a project and of its repository."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aggregate.base.disk.reading import real_path
from aggregate.project.files.path_resolution import walk_ruled
from aggregate.project.git.git import tracked_files
from aggregate.project.git.git_process import git
from aggregate.project.paths.ignore_rules import IgnoreRules, dependency_rules

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


Folders = Mapping[str, WatchedFolder]  # by absolute path


def folders_of_project(root: str) -> dict[str, WatchedFolder]:
    """Return the folders with sources below ``root``, and those with the state of its repository."""
    folders = dict(folders_below(root, dependency_rules()))
    rules = folders[root].rules if root in folders else IgnoreRules()
    prefixes = {name[: name.rfind("/") + 1] for name in tracked_files(root) or ()}
    for prefix in sorted(prefixes):
        folder = WatchedFolder(root, prefix, rules)
        if folder.path not in folders and os.path.isdir(folder.path):  # noqa: PTH112 - Path raises without permission
            folders[folder.path] = folder
    return folders | folders_of_repository(root)


def folders_below(
    tree: str, rules: IgnoreRules, start: str = ""
) -> Iterator[tuple[str, WatchedFolder]]:
    for prefix, _, ruled in walk_ruled(tree, rules, start=start, defaults=True):
        folder = WatchedFolder(tree, prefix, ruled)
        yield folder.path, folder


def folders_of_repository(root: str) -> dict[str, WatchedFolder]:
    """Return the folders with the state of the git repository around ``root``."""
    output = git(root, "rev-parse", "--absolute-git-dir", "--git-common-dir")
    folders: dict[str, WatchedFolder] = {}
    for line in (output or b"").splitlines():
        folder = real_path(os.path.join(root, os.fsdecode(line)))
        folders[folder] = WatchedFolder(folder, "", IgnoreRules(), names=_GIT_FILES)
        for name in _REF_FOLDERS:
            path = os.path.join(folder, name)
            if os.path.isdir(path):  # noqa: PTH112
                folders |= folders_below(path, _LOCK_FILES)
    return folders


def folder_of_file(path: str, folders: Folders) -> tuple[str, WatchedFolder]:
    folder, name = os.path.split(path)
    watched = folders.get(folder)
    if watched is not None and (watched.names is None or name in watched.names):
        return folder, watched
    names = frozenset({name, *(watched.names if watched and watched.names else ())})
    return folder, WatchedFolder(folder, "", IgnoreRules(), names=names)
