"""Replacing a file that belongs to the user."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from aggregate.errors import OutputError


def replace_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the file at ``path`` by ``text`` in one step: a kill leaves the old or the new one, whole.

    A link is written through, so that it stays one; the file keeps its permissions. With ``durable`` off the disk is
    not waited for: after a power failure the file may be missing, so it is for what a program can write again.

    Raises:
        OutputError: It cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}-{token_hex(8)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(target.stat().st_mode)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep others that ask the same from changing ``path`` meanwhile, by a lock on its folder that leaves no file.

    Windows locks no folders; there two writers at the same moment are not kept apart.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
