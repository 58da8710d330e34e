"""Which folders of a project hold dependencies, outputs and caches, and so are no source."""

from collections.abc import Iterator, Sequence

from aggregate.project.files.walk import walk_tree
from aggregate.project.git.git import tracked_files
from aggregate.project.paths.dependency_names import MARKERS, dependency_rules

_MOST_FOLDERS = 5000
"""Folders that are looked into where git does not tell: a project without a repository is seldom larger."""


def dependency_folders(folder: str, files: Sequence[str]) -> list[str]:
    """Return patterns, as in ``.gitignore``, for the folders below ``folder`` that hold what tools have put there.

    A folder that holds a file which git tracks is source, whatever its name.

    Args:
        folder: The project's folder.
        files: The files in it that are not ignored, relative to it.
    """
    tracked = tracked_files(folder)
    if tracked is None:
        return sorted(set(_on_disk(folder)))
    source_folders = {parent for name in tracked for parent in _parents(name)}
    folders = {parent for name in files for parent in _parents(name)} - source_folders
    marked = {name.rpartition("/")[0] for name in files if name.rpartition("/")[2] in MARKERS}
    return sorted({_pattern(name) for name in folders if name in marked or _is_known(name)})


def _on_disk(folder: str) -> Iterator[str]:
    for walked, (prefix, folders, names) in enumerate(walk_tree(folder)):
        path = prefix.removesuffix("/")
        if path and (not MARKERS.isdisjoint(names) or _is_known(path)):
            yield _pattern(path)
            folders.clear()
        if walked > _MOST_FOLDERS:
            folders.clear()


def _pattern(path: str) -> str:
    """Return the pattern for a folder: by its name, or by its path where only a marker told what it is."""
    return f"{path.rpartition('/')[2]}/" if _is_known(path) else f"/{path}/"


def _parents(name: str) -> Iterator[str]:
    return (name[:at] for at, char in enumerate(name) if char == "/")


def _is_known(folder: str) -> bool:
    return dependency_rules().ignores(folder, is_folder=True)
