"""Where a project begins, and whether a file lies in it."""

import os
from pathlib import Path


def project_root(folder: str | Path) -> str:
    """Return the real path of the root of the project around ``folder``: of its git checkout, else ``folder`` itself.

    A checkout counts by its ``.git``, git is not asked. One that belongs to another user than ``folder``, or that is a
    home folder (of dotfiles) around it, is passed over: neither makes what lies beside the project part of it.
    """
    current = start = real_path(folder)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - without a home it stays as it is
    while True:
        owner = _owner(os.path.join(current, ".git"))
        if owner is not None and owner == _owner(start) and (current == start or current != home):
            return current
        parent = os.path.dirname(current)  # noqa: PTH120 - text in, text out
        if parent == current:
            return start
        current = parent


def real_path(path: str | Path) -> str:
    """Return ``path`` with every link on the way resolved; what is missing, or can be no file, stays by its text."""
    try:
        return os.path.realpath(path)
    except (ValueError, RecursionError):  # a NUL; more links than any system follows
        return os.path.abspath(path)


def is_inside(real: str, root: str) -> bool:
    path, folder = os.path.normcase(real), os.path.normcase(root).rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None
