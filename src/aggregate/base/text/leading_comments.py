"""The comments that a text begins with, whatever its language: where a file says what it is."""

import re
from typing import Final

HEAD_CHARACTERS: Final = 4096
"""What of a text is looked at: a licence of usual length, and what follows it."""
_HEAD_LINES: Final = 80
_BLOCKS: Final = {
    "/*": "*/",
    "<!--": "-->",
    "(*": "*)",
    "{-": "-}",
    "--[[": "]]",
    "#|": "|#",
    "<#": "#>",
    "{#": "#}",
    "<%--": "--%>",
    "=begin": "=end",
    '"""': '"""',
    "'''": "'''",
}
"""Comments of many lines, and docstrings, by what opens them."""
_QUOTES: Final = ('"""', "'''")
_PROSE: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc", ".html", ".htm", ".txt"})
"""Kinds of text whose lines may begin with the mark of a comment and are none: headings, lists."""
_OPENED: Final = re.compile(
    r"\s*(?:[rRuU]?(?P<block>" + "|".join(map(re.escape, _BLOCKS)) + r")|(?P<line>/{2,}[/!]?|#+!?"
    r"|--+|;+|%+|!+|dnl\b|(?i:@?rem\b)|\.\. |\.\\\"))"
)
_PREAMBLE: Final = re.compile(
    r"\s*(?:<[?!]|@charset\b|@echo\b|['\"]use strict['\"]|---|\ufeff|$)", re.IGNORECASE
)
"""What may stand before or between such comments and is none: declarations, blank lines."""
_DIRECTIVE: Final = re.compile(r"\s*#\s*(?P<name>[a-z]+)\b(?P<rest>.*)")
_GUARDS: Final = frozenset({"if", "ifndef", "ifdef", "endif", "pragma"})
C_SUFFIXES: Final = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc", ".m", ".mm"}
)


def leading_comments(text: str, suffix: str) -> list[str]:
    """Return the lines of the comments before the first code of ``text``, without their marks.

    A blank line, and one that only has marks, is ``""``. In C the lines of an include guard may
    stand before a comment. At most the first 4,096 characters are looked at.

    Args:
        text: The file.
        suffix: Of its name, in lower case, such as ``.py``; in prose only blocks are comments.
    """
    comments: list[str] = []
    closed_by = ""
    for line in text[:HEAD_CHARACTERS].split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        content, behind = line, ""
        if closed_by:
            if closed_by in _QUOTES and line[:1].isspace():  # an example in a docstring
                continue
        elif suffix in C_SUFFIXES and (directive := _DIRECTIVE.match(line)):
            if not _is_guard(directive["name"], directive["rest"]):
                break
            continue
        elif opened := _opening(line, suffix):
            content = line[opened.end() :]
            closed_by = _BLOCKS.get(opened["block"] or "", "")
        elif _PREAMBLE.match(line):
            content = ""
        else:
            break
        if closed_by and closed_by in content:
            content, _, behind = content.partition(closed_by)
            closed_by = ""
        comments.append(_bare(content))
        if behind.strip():  # code behind a comment
            break
    return comments


def _opening(line: str, suffix: str) -> re.Match[str] | None:
    """Return what opens a comment in ``line``, ``None`` where none begins there."""
    opened = _OPENED.match(line)
    if opened and suffix in _PROSE and opened["line"] not in (None, ".. "):
        return None
    return opened


def _is_guard(name: str, rest: str) -> bool:
    """Tell whether a directive of the preprocessor may stand before a file's first comment."""
    return name in _GUARDS or (name == "define" and len(rest.split()) == 1)


def _bare(line: str) -> str:
    """Return a line of a comment without the ornaments around it."""
    return line.strip(" \t\r*#/;=-+|!%~_")
