"""Tables of comma-separated values: what their columns hold, how many rows they have, and the first ones."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from aggregate.code.views.digest import DigestRow, counted, cut, more_row, shortened

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
    if len(cell) > _LONGEST:
        return "text"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(cell)), "text")


def _common(types: set[str]) -> str:
    if len(types) == 1:
        return next(iter(types))
    return _WIDER.get(frozenset(types), "text") if types else "empty"


_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
"""What may part cells, by fence tag, the most usual first."""
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_READ_ROWS = 1_000
_READ_CHARACTERS = 300_000
"""Types are told from so much of a table: more of it seldom tells another one."""
_SNIFFED_ROWS = 20
_MOST_COLUMNS = 40
_SAMPLES = 3
_CELL_WIDTH = 40
_LONGEST_NAME = 60
"""Hashes and sentences are longer, names of columns seldom."""
_COUNTED_CHARACTERS = 20_000_000
"""Rows of larger tables with quotation marks are not counted: that takes a second and more."""
_BLANK_LINES = re.compile(r"\n((?:\r?\n)++)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class _Record:
    """A row, and the lines of the file in which it stands."""

    cells: list[str]
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class _ReadTable:
    """A table as far as it was read."""

    delimiter: str
    header: list[str]  # empty where the first row holds values
    rows: list[_Record]
    width: int
    total: int | None  # rows behind the header, where they were counted


def table_digest(text: str, tag: str) -> list[DigestRow]:
    try:
        table = _read_table(text, _DELIMITERS[tag])
    except csv.Error:
        return []
    if table is None:
        return []
    return [
        DigestRow(", ".join(_shape(table, names_delimiter=tag == "csv"))),
        *_columns(table.header, table.rows, table.width),
        *(_sample(row, table.delimiter) for row in table.rows[:_SAMPLES]),
    ]


def _read_table(text: str, delimiters: str) -> _ReadTable | None:
    is_whole = len(text) <= _READ_CHARACTERS
    head = text if is_whole else text[: text.rfind("\n", 0, _READ_CHARACTERS) + 1]
    delimiter = _delimiter(head, delimiters)
    records = list(islice(_records(head, delimiter), _READ_ROWS + 1))
    if not is_whole and len(records) <= _READ_ROWS:
        records = records[:-1]  # which may go on behind the head
    number = _row_count(text, delimiter)
    if len(records) < (1 if is_whole else 2):
        return None
    first = records[0].cells
    if not _is_header(first):
        return _ReadTable(delimiter, [], records, len(first), number)
    return _ReadTable(
        delimiter, first, records[1:], len(first), None if number is None else number - 1
    )


def _shape(table: _ReadTable, *, names_delimiter: bool) -> Iterator[str]:
    yield counted(table.width, "column")
    yield "rows not counted" if table.total is None else counted(table.total, "row")
    if names_delimiter and table.delimiter != ",":
        yield f"parted by {_NAMES[table.delimiter]}"
    if not table.header:
        yield "no header"
    if table.total is None or len(table.rows) < table.total:
        yield f"types from the first {len(table.rows)}"
    ragged = sum(len(row.cells) != table.width for row in table.rows)
    if ragged:
        yield f"{counted(ragged, 'row')} with fewer or more cells"


def _records(text: str, delimiter: str) -> Iterator[_Record]:
    reader = csv.reader((match[0] for match in _LINE.finditer(text)), delimiter=delimiter)
    done = 0
    for cells in reader:
        if cells:
            yield _Record(cells, done + 1, reader.line_num)
        done = reader.line_num


def _delimiter(head: str, candidates: str) -> str:
    # The one by which the most rows have as many cells, and more than one.
    best = (0.0, 0, candidates[0])
    for delimiter in candidates:
        widths = Counter(len(r.cells) for r in islice(_records(head, delimiter), _SNIFFED_ROWS))
        width, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if width > 1 and (rows / widths.total(), width) > best[:2]:
            best = (rows / widths.total(), width, delimiter)
    return best[2]


def _row_count(text: str, delimiter: str) -> int | None:
    # ``None`` where counting would take long.
    if '"' not in text:
        lines = text.count("\n") + (not text.endswith("\n"))
        blank = sum(match[1].count("\n") for match in _BLANK_LINES.finditer(text))
        return lines - blank - text.startswith(("\n", "\r\n"))
    if len(text) > _COUNTED_CHARACTERS:
        return None
    return sum(1 for _ in _records(text, delimiter))


def _is_header(cells: Sequence[str]) -> bool:
    # Each is a short text, and no two are the same.
    names = [cell.strip() for cell in cells]
    named = [name for name in names if name]
    if not named or len(set(named)) < len(named) or max(map(len, named)) > _LONGEST_NAME:
        return False
    return {*map(cell_type, named)} == {"text"}


def _columns(names: Sequence[str], rows: Sequence[_Record], width: int) -> Iterator[DigestRow]:
    columns = column_types((record.cells for record in rows), min(width, _MOST_COLUMNS))
    for place, column in enumerate(columns):
        name = (names[place].strip() if names else "") or f"column {place + 1}"
        empty = f", {column.empty} empty" if column.empty and column.type != "empty" else ""
        yield DigestRow(shortened(f"{cut(name, _CELL_WIDTH * 2)}: {column.type}{empty}"))
    if width > _MOST_COLUMNS:
        yield DigestRow(more_row(width - _MOST_COLUMNS))


def _sample(record: _Record, delimiter: str) -> DigestRow:
    cells: list[str] = []
    for cell in record.cells[:_MOST_COLUMNS]:
        text = cut(cell.replace("\r\n", "\n").replace("\n", "\\n"), _CELL_WIDTH)
        cells.append(f'"{text}"' if delimiter in text else text)
    return DigestRow(shortened(delimiter.join(cells)), record.first_line, record.last_line)
