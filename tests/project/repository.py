"""Git repositories for tests, without the user's git configuration."""

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
}


def git(folder: Path, *arguments: str) -> bytes:
    """Return the output of ``git ARGUMENTS`` in ``folder``; it must succeed."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True).stdout


def untracked_and_tracked(folder: Path) -> list[str]:
    """Return git's list of existing files below ``folder``, sorted."""
    listed = git(folder, "ls-files", "-z", "-co", "--exclude-standard").split(b"\0")
    names = {os.fsdecode(name) for name in listed if name}
    return sorted(
        name for name in names if os.path.lexists(folder / name) and not name.endswith("/")
    )
