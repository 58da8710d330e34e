"""Which folders of a project hold dependencies, outputs and caches, and so are no source."""

from collections.abc import Iterator, Sequence

from aggregate.paths.dependency_names import DEPENDENCY_FOLDERS, MARKERS
from aggregate.paths.ignore_rules import IgnoreRules
from aggregate.sources.git import tracked_files
from aggregate.sources.walk import walk_tree

_MOST_FOLDERS = 5000


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
    kept = {parent for name in tracked for parent in _parents(name)}
    rules = _rules()
    folders = {parent for name in files for parent in _parents(name)} - kept
    marked = {name.rpartition("/")[0] for name in files if name.rpartition("/")[2] in MARKERS} & folders
    return sorted({_pattern(name, rules) for name in folders if name in marked or rules.ignores(name, is_folder=True)})


def _on_disk(folder: str) -> Iterator[str]:
    rules = _rules()
    for walked, (prefix, folders, names) in enumerate(walk_tree(folder)):
        path = prefix.removesuffix("/")
        if path and (not MARKERS.isdisjoint(names) or rules.ignores(path, is_folder=True)):
            yield _pattern(path, rules)
            folders.clear()
        if walked > _MOST_FOLDERS:
            folders.clear()


def _pattern(path: str, rules: IgnoreRules) -> str:
    """Return the pattern for a folder: by its name, or by its path where only a marker told what it is."""
    return f"{path.rpartition('/')[2]}/" if rules.ignores(path, is_folder=True) else f"/{path}/"


def _parents(name: str) -> Iterator[str]:
    return (name[:at] for at, char in enumerate(name) if char == "/")


def _rules() -> IgnoreRules:
    return IgnoreRules().below("", [f"{name}/" for name in DEPENDENCY_FOLDERS])
