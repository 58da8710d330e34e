"""From the user's entries to files: plain paths, absolute paths and globs, as far as the project's scope allows."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

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
from aggregate.project.git.git import list_files, tracked_files
from aggregate.project.git.git_process import StoppedError
from aggregate.project.paths import ALLOW_OUTSIDE, ALLOW_SECRETS, Scope
from aggregate.project.paths.globs import MatchedPaths, is_glob, split_root
from aggregate.project.paths.ignore_rules import (
    MARKERS,
    IgnoreRules,
    TooManyRulesError,
    dependency_rules,
)
from aggregate.project.paths.scope import is_secret

_RULES_FILE = ".gitignore"
_BOM = b"\xef\xbb\xbf"
# Rules of all ignore files together: compiling them takes seconds, and real trees have hundreds.
_MOST_RULES = 100_000


@dataclass(frozen=True, slots=True)
class Walked:
    files: list[str]
    unreadable: tuple[str, ...] = ()


def walk_files(folder: str, *, defaults: bool = False) -> Walked:
    """Return the files below ``folder`` that no ``.gitignore`` in it ignores."""
    files: list[str] = []
    unreadable: list[str] = []
    start = dependency_rules() if defaults else IgnoreRules()
    for prefix, names, rules in walk_ruled(folder, start, unreadable, defaults=defaults):
        paths = (prefix + name for name in names)
        files += [path for path in paths if not rules.ignores(path, is_folder=False)]
    return Walked(sorted(files), tuple(sorted(unreadable)))


def visited_folders(folder: str) -> Iterator[str]:
    """Yield the folders in which git, or a walk without it, looks for files below ``folder``; rarely also others."""
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
    """Yield each folder that no rule ignores, with its names besides folders and the rules in it.

    Git itself reads no rules that a link leads to: without ``follows`` these count for nothing here too.
    """
    rules_of = {start: rules}
    rules_read = 0
    for prefix, folders, names in walk_tree(folder, unreadable, start=start):
        rules = rules_of.pop(prefix)
        if defaults and prefix and not MARKERS.isdisjoint((*folders, *names)):
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
    """Yield each folder below ``folder``, itself first: its path and a slash, its folders in order, its other names.

    What is taken out of a list of folders is not entered, and neither are ``.git``, links and what cannot be read: that
    is added to ``unreadable``. ``os.walk`` does the same, but ends at a depth of about a thousand.
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
        # Without its rules what they hide would be taken.
        reason = f"{error.strerror}: put a short file of ignore rules in its place"
        raise ConfigError(reason, path=path) from None
    except OSError:
        return rules


def dependency_folders(folder: str, files: Sequence[str]) -> list[str]:
    """Return patterns, as in ``.gitignore``, for the folders below ``folder`` that hold what tools have put there.

    A folder that holds a file which git tracks is source, whatever its name. Without git a walk leaves them out anyway.
    """
    tracked = tracked_files(folder)
    if tracked is None:
        return []
    of_files, of_source = (
        {name[:at] for name in names for at, char in enumerate(name) if char == "/"}
        for names in (files, tracked)
    )
    marked = {name.rpartition("/")[0] for name in files if name.rpartition("/")[2] in MARKERS}
    rules = dependency_rules()
    patterns: set[str] = set()
    for path in of_files - of_source:
        if rules.ignores(path, is_folder=True):
            patterns.add(f"{path.rpartition('/')[2]}/")
        elif path in marked:  # by its path: its name tells nothing
            patterns.add(f"/{path}/")
    return sorted(patterns)


