"""Sections shortened to a token limit, and those of the user's texts (rules T-7 and T-8)."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from aggregate.base.messages import shorten
from aggregate.base.task_budget import Given
from aggregate.base.text import as_seen, fence, first_line, heading_text, leaves_open
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability

Count = Callable[[str], int]
NO_ROOM = "the section's share of the budget is used up"
TASK = "the task"
_LONGEST_NAME = 100  # characters of a project's name
_LONGEST_TASK = 200  # characters of the task's first line at the top
_DIGITS = 12  # of a commit's id
_CHARACTERS = 8  # upper bound of characters per token
_MARKS = (
    "A line `...`, or a comment such as `# ...12` of 12 lines, stands for lines that are left out."
)
# A heading, or an underline that turns the line above into one.
_HEADING = re.compile(r"^[^\w\n]*#{1,6}(?:[ \t]|$)|^[ \t>]*(?:=+|-+)[ \t]*$", re.MULTILINE)
_OVERVIEW = (
    " This is an overview: the tree with what its folders hold, what the project says of itself, how it is built and "
    "where it starts, and the central definitions of each large folder."
)
_SELECTED = " It covers only the files that the configuration or the command line selects."


class FittedSection(NamedTuple):
    """A section shortened to a token limit, with its cuts."""

    segments: tuple[Segment, ...] = ()
    tokens: int = 0
    needed: int = 0  # tokens of the whole section
    cuts: tuple[Cut, ...] = ()  # for the audit (rule A-4)


def tokens_of(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)


def largest_size(
    lay_out: Callable[[int], Sequence[Segment]], whole: int, limit: int, count: Count
) -> int:
    """Return the largest size of a section with ``limit`` tokens more than its size 0.

    ``lay_out`` returns the section in a size from 0 to ``whole``; a larger size has more tokens.
    """

    def tokens(size: int) -> int:
        return tokens_of(lay_out(size), count)

    most = tokens(0) + limit
    if tokens(whole) <= most:
        return whole
    return max(bisect_right(range(whole), most, key=tokens) - 1, 0)


def project_segment(name: str, *, is_overview: bool = False, is_whole: bool = False) -> Segment:
    """Return the line about the project before the files, which all its prompts share."""
    scope = "" if is_whole else _SELECTED
    more = f"{_OVERVIEW}{scope}" if is_overview else ""
    project = f"the project {heading_text(shorten(name, _LONGEST_NAME))}" if name else "a project"
    return Segment(Section.PROJECT, f"Parts of {project}.{more} {_MARKS}", Stability.STABLE)


def task_line(words: str) -> Segment | None:
    """Return the task's first line for the top of a prompt, ``None`` without a task."""
    line = heading_text(first_line(words, _LONGEST_TASK))
    text = f"- Task, in full at the end: {line}"
    return Segment(Section.PROJECT, text, Stability.VOLATILE) if line else None


def task_segment(
    words: str, *, commit: str = "", since: str = "", note: str = ""
) -> Segment | None:
    """Return the section of the task.

    It is at the end of a prompt. Without a task return ``None``. ``commit`` is the last commit's id, ``since`` the
    revision of shown changes. ``note`` is an additional sentence, for example if the choice of files is a guess.
    """
    changes = f", with the changes since {heading_text(since)}" if since else ""
    revision = f"Revision: {commit[:_DIGITS]}{changes}" if commit else ""
    parts = [part for part in (revision, note, quoted(words.strip())) if part]
    text = "\n\n".join(["## Task", *parts])
    return Segment(Section.TASK, text, Stability.VOLATILE, TASK) if parts else None


def instructions_section(texts: Sequence[Given]) -> tuple[Segment, ...]:
    stable = Stability.STABLE
    return tuple(
        Segment(Section.INSTRUCTIONS, f"## Instructions\n\n{quoted(text.strip())}", stable, title)
        for title, text in texts
    )


def attached_section(texts: Sequence[Given]) -> tuple[Segment, ...]:
    parts = [("## Attached", "")] if texts else []
    for title, text in texts:
        parts.append((fence(text, "text", before=f"### {heading_text(title)}\n\n"), title))
    return tuple(
        Segment(Section.ATTACHED, text, Stability.VOLATILE, title) for text, title in parts
    )


def fit_given(
    lay_out: Callable[[Sequence[Given]], tuple[Segment, ...]],
    texts: Sequence[Given],
    limit: int,
    count: Count,
) -> FittedSection:
    """Return the section of the user's texts in ``limit`` tokens; long texts lose their middle."""
    complete = lay_out(texts)
    needed = tokens_of(complete, count)
    if needed <= limit:
        return FittedSection(complete, needed, needed)

    def shortened(characters: int) -> tuple[Segment, ...]:
        parts = [text._replace(text=cut_middle(text.text, characters)) for text in texts]
        return lay_out(parts) if characters else ()

    segments = shortened(largest_size(shortened, limit * _CHARACTERS, limit, count))
    tokens = tokens_of(segments, count)
    cut = Cut(complete[0].section.value, "the middle", needed - tokens, NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,))


def cut_middle(text: str, characters: int) -> str:
    """Shorten a text to about ``characters`` characters; a mark replaces its middle."""
    if len(text) <= characters:
        return text
    half = characters // 2
    head, tail = text[:half], text[len(text) - half :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :]
    omitted = text[len(head) : len(text) - len(tail)]
    lines = omitted.count("\n")
    number = f"{lines:,} lines" if lines else f"{len(omitted):,} characters"
    end = "\n" if head and not head.endswith("\n") else ""
    return f"{head}{end}[... {number} left out ...]\n{tail}"


def quoted(text: str) -> str:
    """Fence a text if it could forge a heading or hide the following sections."""
    return fence(text, "text") if leaves_open(text) or _HEADING.search(as_seen(text)) else text
