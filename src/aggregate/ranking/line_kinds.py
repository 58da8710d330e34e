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
    begins = _PATTERNS.get(_family(language), _PATTERNS["//"])
    kinds: list[LineKind] = []
    within, inside, open_brackets = "", LineKind.COMMENT, 0
    imported = 0
    has_docstrings = language == "python"
    for line in lines:
        if within:
            kinds.append(inside)
            if within in line:
                within = ""
            continue
        if open_brackets > 0:
            imported += 1
            open_brackets += _balance(line) if imported < _MOST_IMPORTED else -open_brackets
            kinds.append(LineKind.IMPORT)
            continue
        match = begins.match(line)
        if match is None:
            kinds.append(LineKind.CODE)
            if has_docstrings:
                within, inside = _open_string(line), LineKind.CODE
        elif match.lastgroup == "blank":
            kinds.append(LineKind.BLANK)
        elif match.lastgroup == "comment":
            kinds.append(LineKind.COMMENT)
        elif match.lastgroup == "block":
            begin = match["block"]
            kinds.append(LineKind.COMMENT)
            end = _ENDS.get(begin, begin)
            rest = line[match.end() :]
            within, inside = ("" if end in rest else end), LineKind.COMMENT
        else:
            kinds.append(LineKind.IMPORT)
            open_brackets, imported = _balance(line), 0
    _mark_licence(kinds, lines)
    return kinds


def _family(language: str) -> str:
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
