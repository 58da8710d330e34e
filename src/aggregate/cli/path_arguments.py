"""Paths that a person types, which begin in the current folder."""

import os
from collections.abc import Iterable
from pathlib import Path

from aggregate.base.text import heading_text, nearest_path
from aggregate.base.values import FileRow
from aggregate.project.paths import is_glob, split_root
from aggregate.prompt import display_path


def from_here(paths: Iterable[str], base_dir: Path) -> tuple[str, ...]:
    """Return paths and globs of the current folder as a configuration writes them: relative to ``base_dir``.

    What is neither a file here nor a glob stays as it is: it may be written as the configuration writes it, or be a
    part of a path that a focus file is known by.
    """
    base = Path(os.path.abspath(base_dir))
    return tuple(_from_here(path, Path.cwd(), base) for path in paths)


def existing_meant(path: str, folder: Path) -> str:
    """Return ``: did you mean "..."?`` for a path, or a glob's folder, that is not there, ``""`` where none is near.

    It is mended folder by folder, by the names that there are.
    """
    asked, meant = Path(split_root(path)[0] if is_glob(path) else path), ""
    for part in asked.parts:
        place = folder / meant
        name = part if os.path.lexists(place / part) else nearest_path(part, _names(place))
        if not name:
            return ""
        meant = os.path.join(meant, name)
    return "" if Path(meant) == asked else f': did you mean "{meant}"?'


def with_meant(warnings: Iterable[str], rows: Iterable[FileRow], folder: Path) -> list[str]:
    """Return warnings of a prompt; those that end with a path that is not there say which one is meant."""
    meant = {heading_text(row.path): existing_meant(row.path, folder) for row in rows if row.error}
    return [one + meant.get(one.rpartition(": ")[2], "") for one in warnings]


def _names(folder: Path) -> list[str]:
    """Return what is in a folder, nothing where that cannot be told."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def _from_here(path: str, here: Path, base: Path) -> str:
    full = os.path.abspath(here / path)
    is_inside = full != str(base) and Path(full).is_relative_to(base)
    is_meant = os.path.lexists(full) or (is_glob(path) and here.is_relative_to(base))
    if Path(path).is_absolute() or not is_inside or not is_meant:
        return path
    return display_path(full, base)
