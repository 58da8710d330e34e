"""Find the nearest configuration file."""

import os
from pathlib import Path

CONFIG_NAME = "manual_slop.toml"


def nearest_config(folder: Path | None = None) -> Path:
    """Find the nearest ``manual_slop.toml`` of a folder.

    Searches the folder and its parents up to the root of the repository. Ignores folders outside a repository and those
    of other users: on a shared machine anybody may put a repository and a configuration into ``/tmp``. Without a
    configuration file, returns the path for a new one in the folder.
    """
    config = Path(CONFIG_NAME)
    folder = folder or Path()
    if (folder / config).exists():
        return config
    folders = [folder.absolute(), *folder.absolute().parents]
    root = next((depth for depth, parent in enumerate(folders) if _is_own(parent / ".git")), 0)
    for depth, parent in enumerate(folders[1 : root + 1], start=1):
        if not _is_own(parent):
            break
        if _is_own(parent / config):
            return Path(*[os.pardir] * depth, config)
    return config


def _is_own(path: Path) -> bool:
    try:
        owner = path.lstat().st_uid
        return not hasattr(os, "geteuid") or owner == os.geteuid()
    except OSError:
        return False
