"""Replay discussions on real git histories: files change as the commits did, turns go through the public surface."""

import hashlib
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aggregate import Project, open_project
from aggregate.sending import Exchange, ModelSelection, prepare_turn, send_turn
from aggregate.sending.clients.client import ScriptedTransport, scripted_client
from simulation.git_history import SOURCES
from simulation.trees import git, write_config

STRATEGY = "auto"
"""How files are rendered in every simulation, whatever the configuration says (rule M-30)."""
MODEL = "claude-sonnet-5"
_RECENT = 400


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changes files of the project: what was asked for, and what was done."""

    name: str
    subject: str
    diff: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A work tree that holds some files of a clone, and the commits that change them, oldest first."""

    folder: Path
    paths: tuple[str, ...]
    commits: tuple[Commit, ...]
    globs: tuple[str, ...] = ()
    """What the configuration names instead of the paths: whole folders, whose files come and go."""

    def check_out(self, commit: str) -> None:
        """Bring the files to the state of a commit."""
        git(self.folder, "checkout", "-q", "--detach", commit)

    def configure(self, folder: Path) -> Path:
        """Write a configuration that shows the files, and return its path."""
        paths = [f'"{path}"' for path in self.globs or self.paths]
        return write_config(folder / "manual_slop.toml", paths, self.folder)


@dataclass(frozen=True, slots=True)
class SimTurn:
    """One turn: what was planned, and what came of it."""

    prepared: Exchange
    delivered: Exchange


def make_replay(
    clone: Path, folder: Path, *, commits: int, most_bytes: int, whole: bool = False
) -> Replay:
    """Check some files of a clone out into ``folder``, as they were just before its last ``commits`` that change them.

    The files are the source files of whole folders, those first that changed most often of late, as many as fit into
    ``most_bytes``; of a folder that is too large for itself as many files as fit. ``whole`` takes the folders as globs:
    files are added, deleted and renamed as the commits do.
    """
    paths = _chosen(clone, most_bytes)
    globs: tuple[str, ...] = ()
    if whole:
        folders = {(str(Path(path).parent), Path(path).suffix) for path in paths}
        globs = tuple(sorted(f"{name}/*{suffix}" for name, suffix in folders))
    # Git's own globs cross folders, where ours do not.
    watched = [f":(glob){glob.removeprefix('./')}" for glob in globs] or [*paths]
    log = git(clone, "log", "--first-parent", f"-n{commits}", "--format=%H%x00%s", "--", *watched)
    entries = [
        line.split("\0", 1) for line in reversed(log.decode("utf-8", "replace").splitlines())
    ]
    if len(entries) < commits:
        raise SystemExit(
            f"{clone} has only {len(entries)} commits that change its files, {commits} are needed"
        )
    found = tuple(Commit(name, subject, _diff(clone, name, watched)) for name, subject in entries)
    git(Path(), "clone", "-q", "--shared", "--no-checkout", str(clone), str(folder))
    _only(folder, [glob.removeprefix("./") for glob in globs] or paths)
    replay = Replay(folder, paths, found)
    replay.check_out(f"{found[0].name}^")
    there = tuple(path for path in paths if (folder / path).is_file())
    return Replay(folder, there, found, globs)


def _chosen(clone: Path, most_bytes: int) -> tuple[str, ...]:
    """Return source files of the newest state, sorted, up to a size in all."""
    sizes: dict[str, int] = {}
    for entry in (
        git(clone, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    ):
        head, _, path = entry.partition("\t")
        if Path(path).suffix in SOURCES and head.split()[-1].isdigit():
            sizes[path] = int(head.split()[-1])
    log = git(
        clone, "log", "--first-parent", f"-n{_RECENT}", "-m", "--format=", "--name-only", "-z"
    )
    changes = Counter(path.strip("\n") for path in log.decode("utf-8", "replace").split("\0"))
    folders: dict[str, list[str]] = {}
    for path in sorted(sizes, key=lambda path: hashlib.sha256(path.encode()).digest()):
        folders.setdefault(str(Path(path).parent), []).append(path)
    often = {folder: sum(changes[path] for path in paths) for folder, paths in folders.items()}
    chosen: list[str] = []
    left = most_bytes
    for folder in sorted(folders, key=lambda folder: (-often[folder], folder)):
        paths = folders[folder]
        if sum(sizes[path] for path in paths) <= left or not chosen:
            fitting = _fitting(paths, sizes, left)
            chosen += fitting
            left -= sum(sizes[path] for path in fitting)
    return tuple(sorted(chosen))


def _fitting(paths: Sequence[str], sizes: Mapping[str, int], most_bytes: int) -> list[str]:
    """Return the paths that fit, tried one after the other."""
    chosen, total = [], 0
    for path in paths:
        if total + sizes[path] <= most_bytes:
            chosen.append(path)
            total += sizes[path]
    return chosen


def _diff(clone: Path, commit: str, paths: Sequence[str]) -> str:
    return git(
        clone, "show", "--first-parent", "-m", "--format=%B", "-U1", commit, "--", *paths
    ).decode("utf-8", "replace")


def _only(folder: Path, paths: Sequence[str]) -> None:
    """Keep the work tree to some files: a clone may lack its largest ones."""
    command = ["git", "-C", str(folder), "sparse-checkout", "set", "--no-cone", "--stdin"]
    patterns = "".join(f"/{path}\n" for path in paths).encode()
    environ = {**os.environ, "LC_ALL": "C"}
    subprocess.run(command, check=True, capture_output=True, input=patterns, env=environ)


def run_sim(
    config: Path,
    messages: Iterable[str],
    *,
    answers: Sequence[str] = (),
    before: Callable[[int], None] = lambda turn: None,
) -> Iterator[SimTurn]:
    """Send messages one after the other to the scripted client, and yield each turn once it is answered.

    Args:
        config: A project's ``manual_slop.toml``; prompts and the discussion are written where it says.
        messages: What is said.
        answers: What is answered, turn by turn; by default a line about what was sent.
        before: Called with the number of each turn, from 0, before its files are read.
    """
    for number, message in enumerate(messages):
        before(number)
        project = _fixed(open_project(config))
        prepared = prepare_turn(project, message, ModelSelection(provider="scripted", model=MODEL))
        if number < len(answers):
            prepared = _with_answer(prepared, answers[number])
        yield SimTurn(prepared, send_turn(prepared))


def _fixed(project: Project) -> Project:
    table = replace(project.config.project, aggregation_strategy=STRATEGY)
    return replace(project, config=replace(project.config, project=table))


def _with_answer(prepared: Exchange, answer: str) -> Exchange:
    transport = prepared.client.transport
    cache = transport.cache if isinstance(transport, ScriptedTransport) else None
    client = scripted_client(iter([answer]), cache=cache, model=prepared.client.model)
    return replace(prepared, client=client)
