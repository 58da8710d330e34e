"""List a folder's files by git: tracked, ignored and others."""

from collections.abc import Iterable
from pathlib import Path

from aggregate.base.disk.reading import read_bytes, real_path
from aggregate.base.disk.witnesses import note_tree
from aggregate.project.git.git_process import GitLimits, git
from aggregate.project.paths.ignore_rules import IgnoreRules


def list_files(folder: str) -> list[str] | None:
    tracked = tracked_files(folder)
    if tracked is None:
        return None
    note_tree(folder)
    limits = GitLimits.for_rules(tracked=len(tracked))
    others = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=limits, tells_stop=True
    )
    is_root = Path(folder, ".git", "HEAD").is_file()  # its own rules cannot ignore the root
    # By full path: for ".", git reports even the empty rule "/" as a match.
    if others is None or (not is_root and ignores(folder, real_path(folder))):
        return None
    # Git lists conflicts three times, and a nested repository as a folder. Its order is nearly sorted already.
    untracked = (name.removesuffix("/") for name in names_in(others))
    return list(dict.fromkeys(sorted([*tracked, *untracked])))


def ignores(folder: str, path: str) -> bool:
    return git(folder, "check-ignore", "-q", path, limits=GitLimits.for_rules()) is not None


def tracked_files(folder: str) -> list[str] | None:
    listed = git(folder, "ls-files", "-z", "--cached")
    return None if listed is None else names_in(listed)


def tracked_but_ignored(folder: str) -> list[str]:
    arguments = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    return names_in(git(folder, *arguments, limits=GitLimits.for_rules()) or b"")


def other_files(folder: str) -> list[str]:
    listed = git(
        folder, "ls-files", "-z", "--others", "--exclude-standard", limits=GitLimits.for_rules()
    )
    return sorted(name for name in names_in(listed or b"") if not name.endswith("/"))


def without_filters(folder: str) -> list[str] | None:
    """Return options for git that disable all content filters, ``None`` if that is impossible."""
    keys = git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", may_say_no=True)
    filters = {key.rpartition(".")[0] for key in names_in(keys or b"")}
    if keys is None or any("=" in name for name in filters):
        return None
    options: list[str] = []
    for name in sorted(filters):
        for setting in ("clean=", "process=", "required=false"):
            options += ["-c", f"{name}.{setting}"]
    return options


def names_in(listed: bytes) -> list[str]:
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
