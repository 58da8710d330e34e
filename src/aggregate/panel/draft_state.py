"""A draft at one moment, and what came of saving it."""

from typing import NamedTuple

from aggregate.panel.draft import Draft
from aggregate.project.configuration import Project


class Saved(NamedTuple):
    """What came of saving.

    Attributes:
        is_merged: Whether the disk had changes of its own.
        sentence: For people.
    """

    is_merged: bool
    sentence: str


class DraftState(NamedTuple):
    """A draft at one moment, which nothing changes any more.

    Attributes:
        draft: The draft.
        project: As a project.
        exists: Whether there is a file.
        is_dirty: Whether the draft differs from it.
        can_undo: Whether there is a step back.
        can_redo: Whether there is a step that was undone.
        outside: Whether the file was changed since, while the draft has edits.
        problem: Why the file cannot be used as it is on the disk, ``""`` where it can.
    """

    draft: Draft
    project: Project
    exists: bool
    is_dirty: bool
    can_undo: bool
    can_redo: bool
    outside: bool
    problem: str
