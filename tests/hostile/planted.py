"""A program that a hostile project would like to have run, and what tells whether it was."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Planted:
    """A program that leaves a mark when it runs.

    Attributes:
        path: The program.
        mark: The file that it makes.
    """

    path: Path
    mark: Path

    @property
    def was_run(self) -> bool:
        return self.mark.exists()


def plant(folder: Path, name: str = "planted", *, says: str = "") -> Planted:
    """Put a program called ``name`` into ``folder``; it makes a file beside itself, prints ``says`` and fails."""
    folder.mkdir(parents=True, exist_ok=True)
    program, mark = folder / name, folder / f"{name}.was-run"
    program.write_text(f"#!/bin/sh\n: > '{mark}'\nprintf '%s' '{says}'\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    return Planted(program, mark)
