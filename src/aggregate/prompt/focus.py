"""Which files a caller focuses on, however they are named (rule M-X7)."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from aggregate.base.errors import ConfigError
from aggregate.base.text import path_meant
from aggregate.base.values import Place
from aggregate.project.files import display_path

FOCUS_TIER = 3


def is_named(path: str, entry: str, focus_files: Iterable[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file at ``path``, which ``entry`` stands for.

    It is named by its entry, path, file name, or trailing path. Parts of names never count:
    ``a.py`` is not ``data.py``.
    """
    parts = _parts(path)
    return any(focus == entry or _names(_parts(focus), parts) for focus in focus_files)


def _names(focus: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    length = len(focus)
    if any(parts[i : i + length] == focus for i in range(len(parts) - length + 1)):
        return True
    return focus[0] == "/" and focus[-len(parts) :] == parts


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts or ("",)


def unknown_focus(focus: str, paths: Sequence[str]) -> str:
    """Return the sentence that a focus names none of the prompt's files."""
    remedy = path_meant(focus, paths) or "; name it under [files] paths too"
    return f"focus {focus}: no file of the project matches it{remedy}"


class FocusIndex:
    """Finds, of files by their paths and entries, those that a focus file names without asking all of them."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = tuple(files)
        # What names a file ends with one of its path's parts, or is its entry.
        self._by_part: dict[str, list[int]] = {}
        self._by_entry: dict[str, list[int]] = {}
        for number, (path, entry) in enumerate(self._files):
            self._by_entry.setdefault(entry, []).append(number)
            for part in set(_parts(path)):
                self._by_part.setdefault(part, []).append(number)

    def find(self, *focus_files: str) -> list[int]:
        """Return the numbers of the files that one of ``focus_files`` names, in order."""
        found: set[int] = set()
        for focus in set(focus_files):
            by_part = self._by_part.get(_parts(focus)[-1], ())
            candidates = {*by_part, *self._by_entry.get(focus, ())}
            found.update(
                each
                for each in candidates
                if is_named(self._files[each][0], self._files[each][1], [focus])
            )
        return sorted(found)


def focus_paths(files: Iterable[tuple[str, str]], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths of the files, of each its path and its entry, that ``is_named`` holds for."""
    wanted, listed = tuple(focus_files), tuple(files)
    return (
        frozenset(listed[each][0] for each in FocusIndex(listed).find(*wanted))
        if wanted
        else frozenset()
    )


def places_of(focus: Sequence[str | Path | Place], base_dir: Path) -> tuple[Place, ...]:
    """Return places relative to ``base_dir``; a file whose own name ends like a line's number is a file."""
    places = (
        each if isinstance(each, Place) else parse_place(str(each), base_dir) for each in focus
    )
    return tuple(
        replace(place, path=display_path(place.path, base_dir))
        if Path(place.path).is_absolute()
        else place
        for place in places
    )


def whole_files(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the paths of places that are whole files, as a Tier 3 context takes them (rule T-2)."""
    for place in places:
        if place.first:
            raise ConfigError(
                f"focus {place}: a Tier 3 context shows whole files: leave the lines out, or name a task or a budget "
                "and no tier",
                key="focus",
            )
    return tuple(place.path for place in places)


def parse_place(text: str, folder: Path) -> Place:
    """Return the place that ``PATH[:LINE[-LINE]]`` names; all of it is a path where there is such a file."""
    return Place(text) if os.path.lexists(os.path.join(folder, text)) else Place.parse(text)
