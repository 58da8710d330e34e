"""List a folder's files by git; ask which of them ``.gitattributes`` marks as generated."""

import os
import posixpath
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import read_bytes, real_path
from aggregate.base.disk.witnesses import note
from aggregate.project.git.guarded_git import GitLimits, StoppedError, bounded_git, git
from aggregate.project.paths.globs_and_ignores import IgnoreRules

_ATTRIBUTE: Final = "linguist-generated"
_ATTRIBUTES_FILE: Final = ".gitattributes"
_OTHERS: Final = ("ls-files", "-z", "--others", "--exclude-standard")


def list_files(folder: str) -> list[str] | None:
    tracked = tracked_files(folder)
    if tracked is None:
        return None
    note(tree=folder)
    others = bounded_git(folder, *_OTHERS, limits=GitLimits.for_rules(tracked=len(tracked)))
    if others is not None and others.code < 0:
        raise StoppedError
    is_root = Path(folder, ".git", "HEAD").is_file()  # its own rules cannot ignore the root
    # By full path: for ".", git reports even the empty rule "/" as a match.
    if others is None or others.code or (not is_root and ignores(folder, real_path(folder))):
        return None
    # Git lists conflicts three times, and a nested repository as a folder. Its order is nearly sorted already.
    untracked = (name.removesuffix("/") for name in names_in(others.data))
    return list(dict.fromkeys(sorted([*tracked, *untracked])))


def ignores(folder: str, path: str) -> bool:
    return git(folder, "check-ignore", "-q", path, limits=GitLimits.for_rules()) is not None


def tracked_files(folder: str) -> list[str] | None:
    listed = git(folder, "ls-files", "-z", "--cached")
    return None if listed is None else names_in(listed)


def other_files(folder: str) -> list[str]:
    listed = git(folder, *_OTHERS, limits=GitLimits.for_rules())
    return sorted(name for name in names_in(listed or b"") if not name.endswith("/"))


def without_filters(folder: str) -> list[str] | None:
    """Return options for git that disable all content filters, ``None`` if that is impossible."""
    keys = bounded_git(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    if keys is None or keys.code not in (0, 1):  # 1 without any
        return None
    filters = {key.rpartition(".")[0] for key in names_in(keys.data)}
    if any("=" in name for name in filters):
        return None
    options: list[str] = []
    for name in sorted(filters):
        for setting in ("clean=", "process=", "required=false"):
            options += ["-c", f"{name}.{setting}"]
    return options


def names_in(listed: bytes) -> list[str]:
    return [*filter(None, listed.decode("utf-8", "surrogateescape").split("\0"))]


def unignored(folder: Path, names: Iterable[str]) -> list[str]:
    try:
        lines = read_bytes(folder / ".gitignore").decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        lines = []
    rules = IgnoreRules().below("", lines)
    unnamed = [name for name in names if not rules.ignores(name, is_folder=True)]
    return [name for name in unnamed if not ignores(str(folder), f"{name}/")]


def generated_marks(
    root: str, paths: Iterable[str], *, base: str = ""
) -> tuple[dict[str, bool], list[tuple[str, str]]]:
    """Return which paths ``.gitattributes`` marks as generated (True) or not (False), and problems.

    ``paths`` are relative to the folder ``base`` (``""`` or ``a/b/``) of the repository ``root``. Git is only asked if
    such a file has the attribute.
    """
    below_root: dict[str, str] = {}
    for path in paths:
        full = base + path
        if "../" in full or full.startswith("/"):
            full = posixpath.normpath(full)
        if not full.startswith(("../", "/")):
            below_root[full] = path
    if not _have_marks(root, below_root):
        return {}, []
    limits = GitLimits.for_rules(tracked=len(below_root))
    stdin = "\0".join(below_root).encode(errors="surrogateescape")
    output = bounded_git(
        root, "check-attr", "--stdin", "-z", _ATTRIBUTE, stdin=stdin, limits=limits
    )
    if output is None:  # not a repository
        return {}, []
    if not output.is_complete:
        return {}, [(_ATTRIBUTES_FILE, "not used: git cannot read it, or takes too long")]
    fields = iter(output.data.decode(errors="surrogateescape").split("\0"))
    marks = {
        below_root[path]: state in ("set", "true")
        for path, _, state in zip(fields, fields, fields, strict=False)
        if state != "unspecified"
    }
    return marks, []


def _have_marks(root: str, paths: Iterable[str]) -> bool:
    """Return whether the attribute occurs for any of these paths; like git, follow no links."""
    folders: set[str] = set()
    for path in paths:
        folder = path[: path.rfind("/") + 1]
        while folder not in folders:
            folders.add(folder)
            folder = folder[: folder.rfind("/", 0, -1) + 1]
    has_marks = False
    for folder in sorted(folders):  # all, to note each as read
        path = f"{root}/{folder}{_ATTRIBUTES_FILE}"
        # Mostly missing, and an exception takes longer.
        if os.access(path, os.F_OK) and stat.S_ISREG(os.lstat(path).st_mode):
            try:
                has_marks |= _ATTRIBUTE.encode() in read_bytes(path)
            except OSError:
                has_marks = True  # git may read it
    return has_marks
