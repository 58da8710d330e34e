"""What a run looks at on the disk, and whether all of that is still as it was.

A run that watches notes each path it opens, lists or asks about. Of all these it keeps what the system tells without
reading: device, inode, size and both times. No program can set the time of the last change (``ctime``), so what is
described as before holds what it held; but clocks of file systems tick in steps, so that what was changed shortly
before it was described proves nothing.
"""

import os
import stat
import sys
from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate, chain, pairwise
from typing import Any, Final, NamedTuple

# Clocks of file systems tick in steps of up to two seconds.
RACY_NS: Final = 2_000_000_000
_NUMBERS: Final = 5  # That describe a file
_UNKNOWN: Final = (0,) * _NUMBERS  # Of what was just changed, and may be again without a trace
_MOST_CHANGED: Final = 32  # Files; with more all are looked at anew
UNSEEN: Final = ("/proc/", "/sys/", "/dev/null/", "/dev/urandom/")  # What is no part of any project
_TO_WRITE: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_LISTINGS: Final = ("os.listdir", "os.scandir")


class Seen:
    """What this process has looked at since it watches."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.trees: dict[str, None] = {}  # folders that git has listed with all below
        self.repositories: dict[str, None] = {}  # folders whose last commit was asked for
        self.doubts: list[str] = []  # why nothing can be proved by paths alone

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what an audit event tells; it is called for every event."""
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
                self.doubts.append(f"{program} was asked")


_watching: list[Seen] = []  # at most one: a process has one run of its own


def watch() -> Seen:
    """Note from now on what this process looks at."""
    if not _watching:
        _watching.append(Seen())
        sys.addaudithook(_watching[0].hear)
    return _watching[0]


def note(paths: Iterable[str]) -> None:
    """Note paths that are asked about in a way that raises no event, where this process watches."""
    for seen in _watching:
        seen.paths.update(paths)


def note_tree(folder: str) -> None:
    for seen in _watching:
        seen.trees[folder] = None


def note_repository(folder: str) -> None:
    for seen in _watching:
        seen.repositories[folder] = None


def doubt(reason: str) -> None:
    """Say that the answer depends on more than files, such as standard input or the time of day."""
    for seen in _watching:
        seen.doubts.append(reason)


class Own(NamedTuple):
    """The folder where this program writes, and how its numbered files are called there: they count for nothing."""

    folder: str
    namespace: str

    def passes_over(self, folder: str, name: str) -> bool:
        """Tell whether a name in a folder may come and go by our writing alone: a numbered file, or its folder."""
        if folder == self.folder:
            stem, _, kind = name.lstrip(".").removeprefix(f"{self.namespace}_").partition(".")
            is_kind = kind in ("md", "reply.md", "chain.json", "audit.json")
            return is_kind and stem.isdecimal() and name.lstrip(".").startswith(self.namespace)
        above = os.path.join(folder, "")
        return (
            self.folder.startswith(above) and self.folder[len(above) :].partition(os.sep)[0] == name
        )

    def has_record(self, path: str) -> bool:
        """Tell whether a file lies beside a numbered one, as what is compared with the next prompt does."""
        folder, name = os.path.split(path)
        return folder == self.folder and name.endswith(".json") and self.passes_over(folder, name)

    def names(self) -> dict[str, str]:
        """Return what lies in the folder and in the one above it that exists, besides what we write."""
        found = {}
        folder = self.folder
        while not os.path.isdir(folder):
            found[folder] = names_hash(())
            folder = os.path.dirname(folder)
        for each in (folder, os.path.dirname(folder)):
            found[each] = names_in(each, self).hash
        return found


