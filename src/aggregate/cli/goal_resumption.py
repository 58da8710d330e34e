"""Goals that were interrupted: how one is recorded, and how another process goes on with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from aggregate.agents.goals import (
    RecordedGoal,
    new_record,
    recorded,
    records_folder,
    unfinished_goals,
)
from aggregate.base.errors import StateError
from aggregate.cli.output import say, warn

REPEAT: Final = "repeat"
_SHOWN: Final = 200
"""Characters of a call's arguments in a message."""


def resumption_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``resume`` and ``interrupted``."""
    resume = click.option(
        "--resume",
        metavar="N",
        type=click.IntRange(min=1),
        help="Go on with goal N, which was interrupted; give the other options as before.",
    )
    interrupted = click.option(
        "--interrupted",
        type=click.Choice([REPEAT, "skip"]),
        help="With --resume: make a call that was running once more, or take it as failed. Only calls that may do "
        "something twice need this.",
    )
    return resume(interrupted(command))


def begin_record(config: Path, goal: str, *, steps: int) -> tuple[int, RecordedGoal | None]:
    """Return the number and the record of a project's new goal; where it cannot be recorded, a warning says so.

    A goal of the same text that was interrupted is named: it may be what the user wants to go on with.
    """
    folder = records_folder(config.parent)
    for note in unfinished_goals(folder):
        if note.goal == goal:
            say(
                f"aggregate: goal {note.number}, the same, was interrupted: "
                f"go on with it by aggregate goal --resume {note.number}"
            )
            break
    try:
        return new_record(folder, goal, steps=steps)
    except StateError as error:
        warn(f"the goal is not recorded and cannot be resumed: {error}")
        return 0, None


def resume_record(config: Path, number: int, interrupted: str | None) -> RecordedGoal:
    """Return the record of the goal to go on with, one of the project with this configuration.

    Raises:
        StateError: There is none, or another process works on it.
        UsageError: A call was running that may do something twice, and the user has not said what becomes of it.
    """
    folder = records_folder(config.parent)
    record = recorded(folder, number, repeat=interrupted == REPEAT)
    calls = record.unfinished()
    if calls and interrupted is None:
        record.close()
        named = "; ".join(f"{call.tool}({call.arguments[:_SHOWN]})" for call in calls)
        raise click.UsageError(
            f"when goal {number} was interrupted this was running, and may have been done: {named}: look whether it "
            "was, then add --interrupted skip, or --interrupted repeat to have it done once more"
        )
    return record
