"""Cutting a text into pieces: runs of lines that belong to one definition and are short enough to be chosen alone."""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from aggregate.code.syntax import comment_of
from aggregate.ranking.files.analysis import DefinedName


class LineKind(IntEnum):
    """What a line is."""

    CODE = 0
    BLANK = 1
    COMMENT = 2
    IMPORT = 3
    LICENCE = 4


_QUOTES: Final = ('"""', "'''")
_ENDS: Final = {"/*": "*/", "<!--": "-->", "{-": "-}", "(*": "*)", "=begin": "=end"}
_IMPORT: Final = (
    r"(?:import|include|include_once|require|require_once|require_relative|from|use|pub[ ]use|using|extern[ ]crate"
    r"|@import|#[ \t]*(?:include|import))[ \t]*(?:[ \t]|['\"<])[^=]*$"
    r"|require\([^=]*$|(?:const|let|var)[ ][^=]+=[ ]*require\(|export[ ](?:\*|\{)[^=]*$"
    r"|(?:namespace|package)[ ][^{=]+$|(?:pub[ ])?mod[ ]\w+;|declare\(strict|#[ \t]*pragma[ ]once"
)
_LEGAL: Final = re.compile(
    r"licen[cs]e|copyright|\(c\)|all rights reserved|warrant(?:y|ies)|redistribut", re.IGNORECASE
)
# A licence begins in one of so many lines, behind ``#!``, ``<?php`` and an encoding.
_HEAD: Final = 4
_OPENING_BRACKETS: Final = "([{"
_CLOSING_BRACKETS: Final = ")]}"
# Lines of one import; where more go by, a bracket in a string was taken for one.
_MOST_IMPORTED: Final = 200


def line_kinds(lines: Sequence[str], language: str) -> Sequence[LineKind]:
    family = _FAMILIES.get(language) or comment_of(language)
    begins = _PATTERNS.get(family, _PATTERNS["//"])
    kinds: list[LineKind] = []
    end = ""  # of the comment or string that goes on, whose lines are of the kind ``within``
    within = LineKind.COMMENT
    open_brackets = imported = 0  # of the import that goes on, and its lines so far
    for line in lines:  # a loop for all lines of a project
        if end:
            kinds.append(within)
            if end in line:
                end = ""
            continue
        if open_brackets > 0:
            kinds.append(LineKind.IMPORT)
            imported += 1
            open_brackets = open_brackets + _balance(line) if imported < _MOST_IMPORTED else 0
            continue
        match = begins.match(line)
        kind = LineKind.CODE if match is None else _KINDS[match.lastgroup or ""]
        kinds.append(kind)
        if match is None:
            if language == "python" and ('"""' in line or "'''" in line):
                end = next((quotes for quotes in _QUOTES if line.count(quotes) % 2), "")
                within = LineKind.CODE
        elif match.lastgroup == "block":
            mark = _ENDS.get(match["block"], match["block"])
            end, within = "" if mark in line[match.end() :] else mark, LineKind.COMMENT
        elif kind is LineKind.IMPORT:
            open_brackets, imported = _balance(line), 0
    comments = (place for place, kind in enumerate(kinds[:_HEAD]) if kind is LineKind.COMMENT)
    first = last = next(comments, len(kinds))
    while last < len(kinds) and kinds[last] is LineKind.COMMENT:
        last += 1
    if first < last and _LEGAL.search("\n".join(lines[first:last])):
        kinds[first:last] = [LineKind.LICENCE] * (last - first)
    return kinds


def _pattern(comment: str, block: str) -> re.Pattern[str]:
    return re.compile(
        rf"\s*+(?:(?P<blank>$)|(?P<comment>{comment})|(?P<block>{block})|(?P<import>{_IMPORT}))"
    )


_PATTERNS: Final = {
    "//": _pattern("//", r"/\*|<!--|\(\*"),
    "#": _pattern("#", "=begin"),
    "#//": _pattern("//|#(?!\\[)", r"/\*"),
    '#"""': _pattern("#", r"""[rRuU]?+(?:\"{3}|'{3})"""),
    "--": _pattern("--", r"/\*|\{-"),
    ";": _pattern(";", r"#\|"),
    "%": _pattern("%", r"/\*"),
}
# Languages whose comments are of more than one kind.
_FAMILIES: Final = {"python": '#"""', "php": "#//"}
_KINDS: Final = {
    "blank": LineKind.BLANK,
    "comment": LineKind.COMMENT,
    "block": LineKind.COMMENT,
    "import": LineKind.IMPORT,
}


def _balance(line: str) -> int:
    return sum(map(line.count, _OPENING_BRACKETS)) - sum(map(line.count, _CLOSING_BRACKETS))


