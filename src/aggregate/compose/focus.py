"""Which files a caller focuses on, however they are named (rule M-X7)."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

FOCUS_TIER = 3


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file at ``path``, which ``entry`` stands for.

    It is named by its entry, path, file name, or trailing path. Parts of names never count:
    ``a.py`` is not ``data.py``.
    """
    pure_path = PurePosixPath(_with_slashes(path))
    return any(_names(focus, pure_path, entry) for focus in focus_files)


def named_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths that ``is_named`` holds for; fast also where both are thousands.

    Args:
        files: The path of each file and its entry.
        focus_files: What names them.
    """
    by_last_part: dict[str, list[str]] = {}
    for focus in focus_files:
        by_last_part.setdefault(_parts(focus)[-1], []).append(focus)
    if not by_last_part:
        return frozenset()
    entries = {focus for group in by_last_part.values() for focus in group}
    paths = set()
    for path, entry in files:
        # What names a file ends with one of the path's parts, or is its entry.
        candidates = [focus for part in _parts(path) for focus in by_last_part.get(part, ())]
        if entry in entries or is_named(path, entry, candidates):
            paths.add(path)
    return frozenset(paths)


def _names(focus: str, path: PurePosixPath, entry: str) -> bool:
    if focus in (entry, str(path)):
        return True
    named = PurePosixPath(_with_slashes(focus))
    if named == path or (named.parts and _contains(path.parts, named.parts)):
        return True
    return named.is_absolute() and named.parts[-len(path.parts) :] == path.parts


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/")


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(_with_slashes(path)).parts or ("",)


def _contains(parts: Sequence[str], run: Sequence[str]) -> bool:
    return any(parts[i : i + len(run)] == run for i in range(len(parts) - len(run) + 1))
