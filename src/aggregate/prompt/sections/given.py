"""What the user says around the files: the task, instructions, what a command has printed (rules T-7 and T-8)."""

import re
from collections.abc import Sequence

from aggregate.base.messages import shorten
from aggregate.base.request import Given
from aggregate.base.text import as_seen, fence, first_line, heading_text, leaves_open
from aggregate.prompt.document import Section, Segment, Stability

TASK = "the task"
_LONGEST_NAME = 100  # Characters of a project's name
_LONGEST_TASK = 200  # Characters of the task at the top, which stands in full at the end
_DIGITS = 12  # Of a commit's id: as many as tell it from all others
_MARKS = (
    "A line `...`, or a comment such as `# ...12` of 12 lines, stands for lines that are left out."
)
# A line that is a heading of its own, or makes one of the line above it.
_HEADING = re.compile(r"^[^\w\n]*#{1,6}(?:[ \t]|$)|^[ \t>]*(?:=+|-+)[ \t]*$", re.MULTILINE)


_OVERVIEW = (
    " This is an overview: the tree with what its folders hold, what the project says of itself, how it is built and "
    "where it starts, and the central definitions of each large folder."
)


def project_segment(name: str, *, is_overview: bool = False) -> Segment:
    """Return the line before the files, which has the same bytes in each prompt of a project."""
    more = _OVERVIEW if is_overview else ""
    whose = f"the project {heading_text(shorten(name, _LONGEST_NAME))}" if name else "a project"
    return Segment(Section.PROJECT, f"Parts of {whose}.{more} {_MARKS}", Stability.STABLE)


def task_line(words: str) -> Segment | None:
    """Return the first line of the task for the top of a prompt, ``None`` where it says nothing."""
    line = heading_text(first_line(words, _LONGEST_TASK))
    text = f"- Task, in full at the end: {line}"
    return Segment(Section.PROJECT, text, Stability.VOLATILE) if line else None


def task_segment(
    words: str, *, commit: str = "", since: str = "", note: str = ""
) -> Segment | None:
    """Return the task as the end of a prompt, ``None`` where it says nothing.

    Args:
        words: Those of the task.
        commit: The id of the last commit, ``""`` where there is none.
        since: A revision; what has changed since then belongs to the task.
        note: A sentence about what the prompt shows, such as that it is a guess.
    """
    changes = f", with the changes since {heading_text(since)}" if since else ""
    revision = f"Revision: {commit[:_DIGITS]}{changes}" if commit else ""
    parts = [part for part in (revision, note, quoted(words.strip())) if part]
    text = "\n\n".join(["## Task", *parts])
    return Segment(Section.TASK, text, Stability.VOLATILE, TASK) if parts else None


def instructions_section(given: Sequence[Given]) -> tuple[Segment, ...]:
    return tuple(
        Segment(
            Section.INSTRUCTIONS,
            f"## Instructions\n\n{quoted(each.text.strip())}",
            Stability.STABLE,
            each.title,
        )
        for each in given
    )


def attached_section(given: Sequence[Given]) -> tuple[Segment, ...]:
    blocks = [
        (fence(each.text, "text", before=f"### {heading_text(each.title)}\n\n"), each.title)
        for each in given
    ]
    parts = [("## Attached", ""), *blocks] if blocks else []
    return tuple(
        Segment(Section.ATTACHED, text, Stability.VOLATILE, title) for text, title in parts
    )


def cut_middle(text: str, characters: int) -> str:
    """Return about so many characters of a text's beginning and end, and between them what is left out."""
    if len(text) <= characters:
        return text
    half = characters // 2
    head, tail = text[:half], text[len(text) - half :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :]
    left = text[len(head) : len(text) - len(tail)]
    number = f"{left.count(chr(10)):,} lines" if "\n" in left else f"{len(left):,} characters"
    end = "\n" if head and not head.endswith("\n") else ""
    return f"{head}{end}[... {number} left out ...]\n{tail}"


def quoted(text: str) -> str:
    """Return a text as it is, or in a fence where a line of it could pass for a heading or hide what follows."""
    return fence(text, "text") if leaves_open(text) or _HEADING.search(as_seen(text)) else text
