"""Sections shortened to a token limit, and those of the user's texts (rules T-7 and T-8)."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from aggregate.base.task_budget import Given
from aggregate.base.text import as_seen, fence, heading_text, leaves_open
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability

Count = Callable[[str], int]
NO_ROOM = "the section's share of the budget is used up"
CHARACTERS = 8  # upper bound of characters per token
# A heading, or an underline that turns the line above into one.
_HEADING = re.compile(r"^[^\w\n]*#{1,6}(?:[ \t]|$)|^[ \t>]*(?:=+|-+)[ \t]*$", re.MULTILINE)


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

    segments = shortened(largest_size(shortened, limit * CHARACTERS, limit, count))
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
