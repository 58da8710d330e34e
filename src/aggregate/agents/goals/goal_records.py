"""The records of a project's goals, by number, in the user's own state folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aggregate.agents.goals.recorded_goal import RecordedGoal, delete_record, open_record
from aggregate.base.disk import create_private, private_folder, state_folder, without_links
from aggregate.base.errors import OutputError, StateError

FOLDER: Final = "goals"
KEPT: Final = 10
"""Records, all of goals that were interrupted: an older one is hardly gone on with."""
_SUFFIX: Final = ".sqlite"
_TRIES: Final = 50
"""How many other processes may take the next number first."""


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A goal that has not come to its end.

    Attributes:
        number: Of its record.
        goal: Its text.
    """

    number: int
    goal: str


def records_folder(project: Path) -> Path:
    """Return the folder of the records of goals for the project at ``project``; nothing is made."""
    return state_folder(project) / FOLDER


def new_record(folder: Path, goal: str, *, steps: int) -> tuple[int, RecordedGoal]:
    """Make the record of a new goal under the next free number; the oldest ones are deleted.

    Raises:
        StateError: It cannot be made.
    """
    try:
        private_folder(without_links(folder))
        number = _take_number(folder)
    except (OSError, OutputError) as error:
        raise StateError(f"{folder}: the goal cannot be recorded: {error}") from error
    record = open_record(_path(folder, number))
    record.describe(goal, steps=steps)
    _forget_old(folder)
    return number, record


def recorded(folder: Path, number: int, *, repeat: bool = False) -> RecordedGoal:
    """Open the record of goal ``number``.

    Raises:
        StateError: There is none, another process works on it, or it cannot be used.
    """
    path = _path(folder, number)
    if not path.is_file():
        raise StateError(f"there is no goal {number} to go on with{_listed(folder)}")
    record = open_record(path, repeat=repeat)
    if not record.goal:
        record.close()
        raise StateError(f"goal {number} was ended before it had begun: begin it anew")
    return record


def unfinished_goals(folder: Path) -> list[GoalNote]:
    """Return the goals that have not come to their end and that no process works on, the newest first."""
    notes = []
    for number, record in _open_records(folder):
        if record.begun and not record.ended:
            notes.append(GoalNote(number, record.goal))
    return notes


def _open_records(folder: Path) -> Iterator[tuple[int, RecordedGoal]]:
    """Yield the records that can be opened, the newest first; each is closed again."""
    for number in sorted(_numbers(folder), reverse=True):
        try:
            record = open_record(_path(folder, number))
        except StateError:  # another process works on it, or it is damaged
            continue
        try:
            yield number, record
        finally:
            record.close()


def _listed(folder: Path) -> str:
    notes = unfinished_goals(folder)
    return (
        ": there are " + "; ".join(f"{note.number}, {note.goal[:60]}" for note in notes[:5])
        if notes
        else ""
    )


def _numbers(folder: Path) -> list[int]:
    names = [path.stem for path in folder.glob(f"*{_SUFFIX}")] if folder.is_dir() else []
    return [int(name) for name in names if name.isdecimal()]


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}{_SUFFIX}"


def _take_number(folder: Path) -> int:
    """Make the file of the next free number, so that no other process takes it.

    Raises:
        OSError: It cannot be made.
    """
    number = max(_numbers(folder), default=0)
    for _ in range(_TRIES):
        number += 1
        try:
            os.close(create_private(_path(folder, number)))
        except FileExistsError:  # another process was faster
            continue
        return number
    raise OSError(f"{_TRIES} other goals were begun at the same moment")


def _forget_old(folder: Path) -> None:
    """Delete the oldest records where there are too many, but for those that a process works on."""
    for number in sorted(_numbers(folder), reverse=True)[KEPT:]:
        try:
            open_record(_path(folder, number)).close()
        except StateError:
            continue
        delete_record(_path(folder, number))
