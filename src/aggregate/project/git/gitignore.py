"""Adding rules to a project's ``.gitignore``."""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from aggregate.base.disk import read_bytes
from aggregate.base.errors import OutputError
from aggregate.project.git.git import ignores
from aggregate.project.paths.ignore_rules import IgnoreRules

NAME = ".gitignore"
_FLAGS = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


def unignored(folder: Path, names: Iterable[str]) -> list[str]:
    """Return those of the folders ``names`` in ``folder`` that neither its ``.gitignore`` nor git ignores."""
    try:
        lines = read_bytes(folder / NAME).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        lines = []
    rules = IgnoreRules().below("", lines)
    unnamed = [name for name in names if not rules.ignores(name, is_folder=True)]
    return [name for name in unnamed if not ignores(str(folder), f"{name}/")]


def append_folders(folder: Path, names: Iterable[str]) -> None:
    """Add a rule for each of the folders ``names`` to the ``.gitignore`` in ``folder``; what it holds stays.

    Raises:
        OutputError: It is a link, which could lead anywhere and which git does not read, or cannot be written.
    """
    path = folder / NAME
    text = "".join(f"{name}/\n" for name in names)
    try:
        content = read_bytes(path) if path.exists() else b""
        line_end = b"" if not content or content.endswith(b"\n") else b"\n"
        descriptor = os.open(path, _FLAGS, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "is no regular file")
            os.write(descriptor, line_end + text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        reason = "is a link" if path.is_symlink() else error.strerror or str(error)
        raise OutputError(
            f"cannot add to {path}: {reason}: add {' and '.join(text.split())} yourself"
        ) from error
