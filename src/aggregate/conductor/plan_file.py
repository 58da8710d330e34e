"""``plan.md``: the tasks of a track, and their marks."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aggregate.conductor.checkboxes import Checkbox, lines_outside_fences, set_checkboxes

_TASK = re.compile(r"\s*[-*] \[(?P<mark>[ ~xX])\] (?P<text>.*?)\s*")
_PREFIX = re.compile(r"(?:Sub-?task|Task)(?: [0-9.]+)?: *", re.IGNORECASE)
_COMMIT = re.compile(r" +(?:\([0-9a-f]{7,40}\)|\[[0-9a-f]{7,40}\]|[0-9a-f]{7,40})$")


@dataclass(frozen=True, slots=True)
class PlanTask:
    """A task or sub-task of a plan.

    Attributes:
        text: What is to do, without ``Task:`` and without the commit at its end.
        mark: How far it is.
        offset: Where the mark stands in the plan's text.
    """

    text: str
    mark: Checkbox
    offset: int


def read_plan(text: str) -> list[PlanTask]:
    """Return the tasks and sub-tasks of a ``plan.md`` in order."""
    found = ((start, _TASK.fullmatch(line)) for start, line in lines_outside_fences(text))
    return [
        PlanTask(
            _COMMIT.sub("", _PREFIX.sub("", match["text"], count=1)),
            Checkbox(match["mark"].lower()),
            start + match.start("mark"),
        )
        for start, match in found
        if match
    ]


def tasks_of(tasks: Iterable[PlanTask], ticket_id: str, title: str) -> list[PlanTask]:
    """Return the tasks that a ticket stands for: those that read as its title, or name its id in backticks."""
    return [task for task in tasks if task.text == title or f"`{ticket_id}`" in task.text]


def mark_tasks(text: str, marks: Mapping[tuple[str, str], Checkbox]) -> str:
    """Return the plan with the marks of tickets (id and title) set; every other byte stays."""
    tasks = read_plan(text)
    offsets = {
        task.offset: mark for (ticket_id, title), mark in marks.items() for task in tasks_of(tasks, ticket_id, title)
    }
    return set_checkboxes(text, offsets)
