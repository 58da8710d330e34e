"""The examples of a page: what is run, what it prints, and what the page says that it prints.

Every page is run from its first block to its last, in one folder and with one home folder of its own, so that a
reader who follows it gets what it shows. Blocks of ``console`` hold commands behind ``$``, each with its output,
standard error among it; blocks of ``python`` may be followed by one of ``text`` with what they print. A comment
``<!-- not run: REASON -->`` before a block leaves it out, and ``<!-- fails -->`` says that its last command ends with
another exit code than 0. A line ``...`` stands for any lines. Blocks of ``sh`` list commands for a reader's own
project; no more of them is asked than that ``aggregate`` has such commands and options.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docs_build.pages import FENCE

RUNNABLE = ("console", "python")
"""The kinds of blocks that are run."""
_NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
_FAILS = "<!-- fails -->"
LEFT_OUT = ("...", "…")

_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"), "DATE"),
    (re.compile(r"(?<=_)20\d{6}(?=[_/\s]|$)"), "DAY"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|seconds)\b"), "TIME"),
)
"""What differs from run to run: days and times, durations."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    kind: str
    first: int
    lines: tuple[str, ...]
    is_run: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block."""

    text: str
    first: int
    output: tuple[str, ...]


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if fence is None:
            number += 1
            continue
        first = number + 1
        number = _end(lines, first, fence["ticks"])
        remark = _remark(lines, first - 1)
        yield Block(
            kind=fence["info"].strip().split(" ")[0],
            first=first,
            lines=tuple(lines[first:number]),
            is_run=not _NOT_RUN.fullmatch(remark),
            fails=remark == _FAILS,
        )
        number += 1


def _end(lines: list[str], number: int, ticks: str) -> int:
    """Return the number of the fence that ends a block, or the number of lines."""
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if fence and fence["ticks"].startswith(ticks) and not fence["info"].strip():
            break
        number += 1
    return number


def _remark(lines: list[str], fence: int) -> str:
    """Return the last line before a fence that is not blank."""
    before = fence - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    return lines[before].strip() if before >= 0 else ""


def commands_of(block: Block) -> list[Command]:
    """Return the commands of a console block with what stands below each."""
    starts = [index for index, line in enumerate(block.lines) if line.startswith("$ ")]
    ends = [*starts[1:], len(block.lines)]
    return [
        Command(
            text=block.lines[start].removeprefix("$ "),
            first=block.first + start + 1,
            output=block.lines[start + 1 : end],
        )
        for start, end in zip(starts, ends, strict=False)
    ]


def agree(shown: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Tell whether what a page shows is what was printed, but for times and the lines that it leaves out."""
    pieces: list[list[str]] = [[]]
    for line in shown:
        if line.strip() in LEFT_OUT:
            pieces.append([])
        else:
            pieces[-1].append(_settled(line))
    actual = [_settled(line) for line in printed]
    if len(pieces) == 1:
        return pieces[0] == actual
    *starts, end = pieces
    position = 0
    for index, piece in enumerate(starts):
        position = _after(actual, piece, position, only_here=index == 0)
        if position < 0:
            return False
    return len(actual) - len(end) >= position and actual[len(actual) - len(end) :] == end


def _after(lines: list[str], piece: list[str], position: int, *, only_here: bool) -> int:
    """Return the position behind a run of lines, at or behind a position; -1 if there is none."""
    for start in range(position, position + 1 if only_here else len(lines) - len(piece) + 1):
        if lines[start : start + len(piece)] == piece:
            return start + len(piece)
    return -1


def _settled(line: str) -> str:
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()
