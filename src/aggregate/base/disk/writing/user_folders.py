"""Where the program keeps what belongs to the user and not to a project."""

import hashlib
import os
from pathlib import Path

from aggregate.base.errors import ConfigError

# The environment variables that move the folders.
CACHE_VARIABLE, STATE_VARIABLE = "AGGREGATE_CACHE_DIR", "AGGREGATE_STATE_DIR"


# Stands for the folders of a user without a home folder: nothing lies below it, and nothing can be made there.
_NO_HOME = Path(os.devnull)


def state_folder(project: Path) -> Path:
    """Return the folder with the state of the project at ``project``; nothing is made.

    It lies in the user's own state folder, because a folder in the project may have come with the project. Its name is
    the project folder's name and a hash of its real path, so that two clones have two.
    """
    real = os.path.realpath(project)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    return _states() / "projects" / f"{Path(real).name[:80] or 'root'}-{digest}"


def user_state_folder() -> Path | None:
    folder = _states()
    return folder if folder != _NO_HOME else None


def cache_folder() -> Path | None:
    """Return the folder of what can be computed again; nothing is made. ``None`` where the user has no home folder.

    It never depends on the current folder: that may be a stranger's project, which would bring a cache of its own. A
    ``ConfigError`` says that the environment variable names a relative path.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        if not Path(named).is_absolute():
            raise ConfigError(
                f'{CACHE_VARIABLE} is "{named}", a relative path, which would lead into the project of the moment: '
                "set it to an absolute one"
            )
        return Path(os.path.normpath(named))
    usual = _usual_folder("user_cache_path")
    return usual if usual != _NO_HOME else None


def home_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return _NO_HOME


def _states() -> Path:
    root = os.environ.get(STATE_VARIABLE)
    return Path(os.path.abspath(root)) if root else _usual_folder("user_state_path")


def _usual_folder(name: str) -> Path:
    import platformdirs  # 4 ms, which most runs do without

    try:
        folder: Path = getattr(platformdirs, name)("manual_slop", appauthor=False)
    except RuntimeError:  # without a home folder, where other versions of it have a relative path
        return _NO_HOME
    return folder if folder.is_absolute() else _NO_HOME
