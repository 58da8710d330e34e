"""The checkboxes of the Conductor's files: one character between brackets, changed in place and nothing else."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import accumulate


class Checkbox(StrEnum):
    """How far a task or a track is: the character between the brackets."""

    OPEN = " "
    STARTED = "~"
    DONE = "x"


def set_checkboxes(text: str, checkboxes: Mapping[int, Checkbox]) -> str:
    """Return ``text`` with the characters at the given offsets replaced; every other byte stays."""
    characters = list(text)
    for offset, checkbox in checkboxes.items():
        characters[offset] = checkbox.value
    return "".join(characters)


def lines_outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of each line that is no part of a fenced block."""
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    open_fence = ""
    for start, line in zip(starts, lines, strict=False):
        stripped = line.strip()
        run = _fence_characters(stripped)
        if open_fence:
            if run.startswith(open_fence) and run == stripped:
                open_fence = ""
        elif len(run) >= 3:
            open_fence = run
        else:
            yield start, line


def _fence_characters(line: str) -> str:
    """Return the backticks or tildes that a line begins with."""
    character = line[:1]
    if character not in ("`", "~"):
        return ""
    return line[: len(line) - len(line.lstrip(character))]