class Witnesses(NamedTuple):
    """What all that a run has looked at was like.

    Attributes:
        files: Absolute paths that are no links.
        followed: Paths that may be links: of the program, and what links lead to.
        folders: Listed folders.
        names: The hash of the names in each of them.
        absent: Paths at which there was nothing, but for those of which the names in a folder say so.
        ways: Other folders above all of these; one that becomes a link leads elsewhere.
        trees: Folders that git has listed: all folders below in which it looks for files are among the listed.
        states: Five numbers for each file, each followed path and each folder.
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
        """Describe paths as they are now; ``None`` where more than a few files may have changed since the run began.

        ``before`` says what lay in folders that we write to, as ``Own.names`` returned it when the run began.
        """
        settled_ns = began_ns - RACY_NS
        files: list[str] = []
        states = array("q")  # at once, since what the system tells of a file takes 700 bytes
        young = 0
        beyond = {path: os.stat(path) for path in followed}
        absent: list[str] = []
        paths = {*paths}
        ways = _ways_to(paths)
        listed: dict[str, Names] = {}
        for path in sorted(paths | {way for way, is_link in ways.items() if is_link}):
            folder, name = os.path.split(path)
            if folder in listed and not listed[folder].may_hold(name, own):
                continue  # the names in its folder, which comes before it, say that it is absent
            try:
                info = os.lstat(path)
                if stat.S_ISLNK(info.st_mode):
                    beyond[path] = os.stat(path)
            except (OSError, ValueError):
                absent.append(path)
            else:
                if stat.S_ISDIR(info.st_mode):
                    # Before it is described: what comes between the two shows in its times.
                    listed[path] = names_in(path, own)
                else:
                    state = described(info)
                    is_settled = max(state[-2:]) <= settled_ns
                    young += not is_settled
                    files.append(path)
                    states.extend(state if is_settled else _UNKNOWN)
        followed_states = [*map(described, beyond.values())]
        if young > _MOST_CHANGED or any(max(each[-2:]) > settled_ns for each in followed_states):
            return None
        states.extend(chain.from_iterable(followed_states))
        for path, now in listed.items():
            state = described(os.lstat(path))
            is_settled = max(state[-2:]) <= settled_ns
            if not is_settled and before.get(path) != now.hash:
                return None
            # One that we write to is known by its names alone.
            states.extend(state if is_settled else _UNKNOWN)
        others = sorted(ways.keys() - {*files, *listed})
        names = [each.hash for each in listed.values()]
        return cls(own, files, [*beyond], [*listed], names, absent, others, [*trees], states)

    def changed(self) -> dict[str, tuple[int, ...]] | None:
        """Return the files that are not as they were, with what they are like now; ``None`` where more has changed.

        Of a folder that has changed the names in it count.
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
        """Return them with files as they are now; one that was just changed may change again without a trace."""
        states = self.states[:]
        for number, path in enumerate(self.files):
            if path in changed:
                is_settled = max(changed[path][-2:]) <= now_ns - RACY_NS
                state = changed[path] if is_settled else _UNKNOWN
                states[number * _NUMBERS : (number + 1) * _NUMBERS] = array("q", state)
        return self._replace(states=states)

    def unknown(self, paths: Iterable[str]) -> list[str]:
        """Return those of some paths that neither are described nor are absent by the names in a listed folder."""
        known = {*self.files, *self.followed, *self.folders, *self.absent}
        listed = {*self.folders}
        return [
            path
            for path in paths
            if path not in known and (os.path.dirname(path) not in listed or os.path.lexists(path))
        ]

    def with_others(self, others: "Witnesses") -> "Witnesses":
        """Return these and ``others``, which describe none of the same paths."""
        states = array("q")
        for own, other in zip(self._states_by_kind(), others._states_by_kind(), strict=True):
            states += own + other
        lists = [[*own, *other] for own, other in zip(self[1:-1], others[1:-1], strict=True)]
        return Witnesses._make([self.own, *lists, states])

    def _states_by_kind(self) -> "list[array[int]]":
        ends = [*accumulate(_NUMBERS * len(paths) for paths in self[1:4])]
        return [self.states[start:end] for start, end in pairwise([0, *ends])]


def _ways_to(paths: Iterable[str]) -> dict[str, bool]:
    """Return all that lies above some paths, and above what links among that lead to: whether each is a link."""
    ways: dict[str, bool | None] = {}  # ``None`` of what is not there
    for path in paths:
        above = os.path.dirname(path)
        while above not in ways:
            try:
                ways[above] = stat.S_ISLNK(os.lstat(above).st_mode)
            except (OSError, ValueError):
                ways[above] = None
            if ways[above]:
                ways |= _ways_to([os.path.join(os.path.realpath(above), "")])
            above = os.path.dirname(above)
    return {way: is_link for way, is_link in ways.items() if is_link is not None}


def described(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


class Names(NamedTuple):
    """The names in a folder, and a hash of them and of what they are: files, folders, or links and where these lead."""

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
    return Names(folder, frozenset(entries), names_hash(entries.values()))


def names_hash(entries: Iterable[str]) -> str:
    from hashlib import blake2b  # most folders are as they were

    text = "\0".join(sorted(entries))
    return blake2b(text.encode(errors="surrogateescape"), digest_size=16).hexdigest()
