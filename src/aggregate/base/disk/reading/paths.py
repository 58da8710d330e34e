"""Where a path leads, links resolved, and in which project it lies."""

import os
import stat
from pathlib import Path

from aggregate.base.errors import OutputError


def is_file(path: str | Path) -> bool:
    """Tell whether there is a regular file at ``path``; a name that no file system takes is none."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a str is not made a Path, this runs for each entry
    except (OSError, ValueError):
        return False


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


def confined(path: Path, root: Path | None) -> Path:
    """Return ``path``, which need not exist, if it lies in ``root``, links resolved, or raise an ``OutputError``."""
    if root is None or is_inside(real_path(path), real_path(root)):
        return path
    raise OutputError(
        f"{path} leads out of the project {os.path.abspath(root)}: name a place in it, or "
        'trust the project ("aggregate trust"), or allow it with --allow-outside'
    )


def without_links(path: Path) -> Path:
    """Return ``path``, a place that the user or a default names, if no link in a project leads it out of there.

    The project is the checkout, else the current folder, that the name of ``path`` leads into; where it leads into
    neither, the user chose a place elsewhere. An ``OutputError`` says that a link leads out.
    """
    name = Path(os.path.abspath(path))
    current = Path.cwd()
    checkout = next((folder for folder in name.parents if os.path.lexists(folder / ".git")), None)
    project = checkout or (current if name.is_relative_to(current) else None)
    if project is None or is_inside(real_path(name), real_path(project)):
        return path
    raise OutputError(
        f"{path} leads out of the project {project} through a link: put a folder in the place of the link, or name the "
        "place that it leads to"
    )
