"""Cutting a text into pieces: runs of lines that belong to one definition and are short enough to be chosen alone."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from operator import xor
from typing import Final, NamedTuple

from aggregate.ranking.file_analysis import DefinedName
from aggregate.ranking.line_kinds import LineKind

MOST_LINES: Final = 25
"""Of a piece: about a screen; swept with the method, shorter ones lose their context and longer ones waste tokens."""
_FEWEST_LINES: Final = 10
"""Of a piece that is cut off a longer run, so that the best place among fifteen is found."""
_FEWEST_LEFT: Final = 4
"""Lines behind the last cut: the end of a function, such as ``return text``, tells nothing alone."""
WHOLE_DATA_LINES: Final = 25
"""A part of a document of data that is no longer is not taken apart: its keys alone tell nothing."""
_SMALL_LINES: Final = 2
"""A definition without definitions in it that is no longer belongs to what stands around it, unless it is ``_APART``:
fields, prototypes and keys tell little alone."""
_APART: Final = frozenset({"class", "constructor", "function", "heading", "method", "test"})
"""What is told apart however short it is."""
_CLOSING: Final = re.compile(r"(?>(?:\W|\b(?:done|else|end|endif|fi)\b)*)")
"""Lines that only end what stands before them, or lead over to the next: alone they tell nothing."""
_GOES_ON: Final = re.compile(
    r"\s*+(?:[)\]}.?:+]|&&|\|\||(?:and|catch|elif|else|elsif|elseif|ensure|except|finally|or|rescue|then)\b)"
)
"""How lines begin that go on with the statement before them, so that a piece is not to begin there."""
_STRING: Final = '"""'
"""What a string of many lines begins and ends with in most languages that have such, a docstring for one."""
_FENCE: Final = "```"
"""The same of a block of code in prose."""
_NEUTRAL: Final = frozenset({LineKind.BLANK, LineKind.COMMENT})
"""Lines that say nothing of what those around them are for."""
_FEWEST_ALIKE: Final = 2
"""Lines of one kind that are a part of their own: a single import among constants stays with them."""


class Run(NamedTuple):
    """Lines that belong to one definition.

    Attributes:
        first: 1-based.
        last: Inclusive.
        owner: Place of the definition, ``-1`` for none.
    """

    first: int
    last: int
    owner: int


def owned_runs(definitions: Sequence[DefinedName], lines: int, *, is_code: bool) -> list[Run]:
    """Return the runs of lines by their innermost definition, in order; together they are all lines.

    Args:
        definitions: In order of their lines, outer before inner.
        lines: How many the text has.
        is_code: Whether definitions are those of programs, which are taken apart however short they are.
    """
    is_whole = not is_code and lines <= WHOLE_DATA_LINES
    kept = _with_own_lines(definitions, is_code=is_code, whole_until=lines if is_whole else 0)
    runs: list[Run] = []
    around: list[
        tuple[int, int]
    ] = []  # places and last lines of the definitions that the present line stands in
    line = 1

    def run_to(last: int) -> None:
        nonlocal line
        if last >= line:
            runs.append(Run(line, last, around[-1][0] if around else -1))
            line = last + 1

    for place in kept:
        definition = definitions[place]
        while around and around[-1][1] < definition.first:
            run_to(around[-1][1])
            around.pop()
        run_to(definition.first - 1)
        last = min(definition.last, around[-1][1] if around else lines)
        around.append((place, last))
    while around:
        run_to(around[-1][1])
        around.pop()
    run_to(lines)
    return runs


def _with_own_lines(
    definitions: Sequence[DefinedName], *, is_code: bool, whole_until: int
) -> list[int]:
    """Return the places of those definitions whose lines are told from those around them.

    Args:
        definitions: All.
        is_code: Whether they are those of programs.
        whole_until: The last line of what is not taken apart unless by headings.
    """
    has_inner = {definition.outer for definition in definitions}
    kept: list[int] = []
    for place, definition in enumerate(definitions):
        length = definition.last - definition.first + 1
        if length <= _SMALL_LINES and place not in has_inner and definition.kind not in _APART:
            continue
        if not is_code and definition.kind != "heading":
            if definition.first <= whole_until:
                continue
            if length <= WHOLE_DATA_LINES:
                whole_until = definition.last
        kept.append(place)
    return kept


