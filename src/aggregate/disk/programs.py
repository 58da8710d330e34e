"""Finding programs on PATH, never in an untrusted project."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def find_program(name: str, *, outside: Iterable[str | Path] = (), path: str | None = None) -> str | None:
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
    are entries in the current folder, in ``outside``, and in the checkouts around these.
    """
    forbidden = _forbidden(outside)
    search = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [folder for folder in search.split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join(folder for folder in folders if not _is_below(os.path.realpath(folder), forbidden))


def checkout_around(folder: str | Path) -> Path | None:
    """Return the nearest folder at or above ``folder``, links resolved, that has a ``.git``, ``None`` without one."""
    start = os.path.realpath(folder)
    return next((one for one in (Path(start), *Path(start).parents) if os.path.lexists(one / ".git")), None)


def _forbidden(outside: Iterable[str | Path]) -> list[str]:
    folders = {os.path.realpath(folder) for folder in (os.curdir, *outside)}
    return sorted(
        tree for folder in folders if (tree := str(checkout_around(folder) or folder)) and not _is_users(tree)
    )


def _is_users(tree: str) -> bool:
    """Tell whether the user's home lies in ``tree``, or is it: then it is no project that came from somebody else."""
    return _is_below(os.path.realpath(Path("~").expanduser()), [tree])


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
