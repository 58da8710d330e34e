"""A project on a real git history: its files change as the commits did."""

import hashlib
import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation.git_history import SOURCES, git

_RECENT = 400


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changes files of the project: what was asked for, and what was done."""

    name: str
    subject: str
    diff: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A work tree that holds some files of a clone, and the commits that change them, oldest first.

    Attributes:
        folder: The work tree.
        paths: The files, all of which exist at the first commit.
        commits: The work tree begins just before the first of them.
    """

    folder: Path
    paths: tuple[str, ...]
    commits: tuple[Commit, ...]

    def check_out(self, commit: str) -> None:
        """Bring the files to the state of a commit."""
        git(self.folder, "checkout", "-q", "--detach", commit)


def make_replay(
    clone: Path, folder: Path, *, commits: int, most_bytes: int, hardest: bool
) -> Replay:
    """Check some files of a clone out into ``folder``, as they were some commits ago.

    The files are the source files of whole folders, those first that changed most often of late, as many as fit; of a
    folder that is too large for itself as many files as fit. No file is too long. The hardest choice for a cache is the
    single files that changed most often.

    Args:
        clone: A git repository, with or without a work tree; nothing is written to it.
        folder: A new folder.
        commits: How many commits to replay, the last ones that change one of the files.
        most_bytes: How large the files may be together.
        hardest: Whether to take the files that changed most often.
    """
    paths = _chosen(clone, most_bytes, hardest=hardest)
    log = git(clone, "log", "--first-parent", f"-n{commits}", "--format=%H%x00%s", "--", *paths)
    entries = [
        line.split("\0", 1) for line in reversed(log.decode("utf-8", "replace").splitlines())
    ]
    if len(entries) < commits:
        raise SystemExit(
            f"{clone} has only {len(entries)} commits that change its files, {commits} are needed"
        )
    found = tuple(Commit(name, subject, _diff(clone, name, paths)) for name, subject in entries)
    subprocess.run(
        ["git", "clone", "-q", "--shared", "--no-checkout", str(clone), str(folder)], check=True
    )
    _only(folder, paths)
    replay = Replay(folder, paths, found)
    replay.check_out(f"{found[0].name}^")
    there = tuple(path for path in paths if (folder / path).is_file())
    return Replay(folder, there, found)


def _chosen(clone: Path, most_bytes: int, *, hardest: bool) -> tuple[str, ...]:
    """Return source files of the newest state, sorted, up to a size in all."""
    listed = git(clone, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    sizes = {
        path: int(size)
        for entry in listed
        if entry
        for size, path in [_size_and_path(entry)]
        if size.isdigit()
    }
    sizes = {path: size for path, size in sizes.items() if Path(path).suffix in SOURCES}
    changes = _changes(clone)
    if hardest:
        files = sorted(sizes, key=lambda path: (-changes[path], _hash(path)))
        return _fitting(files, sizes, most_bytes)
    folders: dict[str, list[str]] = {}
    for path in sorted(sizes, key=_hash):
        folders.setdefault(str(Path(path).parent), []).append(path)
    often = {folder: sum(changes[path] for path in paths) for folder, paths in folders.items()}
    chosen: tuple[str, ...] = ()
    for folder in sorted(folders, key=lambda folder: (-often[folder], folder)):
        paths = folders[folder]
        left = most_bytes - sum(sizes[path] for path in chosen)
        if sum(sizes[path] for path in paths) <= left or not chosen:
            chosen += _fitting(paths, sizes, left)
    return tuple(sorted(chosen))


def _fitting(paths: Sequence[str], sizes: Mapping[str, int], most_bytes: int) -> tuple[str, ...]:
    """Return the paths that fit, tried one after the other, sorted."""
    chosen, total = [], 0
    for path in paths:
        if total + sizes[path] <= most_bytes:
            chosen.append(path)
            total += sizes[path]
    return tuple(sorted(chosen))


def _hash(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()


def _changes(clone: Path) -> Counter[str]:
    """Return how many of the last commits changed each file."""
    log = git(
        clone, "log", "--first-parent", f"-n{_RECENT}", "-m", "--format=", "--name-only", "-z"
    )
    return Counter(path.strip("\n") for path in log.decode("utf-8", "replace").split("\0"))


def _size_and_path(entry: str) -> tuple[str, str]:
    head, path = entry.split("\t", 1)
    return head.split()[-1], path


def _diff(clone: Path, commit: str, paths: tuple[str, ...]) -> str:
    return git(
        clone, "show", "--first-parent", "-m", "--format=%B", "-U1", commit, "--", *paths
    ).decode("utf-8", "replace")


def _only(folder: Path, paths: tuple[str, ...]) -> None:
    """Keep the work tree to some files: a clone may lack its largest ones."""
    patterns = "".join(f"/{path}\n" for path in paths)
    command = ["git", "-C", str(folder), "sparse-checkout", "set", "--no-cone", "--stdin"]
    subprocess.run(
        command,
        check=True,
        capture_output=True,
        input=patterns.encode(),
        env={**os.environ, "LC_ALL": "C"},
    )
