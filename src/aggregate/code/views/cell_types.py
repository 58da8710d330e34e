"""What kind of value a cell of a table holds, told by how it is written."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_EMPTY = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
_PATTERNS = (
    ("int", re.compile(r"[+-]?(?:0|[1-9]\d*|0x[\da-fA-F]+)")),  # 007 is no number but a code
    ("float", re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")),
    ("bool", re.compile(r"(?i:true|false|yes|no)")),
    ("date", re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[/.]\d\d?[/.]\d{4}")),
    (
        "datetime",
        re.compile(
            r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?Z|[ +-][\w:]+)?"
        ),
    ),
)
_WIDER = {frozenset({"int", "float"}): "float", frozenset({"date", "datetime"}): "datetime"}
_LONGEST = 64
"""Characters of the longest number or date."""


class Column(NamedTuple):
    """What the cells of a column hold: their type, and how many are empty."""

    type: str
    empty: int


def column_types(rows: Iterable[Sequence[str]], width: int) -> list[Column]:
    """Return the types of the first ``width`` columns; cells that a row lacks are empty.

    A type is ``int``, ``float``, ``bool``, ``date``, ``datetime``, ``text``, or ``empty`` where no cell holds anything.
    """
    types: list[set[str]] = [set() for _ in range(width)]
    empty = [0] * width
    for row in rows:
        for column in range(width):
            cell = row[column].strip() if column < len(row) else ""
            if cell in _EMPTY:
                empty[column] += 1
            elif "text" not in types[column]:
                types[column].add(cell_type(cell))
    return [Column(_common(kinds), number) for kinds, number in zip(types, empty, strict=True)]


def cell_type(cell: str) -> str:
    """Return the type of one cell that is not empty."""
    if len(cell) > _LONGEST:
        return "text"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(cell)), "text")


def _common(types: set[str]) -> str:
    if len(types) == 1:
        return next(iter(types))
    return _WIDER.get(frozenset(types), "text") if types else "empty"
