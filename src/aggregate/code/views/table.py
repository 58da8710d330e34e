"""Tables of comma-separated values: what their columns hold, how many rows they have, and the first ones."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

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


def cell_type(cell: str) -> str:
    if len(cell) > _LONGEST:
        return "text"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(cell)), "text")


_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_READ_ROWS = 1_000
# Types are told from so much of a table: more of it seldom tells another one.
_READ_CHARACTERS = 300_000
_SNIFFED_ROWS = 20
_MOST_COLUMNS = 40
_SAMPLES = 3
_CELL_WIDTH = 40
_LONGEST_NAME = 60  # hashes and sentences are longer, names of columns seldom
# Rows of larger tables with quotation marks are not counted: that takes a second and more.
_COUNTED_CHARACTERS = 20_000_000
_BLANK_LINES = re.compile(r"\n((?:\r?\n)++)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class _Record:
    """A row, and the lines of the file in which it stands."""

    cells: list[str]
    first_line: int
    last_line: int


def table_digest(text: str, tag: str) -> list[DigestRow]:
    is_whole = len(text) <= _READ_CHARACTERS
    head = text if is_whole else text[: text.rfind("\n", 0, _READ_CHARACTERS) + 1]
    try:
        delimiter = _delimiter(head, _DELIMITERS[tag])
        rows = list(islice(_records(head, delimiter), _READ_ROWS + 1))
        total = _row_count(text, delimiter)
    except csv.Error:
        return []
    if not is_whole and len(rows) <= _READ_ROWS:
        rows = rows[:-1]  # which may go on behind the head
    if len(rows) < (1 if is_whole else 2):
        return []
    width = len(rows[0].cells)
    names: list[str] = []
    first = [cell.strip() for cell in rows[0].cells]
    named = [name for name in first if name]
    # Each name is a short text, and no two are the same.
    is_header = named and len(set(named)) == len(named) and max(map(len, named)) <= _LONGEST_NAME
    if is_header and {*map(cell_type, named)} == {"text"}:
        names = rows.pop(0).cells
        total = None if total is None else total - 1
    shape = [counted(width, "column")]
    shape.append("rows not counted" if total is None else counted(total, "row"))
    if tag == "csv" and delimiter != ",":
        shape.append(f"parted by {_NAMES[delimiter]}")
    if not names:
        shape.append("no header")
    if total is None or len(rows) < total:
        shape.append(f"types from the first {len(rows)}")
    if ragged := sum(len(row.cells) != width for row in rows):
        shape.append(f"{counted(ragged, 'row')} with fewer or more cells")
    return [
        DigestRow(", ".join(shape)),
        *_columns(names, rows, width),
        *(_sample(row, delimiter) for row in rows[:_SAMPLES]),
    ]


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


def _columns(names: Sequence[str], rows: Sequence[_Record], width: int) -> Iterator[DigestRow]:
    for place in range(min(width, _MOST_COLUMNS)):
        cells = (row.cells[place].strip() if place < len(row.cells) else "" for row in rows)
        filled = [cell for cell in cells if cell not in _EMPTY]
        types: set[str] = set()
        for cell in filled:
            types.add(cell_type(cell))
            if "text" in types:
                break
        kind = _WIDER.get(frozenset(types), "text")
        if len(types) < 2:
            kind = next(iter(types), "empty")
        name = (names[place].strip() if names else "") or f"column {place + 1}"
        missing = len(rows) - len(filled)
        empty = f", {missing} empty" if missing and filled else ""
        yield DigestRow(shortened(f"{cut(name, _CELL_WIDTH * 2)}: {kind}{empty}"))
    if width > _MOST_COLUMNS:
        yield DigestRow(more_row(width - _MOST_COLUMNS))


def _sample(record: _Record, delimiter: str) -> DigestRow:
    cells: list[str] = []
    for cell in record.cells[:_MOST_COLUMNS]:
        text = cut(cell.replace("\r\n", "\n").replace("\n", "\\n"), _CELL_WIDTH)
        cells.append(f'"{text}"' if delimiter in text else text)
    return DigestRow(shortened(delimiter.join(cells)), record.first_line, record.last_line)