OUTSIDE = f"outside the project, so not read: allow it with {ALLOW_OUTSIDE} or aggregate trust"
SECRET = f"looks like a secret, so not read: allow it with {ALLOW_SECRETS}"
_LINK_LEAVES = "a link that leaves the folder; name it without a wildcard to take it"
_LINK_IS_BROKEN = "a broken link: what it leads to does not exist, or it leads to itself"
_LINK_LOOPS = "a looping link: it leads to a folder that it lies in"
_OTHER_REPOSITORY = (
    "a repository of its own, such as a submodule; begin a path with its name to take files of it"
)
_UNREADABLE = "a folder that cannot be read"
_STOPPED = (
    "git took too long to list it and was stopped, so files that are not tracked are taken as the .gitignore files in "
    "it say, not as those above it and other settings of git do: look for ignore rules with many wildcards"
)
# Entries of a folder that are looked through for what a glob would match if nothing were ignored.
_MOST_SEARCHED = 50_000


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    folder: str
    # The files, relative to ``folder``; for a plain entry the one path, whether it exists or not.
    names: tuple[str, ...]
    # Matches of a glob that were left out, each with the reason, relative to ``folder``.
    skipped: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] = ()
    is_glob: bool = False
    refused: str = ""  # why nothing of it may be read, ``""`` where it may
    # The real path of a plain entry that was checked, so that what was checked is what is read; else ``""``.
    real: str = ""


