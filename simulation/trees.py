"""Make projects and histories to run on: repositories, many files, a configuration."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

_PER_FOLDER = 1_000


def git(clone: Path, *arguments: str) -> bytes:
    """Run git in a clone that may have no work tree, and return what it prints."""
    return subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "-C", str(clone), *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
    ).stdout


def commit_all(tree: Path) -> None:
    """Make a repository with one commit of a folder."""
    who = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "gc.auto=0"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        git(tree, *who, *arguments)


def copy_many(files: Sequence[Path], target: Path, number: int) -> None:
    """Write many copies of files, each with a line that no other has, a thousand to a folder."""
    texts = [path.read_bytes() for path in files]
    for place in range(number):
        folder = target / f"{place // _PER_FOLDER:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        source, text = files[place % len(files)], texts[place % len(files)]
        line = f"\ncopy_{place} = {place}\n".encode()
        (folder / f"{source.stem}_{place:06d}{source.suffix}").write_bytes(text + line)


def write_config(
    config: Path, paths: Iterable[str], base_dir: str | Path, more: str = "", *, name: str = "demo"
) -> Path:
    """Write a configuration of some ``paths``, each as TOML writes it, and return its path."""
    config.write_text(
        f'[project]\nname = "{name}"\n[files]\nbase_dir = "{base_dir}"\npaths = [{", ".join(paths)}]\n{more}',
        encoding="utf-8",
    )
    return config


def write_track(folder: Path, track: str, tickets: str, *, files: str = "") -> Path:
    """Write a project with one track and return its folder."""
    tracks = folder / "conductor" / "tracks"
    (tracks / track).mkdir(parents=True)
    write_config(
        folder / "manual_slop.toml", [f'"{files}"'] if files else [], ".", name=folder.name
    )
    entry = f"# Project Tracks\n\n- [ ] **Track: One**\n*Link: [./tracks/{track}/](./tracks/{track}/)*\n"
    tracks.with_name("tracks.md").write_text(entry, encoding="utf-8")
    (tracks / track / "tickets.toml").write_text(tickets, encoding="utf-8")
    return folder
