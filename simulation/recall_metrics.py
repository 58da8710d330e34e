"""How much of what a commit changes a prompt shows, by the prompt's text alone.

Nothing here asks the program that is measured what it has shown: the blocks of files are read from the markdown, and a
line counts where its own text stands there, in its own place.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from simulation.task_commits import ChangedFile, TaskCommit

Blocks = Mapping[str, Sequence[str]]
"""The lines that a prompt shows under each file's path."""

_HEADING = re.compile(r"### File (?P<path>.+)(?<! \(excluded\))")
_FENCE = re.compile(r"(?P<ticks>`{3,})[^`]*")


class Recall(NamedTuple):
    """Shares of what a commit changes, ``0`` to ``1``."""

    file: float
    definition: float | None
    line: float
    file_with_tests: float
    line_with_tests: float


def read_blocks(markdown: str, heading: re.Pattern[str] = _HEADING) -> dict[str, list[str]]:
    """Return the lines of each file's fenced block below its heading, as ours is ``### File PATH``.

    A heading inside a fence is content. A path in backticks is taken without them.
    """
    blocks: dict[str, list[str]] = {}
    path, ticks = "", ""
    for line in markdown.split("\n"):
        if ticks:
            if line == ticks:
                path, ticks = "", ""
            elif path:
                blocks[path].append(line)
        elif match := _FENCE.fullmatch(line):
            ticks = match["ticks"]
        elif match := heading.fullmatch(line):
            path = match["path"].strip("`")
            blocks.setdefault(path, [])
        elif line.startswith("#"):
            path = ""
    return blocks


def shown_lines(shown: Sequence[str], text: str) -> set[int]:
    """Return which lines of ``text`` stand in ``shown`` verbatim; 1-based.

    Many lines of a program are the same, such as ``}``. So a line that the file has once counts where it is shown;
    another one only in an unbroken run of the file's lines that holds such a line.
    """
    lines = text.split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    once = {line for line, count in Counter(lines).items() if count == 1 and line.strip()}
    numbers = {line: number for number, line in enumerate(lines) if line in once}
    found: set[int] = set()
    for at, line in enumerate(shown):
        place = numbers.get(line.removesuffix("\r"))
        if place is None or place in found:
            continue
        found.add(place)
        for step in (-1, 1):
            ours, theirs = place + step, at + step
            while (
                0 <= ours < len(lines)
                and 0 <= theirs < len(shown)
                and lines[ours] == shown[theirs].removesuffix("\r")
            ):
                found.add(ours)
                ours, theirs = ours + step, theirs + step
    return {place + 1 for place in found}


def recall(commit: TaskCommit, blocks: Blocks) -> Recall:
    """Return how much of what ``commit`` changes stands in ``blocks``."""
    shown = {file.path: shown_lines(blocks.get(file.path, ()), file.text) for file in commit.files}
    definitions = [
        changed.signature in shown[file.path] or bool(shown[file.path].intersection(changed.lines))
        for file in commit.sources
        for changed in changed_definitions(file)
    ]
    return Recall(
        _mean(_has_content(blocks, file) for file in commit.sources),
        _mean(definitions) if definitions else None,
        _mean(number in shown[file.path] for file in commit.sources for number in file.lines),
        _mean(_has_content(blocks, file) for file in commit.files),
        _mean(number in shown[file.path] for file in commit.files for number in file.lines),
    )


class ChangedDefinition(NamedTuple):
    """An innermost definition around changed lines, the line of its signature that names it, and those lines."""

    name: str
    signature: int
    lines: tuple[int, ...]


def changed_definitions(file: ChangedFile) -> list[ChangedDefinition]:
    """Return the innermost definitions around the changed lines of a file."""
    from aggregate.code.syntax import language_of, read_definitions

    language = language_of(file.path, file.text)
    if language is None:
        return []
    module = read_definitions(file.text, language)
    inside: dict[tuple[int, int, int], list[int]] = {}
    for number in file.lines:
        around = [
            (definition.depth, definition.first_line, place)
            for place, definition in enumerate(module.definitions)
            if definition.first_line <= number <= definition.last_line
        ]
        if around:
            inside.setdefault(max(around), []).append(number)
    lines_of_file = file.text.split("\n")
    found = []
    for (_, first, place), lines in sorted(inside.items()):
        name = "".join(module.definitions[place].path[-1:])
        signature = _signature(lines_of_file, first, name)
        found.append(ChangedDefinition(name, signature, tuple(lines)))
    return found


def _signature(lines: Sequence[str], first: int, name: str) -> int:
    """Return the line of a definition that names it: the first one with its name that is no decorator or attribute."""
    for number in range(first, len(lines) + 1):
        line = lines[number - 1]
        if name in line and not line.lstrip().startswith(("@", "#[")):
            return number
    return first


def _has_content(blocks: Blocks, file: ChangedFile) -> bool:
    return any(line.strip() for line in blocks.get(file.path, ()))


def _mean(values: Iterable[float]) -> float:
    collected = list(values)
    return sum(collected) / len(collected) if collected else 0.0