@dataclass(slots=True)
class FolderListing:
    """The files below folders, each folder listed once: by git in a repository, by its ignore files elsewhere."""

    scope: Scope = field(default_factory=Scope)
    _walked: dict[str, Walked] = field(default_factory=dict)
    _stopped: list[str] = field(default_factory=list)
    _matched: dict[str, MatchedPaths] = field(default_factory=dict)
    _searched: dict[str, MatchedPaths] = field(default_factory=dict)
    _taken: dict[tuple[str, str], ResolvedPath] = field(default_factory=dict)

    def files(self, folder: str) -> list[str]:
        return self._walk(folder).files

    def resolve(self, base_dir: str | Path, entry: str) -> ResolvedPath:
        """Return the files that ``entry`` stands for (rule M-2).

        A plain or absolute path stands for itself, also where it is ignored or missing. A glob stands for the files
        that match and are not ignored, sorted; a link that leaves the folder is skipped, and so is what looks like a
        secret. The discussion's own files (``history.toml``, ``*_history.toml``) never count. What the scope does not
        allow is refused; a folder outside of it is not even listed.
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
        if folder not in self._matched:
            self._matched[folder] = MatchedPaths(self.files(folder))
        try:
            names = self._matched[folder].matching(pattern)
        except ValueError as error:
            return ResolvedPath(folder, (), is_glob=True, refused=str(error))
        taken = self._taken[folder, pattern] = self._take(folder, names)
        return taken

    def ignored(self, base_dir: str | Path, entry: str) -> list[str]:
        """Return the files that a glob matches, whatever ignores them; of a large folder those that come first."""
        root, pattern = split_root(entry)
        folder = os.path.normpath(os.path.join(base_dir, root))
        if folder not in self._searched:
            files: list[str] = []  # of a large folder those that come first
            searched = 0
            for prefix, folders, below in walk_tree(folder):
                files += [prefix + name for name in sorted(below)]
                searched += len(below) + len(folders)
                if searched > _MOST_SEARCHED:
                    break
            self._searched[folder] = MatchedPaths(files)
        names = self._searched[folder].matching(pattern)
        return [name for name in names if not (is_history(name) or is_secret(name))]

    def problems(self) -> list[tuple[str, str]]:
        walks = self._walked.items()
        unreadable = {f"{folder}/{name}" for folder, walked in walks for name in walked.unreadable}
        stopped = [(folder, _STOPPED) for folder in self._stopped]
        return stopped + [(folder, _UNREADABLE) for folder in sorted(unreadable)]

    def _walk(self, folder: str) -> Walked:
        if folder not in self._walked:
            tracked: list[str] = []
            try:
                listed = list_files(folder)
            except StoppedError:
                listed, tracked = None, tracked_files(folder) or []
                self._stopped.append(folder)
            walked = walk_files(folder, defaults=True) if listed is None else Walked(listed)
            if tracked:
                walked = replace(walked, files=sorted({*walked.files, *tracked}))
            self._walked[folder] = walked
        return self._walked[folder]

    def _take(self, folder: str, matching: Sequence[str]) -> ResolvedPath:
        names: list[str] = []
        skipped: list[tuple[str, str]] = []
        secrets: list[str] = []
        location = self._below_root(real_path(folder)).rstrip("/") + "/" if self.scope.root else ""
        plain = {"": True}
        for name in matching:  # a loop for a hundred thousand files
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
        """Return why a file that is named may not be read, and its real path; both are ``""`` where all is allowed."""
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
    """Return the files that ``entry`` stands for, relative to ``base_dir``, secrets among them (rule M-2).

    See ``FolderListing.resolve``; nothing is read here.
    """
    resolved = FolderListing().resolve(base_dir, entry)
    return [Path(resolved.folder, name) for name in sorted((*resolved.names, *resolved.secrets))]


def display_path(file: str | Path, base_dir: str | Path) -> str:
    """Return ``file`` relative to ``base_dir`` with ``/``, also where it lies outside: ``../other/c.py``."""
    folder, name = os.path.split(os.path.abspath(file))
    return display_prefix(folder, base_dir) + name


def display_prefix(folder: str | Path, base_dir: str | Path) -> str:
    root, absolute = (
        os.path.abspath(place).rstrip(os.sep) + os.sep for place in (base_dir, folder)
    )
    if absolute.startswith(root):
        return absolute.removeprefix(root).replace(os.sep, "/")
    try:
        return os.path.relpath(absolute, root).replace(os.sep, "/") + "/"
    except ValueError:  # on another drive of Windows
        return absolute.replace(os.sep, "/")


def is_history(name: str) -> bool:
    """Tell whether a file holds discussion history, which is never aggregated as a file."""
    if name[-len("history.toml") :].lower() != "history.toml":  # quick: this is asked of each file
        return False
    file_name = name.replace("\\", "/").rpartition("/")[2].lower()
    return file_name == "history.toml" or file_name.endswith("_history.toml")


def _is_plain(folder: str, name: str, known: dict[str, bool]) -> bool:
    """Tell whether a folder below another is reached through no link; git lists what it tracked behind one."""
    unknown: list[str] = []
    while name not in known:
        unknown.append(name)
        name = name.rpartition("/")[0]
    plain = known[name]
    for below in reversed(unknown):  # without recursion: trees may be thousands of levels deep
        plain = plain and not stat.S_ISLNK(os.lstat(f"{folder}/{below}").st_mode)
        known[below] = plain
    return plain


def _reason_to_skip(folder: str, name: str, plain: dict[str, bool]) -> str | None:
    """Return ``None`` for a file to take, ``""`` for what is no file, or the reason for leaving it out."""
    path = f"{folder}/{name}"
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and _is_plain(folder, name.rpartition("/")[0], plain):
            return None
    except PermissionError:
        return "no permission to read it"
    except OSError:
        return ""  # tracked by git, deleted on disk
    if stat.S_ISDIR(mode):  # git lists a folder that it does not enter
        return _OTHER_REPOSITORY
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        return ""
    target = real_path(path)
    note((target,))
    if not is_inside(target, real_path(folder)):
        return _LINK_LEAVES
    if is_secret(target.replace(os.sep, "/").removeprefix(real_path(folder))):
        return "a link to what looks like a secret"
    if os.path.isfile(target):  # noqa: PTH113 - real_path gives text
        return None
    if not os.path.exists(target):  # noqa: PTH110
        return _LINK_IS_BROKEN
    # Git lists a link to a folder like a file; the folder's own files are listed anyway.
    return _LINK_LOOPS if is_inside(real_path(os.path.dirname(path)), target) else ""  # noqa: PTH120
