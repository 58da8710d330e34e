"""The marks of the Conductor's files: one character between brackets, changed in place and nothing else."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import accumulate


class Checkbox(StrEnum):
    """How far a task or a track is: the character between the brackets."""

    OPEN = " "
    STARTED = "~"
    DONE = "x"


def set_checkboxes(text: str, marks: Mapping[int, Checkbox]) -> str:
    """Return ``text`` with the characters at the given offsets replaced; every other byte stays."""
    characters = list(text)
    for offset, mark in marks.items():
        characters[offset] = mark.value
    return "".join(characters)


def lines_outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of each line that is no part of a fenced block."""
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    fence = ""
    for start, line in zip(starts, lines, strict=False):
        stripped = line.strip()
        run = stripped[: len(stripped) - len(stripped.lstrip(stripped[:1]))] if stripped[:1] in ("`", "~") else ""
        if fence:
            if run.startswith(fence) and run == stripped:
                fence = ""
        elif len(run) >= 3:
            fence = run
        else:
            yield start, line
