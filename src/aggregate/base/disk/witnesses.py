"""Record the paths that a run depends on; detect changes.

A watching run notes each path that it opens, lists or checks, and then stores the status of each: device, inode, size
and both times. No program can set the change time (``ctime``), so an equal status proves equal content. Only files
changed within a clock step before the recording prove nothing.
"""

import os
import stat
import sys
from array import array
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import accumulate, chain, pairwise
from typing import Any, Final, NamedTuple

RACY_NS: Final = 2_000_000_000  # largest clock step of file systems
_NUMBERS: Final = 5  # of a status
_UNKNOWN: Final = (0,) * _NUMBERS  # status of a file that may change again within the clock step
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


def note(paths: Iterable[str]) -> None:
    """Note paths that were used without an audit event, such as checked ones."""
    for seen in _watching:
        seen.paths.update(paths)


def note_tree(folder: str) -> None:
    for seen in _watching:
        seen.trees[folder] = None


def note_repository(folder: str) -> None:
    for seen in _watching:
        seen.repositories[folder] = None


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
            hashes[folder] = names_hash(())
            folder = os.path.dirname(folder)
        for existing in (folder, os.path.dirname(folder)):
            hashes[existing] = names_in(existing, self).hash
        return hashes


class Witnesses(NamedTuple):
    """The recorded status of the paths that a run used.

    Attributes:
        own: The program's output, which is ignored.
        files: Absolute paths of files and links.
        followed: Paths whose target is recorded: the program's own files, and all links.
        folders: Listed folders.
        names: Hash of the names in each folder.
        absent: Missing paths, except those in listed folders.
        ways: Parent folders outside ``folders``; replacing one by a link would redirect the paths below it.
        trees: Folders listed recursively by git; their subfolders are in ``folders``.
        states: Status of each file, each followed path and each folder: five numbers.
    """

    own: Own
    files: list[str]
    followed: list[str]
    folders: list[str]
    names: list[str]
    absent: list[str]
    ways: list[str]
    trees: list[str]
    states: "array[int]"

    @classmethod
    def of(
        cls,
        own: Own,
        paths: Iterable[str],
        *,
        followed: Iterable[str],
        trees: Iterable[str],
        before: Mapping[str, str],
        began_ns: int,
    ) -> "Witnesses | None":
        """Record the status of paths.

        Returns None if more than a few of the files may have changed since the start of the run. ``before`` is the
        result of ``Own.names`` at the start, ``began_ns`` the start's time.
        """
        settled_ns = began_ns - RACY_NS
        files: list[str] = []
        states = array("q")  # compact: a stat result takes 700 bytes
        unsettled = 0
        targets = {path: os.stat(path) for path in followed}
        absent: list[str] = []
        paths = {*paths}
        ways = _ways_to(paths)
        listed: dict[str, Names] = {}
        for path in sorted(paths | {way for way, is_link in ways.items() if is_link}):
            folder, name = os.path.split(path)
            if folder in listed and not listed[folder].may_hold(name, own):
                continue  # the names in its folder, which is sorted before, prove its absence
            try:
                info = os.lstat(path)
                if stat.S_ISLNK(info.st_mode):
                    targets[path] = os.stat(path)
            except (OSError, ValueError):
                absent.append(path)
            else:
                if stat.S_ISDIR(info.st_mode):
                    # Listed before its status is taken, whose times reveal changes between both.
                    listed[path] = names_in(path, own)
                else:
                    state = described(info)
                    is_settled = max(state[-2:]) <= settled_ns
                    unsettled += not is_settled
                    files.append(path)
                    states.extend(state if is_settled else _UNKNOWN)
        target_states = [*map(described, targets.values())]
        if any(max(state[-2:]) > settled_ns for state in target_states):
            return None
        if unsettled > _MOST_CHANGED:
            return None
        states.extend(chain.from_iterable(target_states))
        for path, names in listed.items():
            state = described(os.lstat(path))
            is_settled = max(state[-2:]) <= settled_ns
            if not is_settled and before.get(path) != names.hash:
                return None
            # A folder that we write to is compared by its names alone.
            states.extend(state if is_settled else _UNKNOWN)
        other_ways = sorted(ways.keys() - {*files, *listed})
        hashes = [names.hash for names in listed.values()]
        return cls(own, files, [*targets], [*listed], hashes, absent, other_ways, [*trees], states)

    def changed(self) -> dict[str, tuple[int, ...]] | None:
        """Return the changed files with their new status.

        Returns None if anything else has changed, or too many files. A folder counts as changed if the names in it
        differ.
        """
        rows = zip(*[iter(self.states)] * _NUMBERS, strict=True)
        changed = {}
        try:
            for path, row in zip(self.files, rows, strict=False):
                info = os.lstat(path)
                if (state := described(info)) != row:
                    changed[path] = state
                    if len(changed) > _MOST_CHANGED or not stat.S_ISREG(info.st_mode):
                        return None
            for path, row in zip(self.followed, rows, strict=False):
                if described(os.stat(path)) != row:
                    return None
            for path, names, row in zip(self.folders, self.names, rows, strict=False):
                info = os.lstat(path)
                if described(info) != row and (
                    not stat.S_ISDIR(info.st_mode) or names_in(path, self.own).hash != names
                ):
                    return None
            if not all(stat.S_ISDIR(os.lstat(path).st_mode) for path in self.ways):
                return None
        except (OSError, ValueError):
            return None
        return None if any(map(os.path.lexists, self.absent)) else changed

    def with_files(self, changed: Mapping[str, tuple[int, ...]], *, now_ns: int) -> "Witnesses":
        """Return this record with the status of changed files updated.

        The status stays unknown for changes within a clock step of ``now_ns``.
        """
        states = self.states[:]
        for number, path in enumerate(self.files):
            if path in changed:
                is_settled = max(changed[path][-2:]) <= now_ns - RACY_NS
                state = changed[path] if is_settled else _UNKNOWN
                states[number * _NUMBERS : (number + 1) * _NUMBERS] = array("q", state)
        return self._replace(states=states)

    def unknown(self, paths: Iterable[str]) -> list[str]:
        """Return the unrecorded paths, except those known to be missing."""
        recorded = {*self.files, *self.followed, *self.folders, *self.absent}
        listed = {*self.folders}
        return [
            path
            for path in paths
            if path not in recorded
            and (os.path.dirname(path) not in listed or os.path.lexists(path))
        ]

    def with_others(self, others: "Witnesses") -> "Witnesses":
        """Return this record together with a record of other paths."""
        states = array("q")
        for first, second in zip(self._states_by_kind(), others._states_by_kind(), strict=True):
            states += first + second
        lists = [[*first, *second] for first, second in zip(self[1:-1], others[1:-1], strict=True)]
        return Witnesses._make([self.own, *lists, states])

    def _states_by_kind(self) -> "list[array[int]]":
        ends = [*accumulate(_NUMBERS * len(paths) for paths in self[1:4])]
        return [self.states[start:end] for start, end in pairwise([0, *ends])]


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


def described(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


class Names(NamedTuple):
    """The names in a folder, and a hash of the names, kinds and targets of links."""

    folder: str
    names: frozenset[str]
    hash: str

    def may_hold(self, name: str, own: Own) -> bool:
        return name in self.names or own.passes_over(self.folder, name)


def names_in(folder: str, own: Own) -> Names:
    entries = {}
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
            entries[entry.name] = f"{entry.name}\0{kind}"
    # A run creates this file with its output folder, in which it hides nothing but our files and itself.
    if folder == own.folder and [*entries.values()] == [".gitignore\0f"]:
        with suppress(OSError), open(os.path.join(folder, ".gitignore"), "rb") as file:
            entries = entries if file.read(len(IGNORE_ALL) + 1) != IGNORE_ALL else {}
    return Names(folder, frozenset(entries), names_hash(entries.values()))


def names_hash(entries: Iterable[str]) -> str:
    from hashlib import blake2b  # rarely needed: most folders are unchanged

    text = "\0".join(sorted(entries))
    return blake2b(text.encode(errors="surrogateescape"), digest_size=16).hexdigest()
