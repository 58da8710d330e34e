"""Record the paths that a run depends on; detect changes.

A watching run notes each path that it opens, lists or checks, and then stores the status of each: device, inode, size
and both times. No program can set the change time (``ctime``), so an equal status proves equal content. Only files
changed within a clock step before the recording prove nothing.
"""

import os
import stat
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

State = tuple[int, int, int, int, int]  # device, inode, size, and in ns mtime and ctime
RACY_NS: Final = 2_000_000_000  # largest clock step of file systems
NUMBERS: Final = 5  # of a status
_UNKNOWN: Final[State] = (
    0,
    0,
    0,
    0,
    0,
)  # status of a file that may change again within the clock step
_MOST_CHANGED: Final = 32  # files; more changes invalidate the record
IGNORE_ALL: Final = b"*\n"  # of the ignore file in a new output folder
UNSEEN: Final = ("/proc/", "/sys/", "/dev/null/", "/dev/urandom/")  # outside any project
_TO_WRITE: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_LISTINGS: Final = ("os.listdir", "os.scandir")


class Seen:
    """The paths that this process has used since ``watch``."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.trees: dict[str, None] = {}  # folders listed recursively by git
        self.repositories: dict[str, None] = {}  # folders whose last commit was read
        self.doubts: list[str] = []  # dependencies besides paths

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook: note the path opened or listed by an event."""
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, int) and path is not None and not flags & _TO_WRITE:
                self.paths.add(os.fsdecode(path))
        elif event in _LISTINGS:
            if not isinstance(arguments[0], int):
                self.paths.add(os.fsdecode(arguments[0] or os.curdir))
        elif event == "subprocess.Popen":
            program = os.fsdecode(arguments[0])
            if program != sys.executable and os.path.basename(program) not in ("git", "git.exe"):
                self.doubts.append(f"{program} was started")


_watching: list[Seen] = []  # at most one


def watch() -> Seen:
    """Start noting the paths that this process uses."""
    if not _watching:
        _watching.append(Seen())
        sys.addaudithook(_watching[0].hear)
    return _watching[0]


def note(paths: Iterable[str] = (), *, tree: str = "", repository: str = "") -> None:
    """Note what was used without an audit event, such as checked paths."""
    for seen in _watching:
        seen.paths.update(paths)
        if tree:
            seen.trees[tree] = None
        if repository:
            seen.repositories[repository] = None


def doubt(reason: str) -> None:
    """Note that the run depends on something besides files, such as standard input."""
    for seen in _watching:
        seen.doubts.append(reason)


class Own(NamedTuple):
    """The program's output folder and the prefix of its numbered files, whose changes are ignored."""

    folder: str
    namespace: str

    def passes_over(self, folder: str, name: str) -> bool:
        """Return whether the program's output may create ``name`` in ``folder``."""
        if folder == self.folder:
            stem, _, kind = name.lstrip(".").removeprefix(f"{self.namespace}_").partition(".")
            is_kind = kind in ("md", "xml", "reply.md", "chain.json", "audit.json")
            return is_kind and stem.isdecimal() and name.lstrip(".").startswith(self.namespace)
        above = os.path.join(folder, "")
        return (
            self.folder.startswith(above) and self.folder[len(above) :].partition(os.sep)[0] == name
        )

    def has_record(self, path: str) -> bool:
        """Return whether a path is a JSON record beside a numbered prompt."""
        folder, name = os.path.split(path)
        return folder == self.folder and name.endswith(".json") and self.passes_over(folder, name)

    def names(self) -> dict[str, str]:
        """Hash the names in the output folder and its parent."""
        hashes = {}
        folder = self.folder
        while not os.path.isdir(folder):
            hashes[folder] = names_hash({})
            folder = os.path.dirname(folder)
        for existing in (folder, os.path.dirname(folder)):
            hashes[existing] = names_hash(names_in(existing, self))
        return hashes


