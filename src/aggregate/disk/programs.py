"""Finding programs on PATH, never in an untrusted project."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from aggregate.disk.roots import is_inside, project_root


def find_program(
    name: str, *, outside: Iterable[str | Path] = (), path: str | None = None
) -> str | None:
    """Return the absolute path of the program ``name``, ``None`` where no folder of ``search_path`` has it.

    Args:
        name: A plain name, such as ``git``, or an absolute path that the user gave.
        outside: Folders whose programs are never taken, beside the current one.
        path: The search path, by default the environment's PATH.
    """
    if Path(name).is_absolute():
        return shutil.which(name)
    forbidden = _forbidden(outside)
    for folder in search_path(outside=outside, path=path).split(os.pathsep):
        # With a folder in the name nothing but that folder is searched, also on Windows.
        program = shutil.which(os.path.join(folder, name)) if folder else None
        if program and not _is_below(os.path.realpath(program), forbidden):
            return program
    return None


def search_path(*, outside: Iterable[str | Path] = (), path: str | None = None) -> str:
    """Return the folders of ``path`` that a program may be taken from, for what we start to find its own helpers in.

    Empty and relative entries mean the current folder, which may be an untrusted project. They are left out, and so
    are entries in the current folder, in ``outside``, and in the projects around these.
    """
    forbidden = _forbidden(outside)
    search = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [folder for folder in search.split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join(
        folder for folder in folders if not _is_below(os.path.realpath(folder), forbidden)
    )


def _forbidden(outside: Iterable[str | Path]) -> list[str]:
    roots = {project_root(folder) for folder in (os.curdir, *outside)}
    return sorted(root for root in roots if not _is_users(root))


def _is_users(root: str) -> bool:
    """Tell whether the user's home lies in ``root``, or is it: then it is no project that came from somebody else."""
    return is_inside(os.path.realpath(os.path.expanduser("~")), root)  # noqa: PTH111 - without a home it stays as it is


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)
