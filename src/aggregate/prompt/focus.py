"""Which files a caller focuses on, however they are named (rule M-X7)."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from aggregate.base.text import path_meant

FOCUS_TIER = 3


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file at ``path``, which ``entry`` stands for.

    It is named by its entry, path, file name, or trailing path. Parts of names never count:
    ``a.py`` is not ``data.py``.
    """
    pure_path = PurePosixPath(_with_slashes(path))
    return any(_names(focus, pure_path, entry) for focus in focus_files)


def unknown_focus(focus: str, paths: Sequence[str]) -> str:
    """Return the sentence that a focus names none of the prompt's files."""
    remedy = path_meant(focus, paths) or "; name it under [files] paths too"
    return f"focus {focus}: no file of the project matches it{remedy}"


class FocusIndex:
    """Finds the files that a focus file names without asking all of them each time.

    Args:
        files: The path of each file and its entry.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = tuple(files)
        # What names a file ends with one of its path's parts, or is its entry.
        self._by_part: dict[str, list[int]] = {}
        self._by_entry: dict[str, list[int]] = {}
        for place, (path, entry) in enumerate(self._files):
            self._by_entry.setdefault(entry, []).append(place)
            for part in set(_parts(path)):
                self._by_part.setdefault(part, []).append(place)

    def places(self, focus: str) -> list[int]:
        """Return the places of the files that ``focus`` names, in order."""
        by_part = self._by_part.get(_parts(focus)[-1], ())
        candidates = sorted({*by_part, *self._by_entry.get(focus, ())})
        return [place for place in candidates if self._is_named(place, focus)]

    def _is_named(self, place: int, focus: str) -> bool:
        path, entry = self._files[place]
        return is_named(path, entry, [focus])


def named_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths that ``is_named`` holds for; fast also where both are thousands.

    Args:
        files: The path of each file and its entry.
        focus_files: What names them.
    """
    wanted = set(focus_files)
    if not wanted:
        return frozenset()
    listed = tuple(files)
    index = FocusIndex(listed)
    return frozenset(listed[place][0] for focus in wanted for place in index.places(focus))


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
