"""The user's own configuration: where it lies, and which projects the user trusts."""

import os
import sys
from pathlib import Path

from aggregate.base.disk import home_folder, real_path
from aggregate.project.configuration.discover import CONFIG_NAME
from aggregate.project.configuration.load import load_config
from aggregate.project.configuration.schema import Config


def global_config_path() -> Path:
    """Return the file with the presets of all projects: ``manual_slop.toml`` in the user's configuration folder."""
    if sys.platform == "win32":
        root = Path(os.environ.get("APPDATA") or home_folder() / "AppData" / "Roaming")
    else:
        root = Path(os.environ.get("XDG_CONFIG_HOME") or home_folder() / ".config")
    return root / "manual_slop" / CONFIG_NAME


def user_config() -> Config:
    """Return the user's own configuration, an empty one where there is none.

    Raises:
        ConfigError: It cannot be used.
    """
    path = global_config_path()
    return load_config(path).config if path.is_file() else Config()


def trusted_projects() -> tuple[str, ...]:
    """Return the roots of the projects that may read files outside of them, as the user has written them.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    return tuple(user_config().trust.projects)


def is_trusted(root: str) -> bool:
    """Tell whether the user trusts the project with this root, a real path.

    Raises:
        ConfigError: The user's configuration cannot be used.
    """
    return any(real_path(os.path.expanduser(project)) == root for project in trusted_projects())  # noqa: PTH111
