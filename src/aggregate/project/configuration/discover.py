"""Which configuration is meant, and TOML that somebody else may have written: what would take minutes is refused."""

import os
from pathlib import Path

CONFIG_NAME = "manual_slop.toml"


def nearest_config(folder: Path | None = None) -> Path:
    """Return the nearest ``manual_slop.toml`` at or above ``folder``, up to the root of its git repository.

    Outside of a repository nothing above counts, and inside it nothing that belongs to another user: on a machine that
    is shared anybody may put a repository and a configuration into a folder such as ``/tmp``. Where there is none, it
    is the one to be written here.
    """
    here = Path(CONFIG_NAME)
    folder = folder or Path()
    if (folder / here).exists():
        return here
    above = [folder.absolute(), *folder.absolute().parents]
    root = next((depth for depth, parent in enumerate(above) if _is_own(parent / ".git")), 0)
    for depth, parent in enumerate(above[1 : root + 1], start=1):
        if not _is_own(parent):
            break
        if _is_own(parent / here):
            return Path(*[os.pardir] * depth, here)
    return here


def _is_own(path: Path) -> bool:
    try:
        owner = path.lstat().st_uid
        return not hasattr(os, "geteuid") or owner == os.geteuid()
    except OSError:
        return False
