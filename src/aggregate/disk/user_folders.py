"""Where the program keeps what belongs to the user and not to a project."""

import hashlib
import os
from pathlib import Path

from platformdirs import user_state_path

STATE_VARIABLE = "AGGREGATE_STATE_DIR"
"""The environment variable that moves the state folder."""
_HASH_DIGITS = 16


def state_folder(project: Path) -> Path:
    """Return the folder with the state of the project at ``project``; nothing is made.

    It lies in the user's own state folder, because a folder in the project may have come with the project. Its name is
    the project folder's name and a hash of its real path, so that two clones have two.
    """
    root = os.environ.get(STATE_VARIABLE)
    states = Path(root) if root else user_state_path("manual_slop", appauthor=False)
    real = os.path.realpath(project)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:_HASH_DIGITS]
    return states / "projects" / f"{Path(real).name[:80] or 'root'}-{digest}"
