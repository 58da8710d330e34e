"""Divide the lines of a file into pieces: short runs of lines of one definition."""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import groupby, pairwise
from typing import Final

from aggregate.code.syntax import comment_of
from aggregate.ranking.files.analysis import DefinedName, Piece


class LineKind(IntEnum):
    """The kind of a line, such as code, comment or licence."""

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
_HEAD: Final = 4  # lines in which a licence begins, after ``#!``, ``<?php`` and an encoding
_OPENING_BRACKETS: Final = "([{"
_CLOSING_BRACKETS: Final = ")]}"
# Lines of one import; in a longer one a bracket in a string was miscounted.
_MOST_IMPORT_LINES: Final = 200


def line_kinds(lines: Sequence[str], language: str) -> Sequence[LineKind]:
    family = _FAMILIES.get(language) or comment_of(language)
    begins = _PATTERNS.get(family, _PATTERNS["//"])
    kinds: list[LineKind] = []
    end = ""  # end mark of the current comment or string
    block_kind = LineKind.COMMENT  # of its lines
    open_brackets = import_lines = 0  # of the current import
    for line in lines:  # hot loop over all lines of a project
        if end:
            kinds.append(block_kind)
            if end in line:
                end = ""
            continue
        if open_brackets > 0:
            kinds.append(LineKind.IMPORT)
            import_lines += 1
            open_brackets += _balance(line)
            if import_lines >= _MOST_IMPORT_LINES:
                open_brackets = 0
            continue
        match = begins.match(line)
        kind = LineKind.CODE if match is None else _KINDS[match.lastgroup or ""]
        kinds.append(kind)
        if match is None:
            if language == "python" and ('"""' in line or "'''" in line):
                end = next((quotes for quotes in _QUOTES if line.count(quotes) % 2), "")
                block_kind = LineKind.CODE
        elif match.lastgroup == "block":
            mark = _ENDS.get(match["block"], match["block"])
            end = "" if mark in line[match.end() :] else mark
            block_kind = LineKind.COMMENT
        elif kind is LineKind.IMPORT:
            open_brackets, import_lines = _balance(line), 0
    head = kinds[:_HEAD]
    first = head.index(LineKind.COMMENT) if LineKind.COMMENT in head else len(kinds)
    last = first
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
# Languages with more than one kind of comment.
_FAMILIES: Final = {"python": '#"""', "php": "#//"}
_KINDS: Final = {
    "blank": LineKind.BLANK,
    "comment": LineKind.COMMENT,
    "block": LineKind.COMMENT,
    "import": LineKind.IMPORT,
}


def _balance(line: str) -> int:
    return sum(map(line.count, _OPENING_BRACKETS)) - sum(map(line.count, _CLOSING_BRACKETS))


# Lines of a piece: about a screen. Measured: shorter ones lose context, longer ones waste tokens.
MOST_LINES: Final = 25
_FEWEST_LINES: Final = 10  # of a cut piece, to choose the best of fifteen positions
# Lines after the last cut: the end of a function, such as ``return text``, means nothing alone.
_FEWEST_LEFT: Final = 4
# A data document's part of so many lines is not cut: single keys mean nothing.
WHOLE_DATA_LINES: Final = 25
# Lines of a definition that belongs to its enclosing one (fields, prototypes, keys), unless it is ``_SEPARATE`` or
# contains others.
_SMALL_LINES: Final = 2
_SEPARATE: Final = frozenset({"class", "constructor", "function", "heading", "method", "test"})
# Lines without content between two statements.
_CLOSING: Final = re.compile(r"(?>(?:\W|\b(?:done|else|end|endif|fi)\b)*)")
# Beginnings of lines inside a statement; no piece begins there.
_CONTINUATION: Final = re.compile(
    r"\s*+(?:[)\]}.?:+]|&&|\|\||(?:and|catch|elif|else|elsif|elseif|ensure|except|finally|or|rescue|then)\b)"
)
# Ends of docstrings, block comments and code blocks in prose.
_TEXT_ENDS: Final = ('"""', "'''", "*/", "```")
_NEUTRAL: Final = frozenset({LineKind.BLANK, LineKind.COMMENT})
# Fewest lines of one kind for a part: a single import among constants stays with them.
_FEWEST_ALIKE: Final = 2


