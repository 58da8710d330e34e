"""Where what belongs to a definition begins: with the comments and attributes directly above it."""

from collections.abc import Sequence
from typing import Final

_MOST_LINES: Final = 120
"""Looked at above a definition: a longer comment documents more than that."""
_MARKS: Final = ("//", "/*", "* ", "*/", "--", ";;", "%%", "(*", "<!--", '"""', "@", "#[")
"""What a line of a comment or an attribute begins with in most languages."""
_HASH_IS_NO_COMMENT: Final = frozenset(
    {"c", "cpp", "csharp", "objectivec", "markdown", "css", "html"}
)
"""Languages where ``#`` begins a directive, a heading or a selector."""
_BLOCKS: Final = (("*/", "/*"), ("*)", "(*"), ("-}", "{-"), ("-->", "<!--"), ("]]", "--[["))
"""How comments of many lines end and begin."""


def first_line_of(lines: Sequence[str], first: int, *, above: int, language: str) -> int:
    """Return the line with which the comments and attributes directly above a definition begin, else ``first``.

    Args:
        lines: The text's.
        first: The definition's first line, 1-based.
        above: The last line that surely belongs to something else, ``0`` for none.
        language: The language's name.
    """
    marks = _MARKS if language in _HASH_IS_NO_COMMENT else (*_MARKS, "#")
    lowest = max(above, first - 1 - _MOST_LINES)
    line = first - 1
    while line > lowest:
        text = lines[line - 1].strip()
        begin = _block_begin(lines, line, lowest) if text.endswith(_ENDS) else 0
        if begin:
            line = begin - 1
        elif text.startswith(marks) or text == "*":
            line -= 1
        else:
            break
    start = line + 1
    # A shebang or a coding line belongs to the file.
    return start + 1 if start == 1 < first and lines[0].startswith("#!") else start


_ENDS: Final = tuple(end for end, _ in _BLOCKS)


def _block_begin(lines: Sequence[str], line: int, lowest: int) -> int:
    """Return the line where the comment that ends in ``line`` begins, ``0`` where it is none of its own."""
    text = lines[line - 1].rstrip()
    opening = next(begin for end, begin in _BLOCKS if text.endswith(end))
    for candidate in range(line, lowest, -1):
        before, mark, _ = lines[candidate - 1].partition(opening)
        if mark:
            return 0 if before.strip() else candidate
    return 0
