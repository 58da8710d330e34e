"""Finding programs on PATH, never in an untrusted project."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def find_program(name: str, *, outside: Iterable[str | Path] = (), path: str | None = None) -> str | None:
    """Return the absolute path of the program ``name``, ``None`` where PATH has none.

    Empty and relative entries of PATH mean the current folder, which may be an untrusted project; on Windows the
    current folder is even searched first. They are passed over, and so are entries inside ``outside``.

    Args:
        name: A plain name, such as ``git``.
        outside: Folders, such as the project's, whose programs are never taken.
        path: The search path, by default the environment's PATH.
    """
    forbidden = [os.path.realpath(folder) for folder in outside]
    search = os.environ.get("PATH", os.defpath) if path is None else path
    for folder in search.split(os.pathsep):
        if not Path(folder).is_absolute():
            continue
        # With a folder in the name nothing but that folder is searched, also on Windows.
        found = shutil.which(os.path.join(folder, name))
        if found and not any(_is_below(os.path.realpath(one), forbidden) for one in (folder, found)):
            return found
    return None


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
