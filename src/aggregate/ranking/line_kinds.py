"""What each line of a program is: a comment, an import, blank, or code; by its beginning, for any language."""

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final


class LineKind(IntEnum):
    """What a line is."""

    CODE = 0
    BLANK = 1
    COMMENT = 2
    IMPORT = 3
    LICENCE = 4


_HASH_IS_COMMENT: Final = frozenset(
    """
    bash dockerfile elixir hcl julia make makefile nix perl php powershell python r ruby sh shell toml yaml
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
"""Languages whose comments begin with ``#``; in others that begins a directive or an attribute."""
_DASHES: Final = frozenset({"ada", "haskell", "lua", "sql", "vhdl"})
"""Languages whose comments begin with ``--``."""
_SEMICOLON: Final = frozenset({"clojure", "lisp", "racket", "scheme"})
_PERCENT: Final = frozenset({"erlang", "matlab", "prolog", "tex"})
_QUOTES: Final = ('"""', "'''")
"""What a docstring begins and ends with."""
_ENDS: Final = {"/*": "*/", "<!--": "-->", "{-": "-}", "(*": "*)", "=begin": "=end"}
"""How comments of many lines begin and end."""
_IMPORT: Final = (
    r"(?:import|include|include_once|require|require_once|require_relative|from|use|pub[ ]use|using|extern[ ]crate"
    r"|@import|#[ \t]*(?:include|import))[ \t]*(?:[ \t]|['\"<])[^=]*$"
    r"|require\([^=]*$|(?:const|let|var)[ ][^=]+=[ ]*require\(|export[ ](?:\*|\{)[^=]*$"
    r"|(?:namespace|package)[ ][^{=]+$|(?:pub[ ])?mod[ ]\w+;|declare\(strict|#[ \t]*pragma[ ]once"
)
"""How lines begin that bring in what other files define, or say what this one is a part of."""
_LEGAL: Final = re.compile(
    r"licen[cs]e|copyright|\(c\)|all rights reserved|warrant(?:y|ies)|redistribut", re.IGNORECASE
)
"""Words of a licence at the head of a file."""
_HEAD: Final = 4
"""A licence begins in one of so many lines, behind ``#!``, ``<?php`` and an encoding."""
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_MOST_IMPORTED: Final = 200
"""Lines of one import; where more go by, a bracket in a string was taken for one."""


def line_kinds(lines: Sequence[str], language: str) -> Sequence[LineKind]:
    """Return the kind of each line.

    Args:
        lines: Of a program.
        language: Its language's name, ``""`` for an unknown one.
    """
    begins = _PATTERNS[_family(language)]
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
            if language == "python":
                end, within = _open_string(line), LineKind.CODE
        elif match.lastgroup == "block":
            mark = _ENDS.get(match["block"], match["block"])
            end, within = "" if mark in line[match.end() :] else mark, LineKind.COMMENT
        elif kind is LineKind.IMPORT:
            open_brackets, imported = _balance(line), 0
    _mark_licence(kinds, lines)
    return kinds


def _family(language: str) -> str:
    """Return the key of ``_PATTERNS`` for a language."""
    if language in _HASH_IS_COMMENT:
        return '#"""' if language == "python" else "#//" if language == "php" else "#"
    if language in _DASHES:
        return "--"
    if language in _SEMICOLON:
        return ";"
    return "%" if language in _PERCENT else "//"


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


_KINDS: Final = {
    "blank": LineKind.BLANK,
    "comment": LineKind.COMMENT,
    "block": LineKind.COMMENT,
    "import": LineKind.IMPORT,
}
"""What a line is, by the group of its pattern."""


def _balance(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    return sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))


def _open_string(line: str) -> str:
    """Return the quotes of a string that goes on behind a line, ``""`` for none."""
    return next((quotes for quotes in _QUOTES if line.count(quotes) % 2), "")


def _mark_licence(kinds: list[LineKind], lines: Sequence[str]) -> None:
    """Make comments at the head of a text that speak of its licence, without what tells of the file, licence lines."""
    comments = (place for place, kind in enumerate(kinds[:_HEAD]) if kind is LineKind.COMMENT)
    start = next(comments, None)
    if start is None:
        return
    end = start
    while end < len(kinds) and kinds[end] is LineKind.COMMENT:
        end += 1
    if _LEGAL.search("\n".join(lines[start:end])):
        kinds[start:end] = [LineKind.LICENCE] * (end - start)