def cut(
    runs: Sequence[Run], lines: Sequence[str], *, kinds: Sequence[LineKind] = ()
) -> Iterator[Run]:
    """Yield the runs, those that are too long in parts, and what tells nothing alone with what stands before it.

    Args:
        runs: All lines, in order.
        lines: The text's.
        kinds: Theirs, where it is a program.
    """
    mark = _STRING if kinds else _FENCE
    whole = _without_blank_runs(runs, lines)
    if kinds:
        whole = [part for run in whole for part in _by_purpose(run, kinds)]
    last: Run | None = None
    for part in _parts(whole, lines, mark):
        if last and _CLOSING.fullmatch("\n".join(lines[part.first - 1 : part.last])):
            last = last._replace(last=part.last)
            continue
        if last:
            yield last
        last = part
    if last:
        yield last


def _parts(runs: Sequence[Run], lines: Sequence[str], mark: str) -> Iterator[Run]:
    for run in runs:
        first = run.first
        if run.last - first >= MOST_LINES + _FEWEST_LEFT:
            open_strings = _open_strings(lines[first - 1 : run.last], mark)
            while run.last - first >= MOST_LINES + _FEWEST_LEFT:
                start = first - run.first
                last = _best_end(lines, first, open_strings[start : start + MOST_LINES])
                yield Run(first, last, run.owner)
                first = last + 1
        yield Run(first, run.last, run.owner)


def _by_purpose(run: Run, kinds: Sequence[LineKind]) -> Iterator[Run]:
    """Yield what stands outside of definitions in parts: a licence, imports, and all else.

    Comments go with what follows them, blank lines with what stands before; a few lines of one kind among those of
    another stay there.
    """
    first = run.first
    if run.owner < 0:
        telling = [
            line for line in range(run.first, run.last + 1) if kinds[line - 1] not in _NEUTRAL
        ]
        groups = [[*group] for _, group in groupby(telling, key=lambda line: kinds[line - 1])]
        for group, following in pairwise(groups):
            begin = _with_leading(following[0], group[-1], kinds)
            if len(group) >= _FEWEST_ALIKE and len(following) >= _FEWEST_ALIKE and begin > first:
                yield run._replace(first=first, last=begin - 1)
                first = begin
    yield run._replace(first=first)


def _with_leading(line: int, above: int, kinds: Sequence[LineKind]) -> int:
    """Return the first line of the comments directly above a line, below ``above``."""
    while line - 1 > above and kinds[line - 2] is LineKind.COMMENT:
        line -= 1
    return line


def _open_strings(lines: Sequence[str], mark: str) -> list[bool]:
    """Return for each line whether a string of many lines, or a block of code, goes on behind it."""
    return list(accumulate((line.count(mark) % 2 == 1 for line in lines), xor))


def _without_blank_runs(runs: Sequence[Run], lines: Sequence[str]) -> list[Run]:
    kept: list[Run] = []
    for run in runs:
        is_same = kept and kept[-1].owner == run.owner
        if kept and (is_same or _is_blank(run, lines)):
            kept[-1] = kept[-1]._replace(last=run.last)
        else:
            kept.append(run)
    return kept


def _is_blank(run: Run, lines: Sequence[str]) -> bool:
    return all(not lines[line] or lines[line].isspace() for line in range(run.first - 1, run.last))


def _best_end(lines: Sequence[str], first: int, open_strings: Sequence[bool]) -> int:
    """Return the last line of a piece that begins at ``first``.

    It is the last blank line or end of a docstring outside of strings, else the last blank line, else the one before
    the least indented that begins a statement.

    Args:
        lines: The text's.
        first: 1-based.
        open_strings: For each line from ``first`` on whether a string goes on behind it.
    """
    best, least, last_blank = 0, 1 << 30, 0
    for last in range(first + MOST_LINES - 1, first + _FEWEST_LINES - 2, -1):
        line = lines[last - 1]
        is_blank = not line or line.isspace()
        if not open_strings[last - first] and (is_blank or open_strings[last - first - 1]):
            return last
        if is_blank:
            last_blank = last_blank or last
            continue
        following = lines[last]
        indentation = len(following) - len(following.lstrip())
        if following.strip() and indentation < least and not _GOES_ON.match(following):
            best, least = last, indentation
    return last_blank or best or first + MOST_LINES - 1
