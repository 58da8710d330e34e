"""What changed since a revision: committed, staged, in the work tree, and files that git does not know yet."""

from typing import Final, NamedTuple

from aggregate.base.errors import ConfigError
from aggregate.project.git.git import other_files, without_filters
from aggregate.project.git.git_patch import PATCH_OPTIONS, read_hunks
from aggregate.project.git.git_process import bounded_git, git, why_no_history

# Of what git prints of the differences: what is longer is told by files alone.
_MOST_BYTES: Final = 32_000_000
# Runs of lines and files, those that git knows first: beyond them a change tells nothing of what it is about.
_MOST_CHANGES: Final = 5_000
_LONGEST_REVISION: Final = 200  # Characters; longer ones name nothing
# Git compares no larger files: they are data, and a comparison can take the square of their lines.
_LARGE_FILE: Final = "core.bigFileThreshold=1m"


class ChangedRange(NamedTuple):
    path: str
    first: int = 0
    last: int = 0


def changed_lines(
    folder: str, revision: str, *, most_bytes: int = _MOST_BYTES
) -> list[ChangedRange]:
    """Return what below ``folder`` differs from ``revision``, also what is not committed, in the order of the paths.

    Lines that were removed count by the line before them; files that are no more do not count.
    """
    if reason := why_no_history(folder):
        shown = revision[:_LONGEST_REVISION]
        raise ConfigError(f"{shown!r} is no revision to compare with, as {reason}: leave it out")
    commit = _commit(folder, revision)
    changes = [
        *_tracked(folder, commit, most_bytes),
        *(ChangedRange(path) for path in other_files(folder)),
    ]
    return sorted(changes[:_MOST_CHANGES])


def _commit(folder: str, revision: str) -> str:
    # What begins with a dash could be an option of git's.
    is_odd = revision.startswith("-") or not revision.isprintable() or not revision.strip()
    if not is_odd and len(revision) <= _LONGEST_REVISION:
        name = f"{revision}^{{commit}}"
        answer = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if answer:
            return answer.decode("ascii", "replace").split()[-1]
    shown = revision[:_LONGEST_REVISION]
    raise ConfigError(
        f"git knows no revision {shown!r} here: name a commit, a branch or a tag, such as HEAD~1 or main"
    )


def _tracked(folder: str, commit: str, most_bytes: int) -> list[ChangedRange]:
    settings = without_filters(folder)
    # Where a filter cannot be switched off, files are not compared: what is staged is, which needs no filter.
    compared = () if settings is not None else ("--cached",)
    within = ("--ignore-submodules=all", "--relative", *compared, commit, "--", ".")
    text = ("-c", _LARGE_FILE, "-c", "core.quotePath=false", "diff-index", *PATCH_OPTIONS)
    output = bounded_git(folder, *(settings or ()), *text, *within, most=most_bytes)
    if output is None:
        return []
    changes = [ChangedRange(hunk.path, hunk.first, hunk.last) for hunk in read_hunks(output.data)]
    if not output.is_complete:
        known = {change.path for change in changes}
        names = ("diff-index", "-z", "--name-only", "--no-renames", "--diff-filter=d")
        listed = bounded_git(folder, *(settings or ()), *names, *within, most=_MOST_BYTES)
        paths = listed.data.decode("utf-8", "surrogateescape").split("\0")[:-1] if listed else []
        changes += [ChangedRange(path) for path in paths if path not in known]
    return list(dict.fromkeys(changes))