class Stated(NamedTuple):
    """Paths with their status, five numbers each."""

    paths: list[str]
    states: "array[int]"  # compact: a stat result takes 700 bytes

    @classmethod
    def empty(cls) -> "Stated":
        return cls([], array("q"))

    def add(self, path: str, state: State, *, seen_ns: int) -> bool:
        """Add a path; return whether its status is known."""
        is_known = is_settled(state, seen_ns)
        self.paths.append(path)
        self.states.extend(state if is_known else _UNKNOWN)
        return is_known

    def pairs(self) -> "Iterator[tuple[str, tuple[int, ...]]]":
        return zip(self.paths, zip(*[iter(self.states)] * NUMBERS, strict=True), strict=True)


class Witnesses(NamedTuple):
    """The recorded status of the paths that a run used.

    Attributes:
        own: The program's output, which is ignored.
        files: Files and links by absolute path.
        followed: Paths whose target is recorded: the program's own files, and all links.
        folders: Listed folders.
        names: Hash of the names in each folder.
        absent: Missing paths, except those in listed folders.
        ways: Parent folders outside ``folders``; replacing one by a link would redirect the paths below it.
    """

    own: Own
    files: Stated
    followed: Stated
    folders: Stated
    names: list[str]
    absent: list[str]
    ways: list[str]

    @classmethod
    def of(
        cls,
        own: Own,
        paths: Iterable[str],
        *,
        followed: Iterable[str],
        before: Mapping[str, str],
        began_ns: int,
    ) -> "Witnesses | None":
        """Record the status of paths.

        Returns None if more than a few of the files may have changed since the start of the run. ``before`` is the
        result of ``Own.names`` at the start, ``began_ns`` the start's time.
        """
        paths = {*paths}
        ways = _ways_to(paths)
        files, targets, folders = Stated.empty(), Stated.empty(), Stated.empty()
        targets_info = {path: os.stat(path) for path in followed}
        listed: dict[str, dict[str, str]] = {}
        absent: list[str] = []
        unsettled = 0
        for path in sorted(paths | {way for way, is_link in ways.items() if is_link}):
            folder, name = os.path.split(path)
            is_unlisted = folder in listed and name not in listed[folder]
            if is_unlisted and not own.passes_over(folder, name):
                continue  # the names in its folder, which is sorted before, prove its absence
            try:
                info = os.lstat(path)
                if stat.S_ISLNK(info.st_mode):
                    targets_info[path] = os.stat(path)
            except (OSError, ValueError):
                absent.append(path)
                continue
            if stat.S_ISDIR(info.st_mode):
                # Listed before its status is taken, whose times reveal changes between both.
                listed[path] = names_in(path, own)
            else:
                unsettled += not files.add(path, described(info), seen_ns=began_ns)
        if unsettled > _MOST_CHANGED:
            return None
        for path, info in targets_info.items():
            if not targets.add(path, described(info), seen_ns=began_ns):
                return None
        hashes = [names_hash(entries) for entries in listed.values()]
        for path, names in zip(listed, hashes, strict=True):
            is_known = folders.add(path, described(os.lstat(path)), seen_ns=began_ns)
            # A folder that we write to is compared by its names alone.
            if not is_known and before.get(path) != names:
                return None
        other_ways = sorted(ways.keys() - {*files.paths, *listed})
        return cls(own, files, targets, folders, hashes, absent, other_ways)

    def changed(self) -> dict[str, State] | None:
        """Return the changed files with their new status.

        Returns None if anything else has changed, or too many files. A folder counts as changed if the names in it
        differ.
        """
        changed = {}
        try:
            for path, old in self.files.pairs():
                info = os.lstat(path)
                if (state := described(info)) != old:
                    changed[path] = state
                    if len(changed) > _MOST_CHANGED or not stat.S_ISREG(info.st_mode):
                        return None
            for path, old in self.followed.pairs():
                if described(os.stat(path)) != old:
                    return None
            for (path, old), names in zip(self.folders.pairs(), self.names, strict=True):
                info = os.lstat(path)
                if described(info) != old and (
                    not stat.S_ISDIR(info.st_mode) or names_hash(names_in(path, self.own)) != names
                ):
                    return None
            if not all(stat.S_ISDIR(os.lstat(path).st_mode) for path in self.ways):
                return None
        except (OSError, ValueError):
            return None
        return None if any(map(os.path.lexists, self.absent)) else changed

    def covers(self, paths: Iterable[str]) -> bool:
        """Return whether this record shows every later change of these paths."""
        folders = {*self.folders.paths}
        known = folders.union(self.files.paths, self.absent)
        known.add(os.path.join(self.own.folder, ".gitignore"))  # part of the folder's names
        return all(
            path in known or (os.path.dirname(path) in folders and not os.path.lexists(path))
            for path in paths
        )

    def following(self, paths: Iterable[str], *, seen_ns: int) -> "Witnesses | None":
        """Return this record with the targets of more paths; ``None`` if one changed just now."""
        targets = Stated([*self.followed.paths], self.followed.states[:])
        for path in {*paths}.difference(self.followed.paths):
            if not targets.add(path, described(os.stat(path)), seen_ns=seen_ns):
                return None
        return self._replace(followed=targets)

    def with_files(self, changed: Mapping[str, State], *, now_ns: int) -> "Witnesses":
        """Return this record with the status of changed files updated.

        The status stays unknown for changes within a clock step of ``now_ns``.
        """
        states = self.files.states[:]
        for number, path in enumerate(self.files.paths):
            if path in changed:
                state = changed[path] if is_settled(changed[path], now_ns) else _UNKNOWN
                states[number * NUMBERS : (number + 1) * NUMBERS] = array("q", state)
        return self._replace(files=Stated(self.files.paths, states))


