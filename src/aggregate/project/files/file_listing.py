"""Find files by paths and globs, within the project's scope."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import (
    UnreadableError,
    is_file,
    is_inside,
    project_root,
    read_bytes,
    real_path,
)
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError
from aggregate.project.git.git_files import list_files, tracked_files
from aggregate.project.git.guarded_git import StoppedError
from aggregate.project.paths import ALLOW_OUTSIDE, ALLOW_SECRETS, Scope
from aggregate.project.paths.globs_and_ignores import (
    IgnoreRules,
    TooManyRulesError,
    is_glob,
    matching,
    split_root,
)
from aggregate.project.paths.secret_paths import is_secret

_RULES_FILE = ".gitignore"
_BOM = b"\xef\xbb\xbf"
_MOST_RULES = 100_000  # of all ignore files: compiling them takes seconds, real trees have hundreds
# Names of folders, as patterns of ``.gitignore``.
_DEPENDENCIES: Final = (
    # dependencies
    "node_modules", "bower_components", "jspm_packages", "venv", ".venv", "virtualenv", "site-packages", "Pods",
    ".bundle", ".yarn", ".pnpm-store", "elm-stuff", ".eggs", "*.egg-info",
    # outputs
    "build", "_build", "dist", "target", "htmlcov", "DerivedData", ".next", ".nuxt", ".svelte-kit", ".output",
    ".dart_tool", ".gradle", ".build", ".terraform", "cmake-build-*",
    # caches
    "__pycache__", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".turbo",
    ".parcel-cache", ".ipynb_checkpoints", ".sass-cache",
    # other version control
    ".hg", ".svn", ".bzr", ".jj",
)  # fmt: skip
# Files in Python environments and caches (https://bford.info/cachedir/).
_MARKERS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


@cache
def _dependency_rules() -> IgnoreRules:
    """Return rules ignoring usual folders of dependencies, outputs and caches."""
    return IgnoreRules().below("", [f"{name}/" for name in _DEPENDENCIES])


def walk_files(folder: str, unreadable: list[str], *, defaults: bool = False) -> list[str]:
    """Return the files below a folder that ignore files do not exclude, without using git."""
    files: list[str] = []
    start = _dependency_rules() if defaults else IgnoreRules()
    for prefix, names, rules in walk_ruled(folder, start, unreadable, defaults=defaults):
        paths = (prefix + name for name in names)
        files += [path for path in paths if not rules.ignores(path, is_folder=False)]
    return sorted(files)


def visited_folders(folder: str) -> Iterator[str]:
    """Yield the folders searched by git or by a walk."""
    top = project_root(folder)
    start = folder[len(top) :].replace(os.sep, "/").strip("/")
    start += "/" if start else ""
    rules = IgnoreRules()
    for end in (at for at in range(len(start)) if not at or start[at - 1] == "/"):
        rules = _with_ignore_file(rules, start[:end], f"{top}/{start[:end]}{_RULES_FILE}")
    for prefix, _, _ in walk_ruled(top, rules, start=start, follows=False):
        yield f"{top}/{prefix}".rstrip("/")


def walk_ruled(
    folder: str,
    rules: IgnoreRules,
    unreadable: list[str] | None = None,
    *,
    defaults: bool = False,
    start: str = "",
    follows: bool = True,
) -> Iterator[tuple[str, list[str], IgnoreRules]]:
    """Yield folders with their files and ignore rules.

    Ignored folders are left out. Without ``follows``, ignore files behind links are not read, as in git.
    """
    rules_of = {start: rules}
    rules_read = 0
    for prefix, folders, names in walk_tree(folder, unreadable, start=start):
        rules = rules_of.pop(prefix)
        if defaults and prefix and not _MARKERS.isdisjoint((*folders, *names)):
            folders.clear()
            continue
        path = f"{folder}/{prefix}{_RULES_FILE}"
        if _RULES_FILE in names and (follows or not os.path.islink(path)):  # noqa: PTH114
            rules_above = len(rules)
            rules = _with_ignore_file(rules, prefix, path)
            rules_read += len(rules) - rules_above
            if rules_read > _MOST_RULES:
                raise ConfigError(
                    f"the .gitignore files have more than {_MOST_RULES:,} rules together",
                    path=folder,
                )
        folders[:] = [name for name in folders if not rules.ignores(prefix + name, is_folder=True)]
        rules_of |= {f"{prefix}{name}/": rules for name in folders}
        yield prefix, names, rules


def walk_tree(
    folder: str, unreadable: list[str] | None = None, *, start: str = ""
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder below ``folder``.

    Yields its path with a slash, its sorted subfolders and its other names. Callers prune by removing subfolders. Skips
    ``.git``, links and unreadable folders, which are added to ``unreadable``. Unlike ``os.walk`` it is not limited to a
    depth of about a thousand.
    """
    stack = [start]
    while stack:
        prefix = stack.pop()
        folders: list[str] = []
        names: list[str] = []
        try:
            for entry in os.scandir(f"{folder}/{prefix}"):
                (folders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            if unreadable is not None:
                unreadable.append(prefix)
            continue
        folders = sorted(name for name in folders if name != ".git")
        yield prefix, folders, names
        stack += [f"{prefix}{name}/" for name in reversed(folders)]


def _with_ignore_file(rules: IgnoreRules, prefix: str, path: str) -> IgnoreRules:
    try:
        text = read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape")
        return rules.below(prefix, text.split("\n"))
    except TooManyRulesError as error:
        raise ConfigError(f"{error}: shorten it", path=path) from None
    except UnreadableError as error:
        # Ignoring the rules would include hidden files.
        reason = f"{error.strerror}: replace it by a short file of ignore rules"
        raise ConfigError(reason, path=path) from None
    except OSError:
        return rules


def _folders_of(names: Sequence[str]) -> set[str]:
    return {name[:at] for name in names for at, char in enumerate(name) if char == "/"}


def dependency_folders(folder: str, files: Sequence[str]) -> list[str]:
    """Return patterns for folders with dependencies and outputs of tools.

    The patterns are those of ``.gitignore``. A folder with tracked files is source, whatever its name. Without git a
    walk skips such folders anyway.
    """
    tracked = tracked_files(folder)
    if tracked is None:
        return []
    of_files, of_source = _folders_of(files), _folders_of(tracked)
    marked = {name.rpartition("/")[0] for name in files if name.rpartition("/")[2] in _MARKERS}
    rules = _dependency_rules()
    patterns: set[str] = set()
    for path in of_files - of_source:
        if rules.ignores(path, is_folder=True):
            patterns.add(f"{path.rpartition('/')[2]}/")
        elif path in marked:  # by its path: the name may be ordinary
            patterns.add(f"/{path}/")
    return sorted(patterns)


OUTSIDE = f"outside the project, so not read: allow it with {ALLOW_OUTSIDE} or aggregate trust"
SECRET = f"looks like a secret, so not read: allow it with {ALLOW_SECRETS}"
_LINK_LEAVES = "a link out of the folder; name it without a wildcard to include it"
_LINK_IS_BROKEN = "a broken link: its target does not exist, or it is the link itself"
_LINK_LOOPS = "a looping link: its target contains it"
_OTHER_REPOSITORY = (
    "another repository, such as a submodule; begin a path with its name to include its files"
)
_UNREADABLE = "an unreadable folder"
_STOPPED = (
    "git was stopped, since it took too long to list this folder; for untracked files only the .gitignore files in "
    "the folder apply: look for ignore rules with many wildcards"
)


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    folder: str
    names: tuple[str, ...]  # relative to ``folder``; for a plain entry its path, even if missing
    skipped: tuple[tuple[str, str], ...] = ()  # matches of a glob with the reason
    secrets: tuple[str, ...] = ()
    is_glob: bool = False
    refused: str = ""  # why the entry may not be read
    real: str = ""  # checked real path of a plain entry, to be read instead of its name


@dataclass(slots=True)
class FolderListing:
    """Lists the files of folders and caches the lists.

    Uses git in a repository, else a walk.
    """

    scope: Scope = field(default_factory=Scope)
    _files: dict[str, list[str]] = field(default_factory=dict)
    _unreadable: set[str] = field(default_factory=set)
    _stopped: list[str] = field(default_factory=list)
    _taken: dict[tuple[str, str], ResolvedPath] = field(default_factory=dict)

    def files(self, folder: str) -> list[str]:
        if folder not in self._files:
            tracked: list[str] = []
            try:
                files = list_files(folder)
            except StoppedError:
                files, tracked = None, tracked_files(folder) or []
                self._stopped.append(folder)
            if files is None:
                unreadable: list[str] = []
                files = walk_files(folder, unreadable, defaults=True)
                self._unreadable |= {f"{folder}/{name}" for name in unreadable}
            self._files[folder] = sorted({*files, *tracked}) if tracked else files
        return self._files[folder]

    def resolve(self, base_dir: str | Path, entry: str) -> ResolvedPath:
        """Return the files matching a configured entry (rule M-2).

        A plain path is returned even if it is ignored or missing. For a glob the result has the matching files, sorted,
        without ignored ones and links out of the folder.
        """
        base = str(base_dir)
        entry = entry.replace("\\", "/") if os.sep == "\\" else entry
        if not is_glob(entry) or is_file(os.path.join(base, entry)):  # a name may hold brackets
            refused, real = self._check(os.path.join(base, entry))
            return ResolvedPath(
                base, () if is_history(entry) else (entry,), refused=refused, real=real
            )
        root, pattern = split_root(entry)
        folder = os.path.normpath(os.path.join(base, root))
        if not self.scope.allow_outside and not is_inside(real_path(folder), self.scope.root):
            return ResolvedPath(folder, (), is_glob=True, refused=self._refusal(OUTSIDE))
        if (folder, pattern) in self._taken:
            return self._taken[folder, pattern]
        try:
            names = matching(self.files(folder), pattern)
        except ValueError as error:
            return ResolvedPath(folder, (), is_glob=True, refused=str(error))
        taken = self._taken[folder, pattern] = self._take(folder, names)
        return taken

    def problems(self) -> list[tuple[str, str]]:
        stopped = [(folder, _STOPPED) for folder in self._stopped]
        return stopped + [(folder, _UNREADABLE) for folder in sorted(self._unreadable)]

    def _take(self, folder: str, matching: Sequence[str]) -> ResolvedPath:
        names: list[str] = []
        skipped: list[tuple[str, str]] = []
        secrets: list[str] = []
        location = self._below_root(real_path(folder)).rstrip("/") + "/" if self.scope.root else ""
        plain = {"": True}
        for name in matching:  # hot loop: up to a hundred thousand files
            if is_history(name):
                continue
            if is_secret(location + name):
                secrets.append(name)
                continue
            reason = _reason_to_skip(folder, name, plain)
            if reason is None:
                names.append(name)
            elif reason:
                skipped.append((name, reason))
        return ResolvedPath(folder, tuple(names), tuple(skipped), tuple(secrets), is_glob=True)

    def _check(self, path: str) -> tuple[str, str]:
        """Return why a path may not be read.

        The reason is ``""`` if it may. Also returns the real path of ``path`` if the scope is limited.
        """
        scope = self.scope
        if scope.allow_outside and scope.allow_secrets:
            return "", ""
        real = real_path(path)
        if not scope.allow_outside and not is_inside(real, scope.root):
            return self._refusal(OUTSIDE), real
        names = (self._below_root(os.path.abspath(path)), self._below_root(real))
        if not scope.allow_secrets and any(map(is_secret, names)):
            return self._refusal(SECRET), real
        return "", real

    def _refusal(self, reason: str) -> str:
        return reason.partition(":")[0] if self.scope.is_fixed else reason

    def _below_root(self, path: str) -> str:
        if self.scope.root and is_inside(path, self.scope.root):
            path = path[len(self.scope.root) :]
        return path.replace(os.sep, "/")


def resolve_paths(base_dir: Path, entry: str) -> list[Path]:
    """Return the files that an entry matches, including secret-looking ones (rule M-2)."""
    resolved = FolderListing().resolve(base_dir, entry)
    return [Path(resolved.folder, name) for name in sorted((*resolved.names, *resolved.secrets))]


def display_path(file: str | Path, base_dir: str | Path) -> str:
    """Return a path relative to ``base_dir`` with ``/``; outside of it as ``../other/c.py``."""
    folder, name = os.path.split(os.path.abspath(file))
    return display_prefix(folder, base_dir) + name


def display_prefix(folder: str | Path, base_dir: str | Path) -> str:
    root, absolute = (
        os.path.abspath(folder_path).rstrip(os.sep) + os.sep for folder_path in (base_dir, folder)
    )
    if absolute.startswith(root):
        return absolute.removeprefix(root).replace(os.sep, "/")
    try:
        return os.path.relpath(absolute, root).replace(os.sep, "/") + "/"
    except ValueError:  # on another drive of Windows
        return absolute.replace(os.sep, "/")


def is_history(name: str) -> bool:
    """Return whether a file name is that of a discussion."""
    if name[-len("history.toml") :].lower() != "history.toml":  # quick, since called for each file
        return False
    file_name = name.replace("\\", "/").rpartition("/")[2].lower()
    return file_name == "history.toml" or file_name.endswith("_history.toml")


def _is_plain(folder: str, name: str, cache: dict[str, bool]) -> bool:
    """Return whether a folder can be reached without following links."""
    unknown: list[str] = []
    while name not in cache:
        unknown.append(name)
        name = name.rpartition("/")[0]
    plain = cache[name]
    for below in reversed(unknown):  # no recursion: trees may be thousands of levels deep
        plain = plain and not stat.S_ISLNK(os.lstat(f"{folder}/{below}").st_mode)
        cache[below] = plain
    return plain


def _reason_to_skip(folder: str, name: str, plain: dict[str, bool]) -> str | None:
    """Return why a file is left out.

    ``""`` means left out without a message, ``None`` included. ``plain`` caches which folders can be reached without
    links.
    """
    path = f"{folder}/{name}"
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and _is_plain(folder, name.rpartition("/")[0], plain):
            return None
    except PermissionError:
        return "no permission to read it"
    except OSError:
        return ""  # tracked by git, deleted on disk
    if stat.S_ISDIR(mode):  # git lists a nested repository as a folder
        return _OTHER_REPOSITORY
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        return ""
    target = real_path(path)
    note((target,))
    if not is_inside(target, real_path(folder)):
        return _LINK_LEAVES
    if is_secret(target.replace(os.sep, "/").removeprefix(real_path(folder))):
        return "a link to a secret"
    if os.path.isfile(target):  # noqa: PTH113 - real_path gives text
        return None
    if not os.path.exists(target):  # noqa: PTH110
        return _LINK_IS_BROKEN
    # Git lists a link to a folder like a file; the folder's files are listed anyway.
    return _LINK_LOOPS if is_inside(real_path(os.path.dirname(path)), target) else ""  # noqa: PTH120