def owned_runs(definitions: Sequence[DefinedName], lines: int, *, is_code: bool) -> list[Piece]:
    has_inner = {definition.outer for definition in definitions}
    whole_until = lines if not is_code and lines <= WHOLE_DATA_LINES else 0
    owners = [-1] * (lines + 1)  # by line, the first one unused
    ends: list[int] = []  # last lines of enclosing definitions
    begin = 1
    for index, definition in enumerate(definitions):
        length = definition.last - definition.first + 1
        is_small = length <= _SMALL_LINES and index not in has_inner
        if is_small and definition.kind not in _SEPARATE:
            continue
        if not is_code and definition.kind != "heading":
            if definition.first <= whole_until:
                continue
            if length <= WHOLE_DATA_LINES:
                whole_until = definition.last
        while ends and ends[-1] < definition.first:
            ends.pop()
        ends.append(min(definition.last, ends[-1] if ends else lines))
        begin = max(begin, definition.first)
        owners[begin : ends[-1] + 1] = [index] * (ends[-1] + 1 - begin)
    runs: list[Piece] = []
    for owner, group in groupby(owners[1:]):
        first = runs[-1].last + 1 if runs else 1
        runs.append(Piece(first, first + len(list(group)) - 1, owner))
    return runs


def cut(
    runs: Sequence[Piece],
    lines: Sequence[str],
    *,
    kinds: Sequence[LineKind] = (),
    statements: Sequence[int] = (),
) -> Iterator[Piece]:
    """Divide long runs of lines, and join short ones.

    Closing and blank lines are appended to the run before. A part ends with a statement, unless the statement is longer
    than a part.
    """
    joined: list[Piece] = []  # consecutive runs of one owner joined
    for run in runs:
        is_same = joined and joined[-1].definition == run.definition
        if joined and (is_same or not any(map(str.strip, lines[run.first - 1 : run.last]))):
            joined[-1] = joined[-1]._replace(last=run.last)
        else:
            joined.append(run)
    if kinds:
        joined = [part for run in joined for part in _by_purpose(run, kinds)]
    last: Piece | None = None
    for part in _parts(joined, lines, statements):
        if last and _CLOSING.fullmatch("\n".join(lines[part.first - 1 : part.last])):
            last = last._replace(last=part.last)
            continue
        if last:
            yield last
        last = part
    if last:
        yield last


def _parts(
    runs: Sequence[Piece], lines: Sequence[str], statements: Sequence[int]
) -> Iterator[Piece]:
    for run in runs:
        first = run.first
        while run.last - first >= MOST_LINES + _FEWEST_LEFT:
            last = _best_end(lines, first, statements)
            yield Piece(first, last, run.definition)
            first = last + 1
        yield Piece(first, run.last, run.definition)


def _by_purpose(run: Piece, kinds: Sequence[LineKind]) -> Iterator[Piece]:
    """Divide lines outside of definitions by kind.

    Imports, for example, are separated from code. Comments belong to the next line, blank lines to the previous one;
    single lines of a kind are not split off.
    """
    first = run.first
    if run.definition < 0:
        lines = [line for line in range(run.first, run.last + 1) if kinds[line - 1] not in _NEUTRAL]
        groups = [[*group] for _, group in groupby(lines, key=lambda line: kinds[line - 1])]
        for group, following in pairwise(groups):
            begin = following[0]
            while begin - 1 > group[-1] and kinds[begin - 2] is LineKind.COMMENT:
                begin -= 1
            if len(group) >= _FEWEST_ALIKE and len(following) >= _FEWEST_ALIKE and begin > first:
                yield run._replace(first=first, last=begin - 1)
                first = begin
    yield run._replace(first=first)


def _best_end(lines: Sequence[str], first: int, statements: Sequence[int]) -> int:
    """Return the line after which to divide a long run.

    It is the last line that is blank or ends a multi-line string or comment, else the line before the least
    indented one.
    """
    best, least = 0, 1 << 30
    for last in range(first + MOST_LINES - 1, first + _FEWEST_LINES - 2, -1):
        line, following = lines[last - 1], lines[last]
        statement = statements[last - 1] if statements else last
        if statements and statement == statements[last]:
            continue
        ends_text = statement < last and line.rstrip().endswith(_TEXT_ENDS)
        if not line or line.isspace() or ends_text:
            return last
        indentation = len(following) - len(following.lstrip())
        if following.strip() and indentation < least and not _CONTINUATION.match(following):
            best, least = last, indentation
    return best or first + MOST_LINES - 1
