"""What git says about a folder: the only place that runs it."""

import os
import subprocess

# A repository's own configuration may name programs to run; none is needed to list files.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
_HOOK_VARIABLES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
_SECONDS = 60


def git(folder: str, *arguments: str) -> bytes | None:
    """Return what ``git ARGUMENTS`` prints in ``folder``, or ``None`` where git or a repository is missing."""
    # A hook's variables name its own repository, not the one around the folder.
    inherited = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    environment = {**inherited, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *_SAFE, "-C", folder, *arguments],
            capture_output=True,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def list_files(folder: str) -> list[str] | None:
    """Return the files below ``folder`` that git tracks or would track, relative to it, sorted.

    ``.gitignore`` files at every level and above, ``.git/info/exclude`` and the user's global excludes are honoured by
    git itself. ``None`` where the folder is in no repository, or lies in one that ignores it.
    """
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    # By its whole path: asked about ".", git takes even the empty rule "/" for a match.
    if listed is None or git(folder, "check-ignore", "-q", os.path.realpath(folder)) is not None:
        return None
    names = {name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name}
    return sorted(name for name in names if not name.endswith("/"))


def touched_files(folder: str, *, commits: int = 400) -> list[list[str]]:
    """Return the files below ``folder`` that each of the last commits touched, relative to it, newest first.

    What is changed but not committed comes before them, as if it were a commit. No repository, no commits.
    """
    dirty = git(folder, "diff", "--name-only", "--relative", "HEAD", "--", ".")
    log = git(
        folder, "log", "--first-parent", "--no-merges", "-n", str(commits), "--format=%x01", "--name-only",
        "--relative", "--", ".",
    )  # fmt: skip
    groups = [dirty or b"", *(log or b"").split(b"\1")]
    return [names for group in groups if (names := group.decode("utf-8", "surrogateescape").split("\n")) != [""]]
