"""What git says about a folder: its files, what changed lately, and what it does not ignore."""

from collections.abc import Iterable
from pathlib import Path

from aggregate.base.disk.reading import read_bytes, real_path
from aggregate.base.disk.witnesses import note_tree
from aggregate.project.git.git_process import GitLimits, git
from aggregate.project.paths.ignore_rules import IgnoreRules

_LAST_COMMITS = 400  # Commits that are looked at for what changes often


def list_files(folder: str) -> list[str] | None:
    tracked = tracked_files(folder)
    if tracked is None:
        return None
    note_tree(folder)
    limits = GitLimits.for_rules(tracked=len(tracked))
    others = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=limits, tells_stop=True
    )
    is_root = Path(folder, ".git", "HEAD").is_file()  # no rule of its own can ignore the whole
    # By its whole path: asked about ".", git takes even the empty rule "/" for a match.
    if others is None or (not is_root and ignores(folder, real_path(folder))):
        return None
    # Git's own order is nearly that of the names, so that sorting is quick; what is in conflict stands there thrice.
    return list(dict.fromkeys(sorted([*tracked, *_files_in(others)])))


def ignores(folder: str, path: str) -> bool:
    return git(folder, "check-ignore", "-q", path, limits=GitLimits.for_rules()) is not None


def tracked_files(folder: str) -> list[str] | None:
    listed = git(folder, "ls-files", "-z", "--cached")
    return None if listed is None else _names(listed)


def tracked_but_ignored(folder: str) -> list[str]:
    arguments = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    return _names(git(folder, *arguments, limits=GitLimits.for_rules()) or b"")


def other_files(folder: str) -> list[str]:
    listed = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=GitLimits.for_rules()
    )
    return sorted(_files_in(listed or b""))


def touched_files(folder: str) -> list[list[str]]:
    """Return the files below ``folder`` that each of the last ``_LAST_COMMITS`` touched, relative to it, newest first.

    What is changed but not committed comes before them, as if it were a commit; a file may be listed there only
    because its time has changed. No repository, no commits.
    """
    count = ("--first-parent", "--no-merges", "-n", str(_LAST_COMMITS))
    hashes = git(folder, "rev-list", *count, "HEAD", "--", ".")
    if not hashes:
        return []
    options = ("-z", "--name-only", "--no-renames", "--relative")
    changes = git(folder, "diff-tree", "--stdin", "-r", "--root", *options, "--", ".", stdin=hashes)
    touched: list[list[str]] = [_uncommitted(folder, options), []]
    commits = iter([*_decoded(hashes).split(), ""])
    next_commit = next(commits)
    for name in _names(changes or b""):
        if name == next_commit:
            touched.append([])
            next_commit = next(commits)
        else:
            touched[-1].append(name)
    return [names for names in touched if names]


def _uncommitted(folder: str, options: tuple[str, ...]) -> list[str]:
    """Return the files that differ from the last commit.

    Where a file is as old as the index git compares its content, and runs the clean filter of its attributes before.
    No option stops that, so each filter that is configured is replaced by none, by its name.
    """
    settings = without_filters(folder)
    if settings is None:
        return []
    changed = git(
        folder, *settings, "diff-index", *options, "--ignore-submodules=all", "HEAD", "--", "."
    )
    return _names(changed or b"")


def without_filters(folder: str) -> list[str] | None:
    """Return options of git that replace each filter by none, ``None`` where one has a name that no option can hold."""
    keys = git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", may_say_no=True)
    filters = {key.rpartition(".")[0] for key in _names(keys or b"")}
    if keys is None or any("=" in name for name in filters):  # which the command line cannot name
        return None
    none = [
        f"{name}.{key}"
        for name in sorted(filters)
        for key in ("clean=", "process=", "required=false")
    ]
    return [part for setting in none for part in ("-c", setting)]


def _files_in(listed: bytes) -> list[str]:
    return [name for name in _names(listed) if not name.endswith("/")]


def _names(listed: bytes) -> list[str]:
    return [*filter(None, _decoded(listed).split("\0"))]


def _decoded(listed: bytes) -> str:
    return listed.decode("utf-8", "surrogateescape")


def unignored(folder: Path, names: Iterable[str]) -> list[str]:
    try:
        lines = read_bytes(folder / ".gitignore").decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        lines = []
    rules = IgnoreRules().below("", lines)
    unnamed = [name for name in names if not rules.ignores(name, is_folder=True)]
    return [name for name in unnamed if not ignores(str(folder), f"{name}/")]
