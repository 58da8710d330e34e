"""Finding programs on PATH, never in an untrusted project."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from aggregate.base.disk.roots import is_inside, project_root, real_path


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
    roots = forbidden_roots(outside)
    for folder in search_path(outside=outside, path=path).split(os.pathsep):
        # With a folder in the name nothing but that folder is searched, also on Windows.
        program = shutil.which(os.path.join(folder, name))
        if program and not lies_in(program, roots):
            return program
    return None


def search_path(*, outside: Iterable[str | Path] = (), path: str | None = None) -> str:
    """Return the folders of ``path`` that a program may be taken from, for what we start to find its own helpers in.

    Empty and relative entries mean the current folder, which may be an untrusted project. They are left out, and so
    are entries in the current folder, in ``outside``, and in the projects around these. Where none is left the path has
    no programs, since an empty one would mean the current folder again.
    """
    roots = forbidden_roots(outside)
    search = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [folder for folder in search.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117 - in each start
    allowed = [folder for folder in folders if not lies_in(folder, roots)]
    return os.pathsep.join(allowed) or os.devnull


def lies_in(path: str, roots: Iterable[str]) -> bool:
    """Tell whether a program or folder lies in one of ``roots``, or is a link there or from there."""
    folder, name = os.path.split(path)
    here = os.path.join(real_path(folder), name)
    reals = (here, real_path(here)) if os.path.islink(here) else (here,)  # noqa: PTH114
    return any(is_inside(real, root) for root in roots for real in reals)


def forbidden_roots(outside: Iterable[str | Path] = ()) -> list[str]:
    """Return the roots of the projects around the current folder and ``outside``, unless the user's home is in it."""
    roots = {project_root(folder) for folder in (os.curdir, *outside)}
    return sorted(root for root in roots if not _is_users(root))


def _is_users(root: str) -> bool:
    """Tell whether the user's home lies in ``root``, or is it: then it is no project that came from somebody else."""
    return is_inside(os.path.realpath(os.path.expanduser("~")), root)  # noqa: PTH111 - without a home it stays as it is
