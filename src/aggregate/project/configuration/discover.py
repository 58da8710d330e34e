"""Find the nearest configuration file."""

import os
from pathlib import Path

CONFIG_NAME = "manual_slop.toml"


def nearest_config() -> Path:
    """Find the nearest ``manual_slop.toml``.

    Searches the current folder and its parents up to the root of the repository. Ignores folders outside a repository
    and those of other users: on a shared machine anybody may put a repository and a configuration into ``/tmp``.
    Without a configuration file, returns the path for a new one in the current folder.
    """
    config = Path(CONFIG_NAME)
    current = Path.cwd()
    parents = [] if config.exists() else [*current.parents]
    root = next((folder for folder in (current, *parents) if _is_own(folder / ".git")), current)
    for depth, parent in enumerate(parents, start=1):
        if not parent.is_relative_to(root) or not _is_own(parent):
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
