"""``plan.md``: the tasks of a track, and their checkboxes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aggregate.agents.tracks.checkboxes import Checkbox, lines_outside_fences, set_checkboxes

_TASK = re.compile(r"\s*[-*] \[(?P<mark>[ ~xX])\] (?P<text>.*?)\s*")
_PREFIX = re.compile(r"(?:Sub-?task|Task)(?: [0-9.]+)?: *", re.IGNORECASE)
_COMMIT = re.compile(r" +(?:\([0-9a-f]{7,40}\)|\[[0-9a-f]{7,40}\]|[0-9a-f]{7,40})$")


@dataclass(frozen=True, slots=True)
class PlanTask:
    """A task or sub-task of a plan.

    Attributes:
        text: What is to do, without ``Task:`` and without the commit at its end.
        checkbox: How far it is.
        offset: Where the checkbox stands in the plan's text.
    """

    text: str
    checkbox: Checkbox
    offset: int


def read_plan(text: str) -> list[PlanTask]:
    """Return the tasks and sub-tasks of a ``plan.md`` in order."""
    tasks: list[PlanTask] = []
    for start, line in lines_outside_fences(text):
        match = _TASK.fullmatch(line)
        if match is None:
            continue
        words = _PREFIX.sub("", match["text"], count=1)
        checkbox = Checkbox(match["mark"].lower())
        tasks.append(PlanTask(_COMMIT.sub("", words), checkbox, start + match.start("mark")))
    return tasks


def tasks_of(tasks: Iterable[PlanTask], ticket_id: str, title: str) -> list[PlanTask]:
    """Return the tasks that a ticket stands for: those that read as its title, or name its id in backticks."""
    return [task for task in tasks if task.text == title or f"`{ticket_id}`" in task.text]


def mark_tasks(text: str, checkboxes: Mapping[tuple[str, str], Checkbox]) -> str:
    """Return the plan with the checkboxes of tickets (id and title) set; every other byte stays."""
    tasks = read_plan(text)
    by_offset: dict[int, Checkbox] = {}
    for (ticket_id, title), checkbox in checkboxes.items():
        for task in tasks_of(tasks, ticket_id, title):
            by_offset[task.offset] = checkbox
    return set_checkboxes(text, by_offset)