def _ways_to(paths: Iterable[str]) -> dict[str, bool]:
    """Return the existing parent folders of paths, True for links."""
    ways: dict[str, bool | None] = {}  # None if missing
    for path in paths:
        parent = os.path.dirname(path)
        while parent not in ways:
            try:
                ways[parent] = stat.S_ISLNK(os.lstat(parent).st_mode)
            except (OSError, ValueError):
                ways[parent] = None
            if ways[parent]:
                ways |= _ways_to([os.path.join(os.path.realpath(parent), "")])
            parent = os.path.dirname(parent)
    return {way: is_link for way, is_link in ways.items() if is_link is not None}


def described(info: os.stat_result) -> State:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def is_settled(state: State, seen_ns: int) -> bool:
    """Return whether the times of a file seen at ``seen_ns`` will show its next change."""
    return max(state[3:]) <= seen_ns - RACY_NS


def names_in(folder: str, own: Own) -> dict[str, str]:
    """Return the names in a folder, each with its kind, or with the target of a link."""
    entries: dict[str, str] = {}
    is_near = own.folder.startswith(folder)
    with os.scandir(folder) as listing:
        for entry in listing:
            if is_near and own.passes_over(folder, entry.name):
                continue
            kind = "other"
            if entry.is_file(follow_symlinks=False):
                kind = "f"
            elif entry.is_dir(follow_symlinks=False):
                kind = "d"
            elif entry.is_symlink():
                kind = os.readlink(entry.path)
            entries[entry.name] = kind
    # A run creates this file with its output folder, in which it hides nothing but our files and itself.
    if folder == own.folder and entries == {".gitignore": "f"}:
        with suppress(OSError), open(os.path.join(folder, ".gitignore"), "rb") as file:
            entries = entries if file.read(len(IGNORE_ALL) + 1) != IGNORE_ALL else {}
    return entries


def names_hash(entries: Mapping[str, str]) -> str:
    from hashlib import blake2b  # rarely needed: most folders are unchanged

    text = "\0".join(sorted(f"{name}\0{kind}" for name, kind in entries.items()))
    return blake2b(text.encode(errors="surrogateescape"), digest_size=16).hexdigest()