# Of a piece: about a screen; swept with the method, shorter ones lose their context and longer ones waste tokens.
MOST_LINES: Final = 25
# Of a piece that is cut off a longer run, so that the best place among fifteen is found.
_FEWEST_LINES: Final = 10
# Lines behind the last cut: the end of a function, such as ``return text``, tells nothing alone.
_FEWEST_LEFT: Final = 4
# A part of a document of data that is no longer is not taken apart: its keys alone tell nothing.
WHOLE_DATA_LINES: Final = 25
# A definition without definitions in it that is no longer belongs to what stands around it, unless it is ``_APART``:
# fields, prototypes and keys tell little alone.
_SMALL_LINES: Final = 2
_APART: Final = frozenset({"class", "constructor", "function", "heading", "method", "test"})
# Lines that only end what stands before them, or lead over to the next: alone they tell nothing.
_CLOSING: Final = re.compile(r"(?>(?:\W|\b(?:done|else|end|endif|fi)\b)*)")
# How lines begin that go on with the statement before them, so that a piece is not to begin there.
_GOES_ON: Final = re.compile(
    r"\s*+(?:[)\]}.?:+]|&&|\|\||(?:and|catch|elif|else|elsif|elseif|ensure|except|finally|or|rescue|then)\b)"
)
# What a docstring, a comment of many lines or a block of code in prose ends with.
_TEXT_ENDS: Final = ('"""', "'''", "*/", "```")
_NEUTRAL: Final = frozenset({LineKind.BLANK, LineKind.COMMENT})
# Lines of one kind that are a part of their own: a single import among constants stays with them.
_FEWEST_ALIKE: Final = 2


class Run(NamedTuple):
    """Lines that belong to one definition."""

    first: int
    last: int
    owner: int  # place of the definition, -1 for none


def owned_runs(definitions: Sequence[DefinedName], lines: int, *, is_code: bool) -> list[Run]:
    """Return the runs of lines by their innermost definition, in order; together they are all lines."""
    has_inner = {definition.outer for definition in definitions}
    whole_until = lines if not is_code and lines <= WHOLE_DATA_LINES else 0
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

    for place, definition in enumerate(definitions):
        length = definition.last - definition.first + 1
        if length <= _SMALL_LINES and place not in has_inner and definition.kind not in _APART:
            continue
        if not is_code and definition.kind != "heading":
            if definition.first <= whole_until:
                continue
            if length <= WHOLE_DATA_LINES:
                whole_until = definition.last
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


def cut(
    runs: Sequence[Run],
    lines: Sequence[str],
    *,
    kinds: Sequence[LineKind] = (),
    statements: Sequence[int] = (),
) -> Iterator[Run]:
    """Yield the runs, those that are too long in parts, and what tells nothing alone with what stands before it.

    A part ends where a statement does, unless that is longer than a part may be.
    """
    whole: list[Run] = []  # runs of one owner as one, blank ones with what stands before
    for run in runs:
        is_same = whole and whole[-1].owner == run.owner
        if whole and (is_same or not any(map(str.strip, lines[run.first - 1 : run.last]))):
            whole[-1] = whole[-1]._replace(last=run.last)
        else:
            whole.append(run)
    if kinds:
        whole = [part for run in whole for part in _by_purpose(run, kinds)]
    last: Run | None = None
    for part in _parts(whole, lines, statements):
        if last and _CLOSING.fullmatch("\n".join(lines[part.first - 1 : part.last])):
            last = last._replace(last=part.last)
            continue
        if last:
            yield last
        last = part
    if last:
        yield last


def _parts(runs: Sequence[Run], lines: Sequence[str], statements: Sequence[int]) -> Iterator[Run]:
    for run in runs:
        first = run.first
        while run.last - first >= MOST_LINES + _FEWEST_LEFT:
            last = _best_end(lines, first, statements)
            yield Run(first, last, run.owner)
            first = last + 1
        yield Run(first, run.last, run.owner)


def _by_purpose(run: Run, kinds: Sequence[LineKind]) -> Iterator[Run]:
    # Comments go with what follows them, blank lines with what stands before; a few lines of one kind among those of
    # another stay there.
    first = run.first
    if run.owner < 0:
        telling = [
            line for line in range(run.first, run.last + 1) if kinds[line - 1] not in _NEUTRAL
        ]
        groups = [[*group] for _, group in groupby(telling, key=lambda line: kinds[line - 1])]
        for group, following in pairwise(groups):
            begin = following[0]
            while begin - 1 > group[-1] and kinds[begin - 2] is LineKind.COMMENT:
                begin -= 1
            if len(group) >= _FEWEST_ALIKE and len(following) >= _FEWEST_ALIKE and begin > first:
                yield run._replace(first=first, last=begin - 1)
                first = begin
    yield run._replace(first=first)


def _best_end(lines: Sequence[str], first: int, statements: Sequence[int]) -> int:
    # The last blank line or end of a text between statements, else the one before the least indented that begins one.
    best, least = 0, 1 << 30
    for last in range(first + MOST_LINES - 1, first + _FEWEST_LINES - 2, -1):
        line, following = lines[last - 1], lines[last]
        own = statements[last - 1] if statements else last
        if statements and own == statements[last]:
            continue
        if not line or line.isspace() or (own < last and line.rstrip().endswith(_TEXT_ENDS)):
            return last
        indentation = len(following) - len(following.lstrip())
        if following.strip() and indentation < least and not _GOES_ON.match(following):
            best, least = last, indentation
    return best or first + MOST_LINES - 1
