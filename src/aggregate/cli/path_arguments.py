"""Paths that a person types, which begin in the current folder."""

import os
from collections.abc import Iterable
from pathlib import Path


def from_here(paths: Iterable[str], base_dir: Path) -> tuple[str, ...]:
    """Return paths and globs of the current folder as a configuration writes them: relative to ``base_dir``.

    What is neither a file here nor a glob stays as it is: it may be written as the configuration writes it, or be a
    part of a path that a focus file is known by.
    """
    from aggregate.compose.selection import display_path
    from aggregate.paths.globs import is_glob

    here, base = Path.cwd(), Path(os.path.abspath(base_dir))
    below = here.is_relative_to(base)

    def written(path: str) -> str:
        full = os.path.abspath(here / path)
        inside = full != str(base) and Path(full).is_relative_to(base)
        is_meant = os.path.lexists(full) or (below and is_glob(path))
        return display_path(full, base) if inside and is_meant and not Path(path).is_absolute() else path

    return tuple(written(path) for path in paths)
