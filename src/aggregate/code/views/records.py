"""Rows of digests, and the digests of tables (CSV and the like) and of JSON Lines."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from typing import NamedTuple

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import line_count
from aggregate.base.values import escape_surrogates
from aggregate.code.syntax.languages import fence_tag

LINE_WIDTH = 160


class DigestRow(NamedTuple):
    """A digest's line, with the lines of the file described."""

    text: str
    first_line: int = 0
    last_line: int = 0


def shortened(line: str) -> str:
    return cut(line, LINE_WIDTH)


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith(("s", "x")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def more_row(number: int) -> str:
    return f"... and {number} more"


def byte_size(number: int) -> str:
    if number < 1_000:
        return counted(number, "byte")
    return f"{number / 1_000:.0f} KB" if number < 1_000_000 else f"{number / 1_000_000:,.1f} MB"


_READ_ROWS = 1_000
# Characters read to find types and keys: more text rarely changes them.
_READ_CHARACTERS = 1_000_000
_SAMPLES = 3
_MOST_NAMES = 40  # columns or keys
_EMPTY = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
_PATTERNS = (
    ("int", re.compile(r"[+-]?(?:0|[1-9]\d*|0x[\da-fA-F]+)")),  # 007 is a code
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
_JSON_LINES = (".jsonl", ".ndjson")
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SNIFFED_ROWS = 20
_CELL_WIDTH, _VALUE_WIDTH, _ROW_WIDTH = 40, 60, 400
_LONGEST_NAME = 60  # hashes and sentences are longer, column names rarely
_TYPES = {"NoneType": "null", "str": "text", "dict": "object"}
_BREAKS = re.compile("[\n\r\x85\u2028\u2029]")


def records_view(request: ViewRequest) -> View | None:
    """Return the digest of a table or JSON Lines.

    The digest has columns or keys, types and the first rows (rule M-32). The result is ``None`` for other files.
    """
    tag = fence_tag(request.path)
    if request.path.lower().endswith(_JSON_LINES):
        tag, rows = "json lines", _json_lines_digest(request.text)
    elif tag in _DELIMITERS:
        rows = _table_digest(request.text, tag)
    else:
        return None
    if not rows:
        return None
    lines = line_count(request.text)
    rows = [DigestRow(f"{tag}, {counted(lines, 'line')}"), *rows]
    text = "\n".join(row.text for row in rows)
    if len(text) >= len(request.text):
        return View(request.text, (Span(1, lines, 1, lines),), fence_tag(request.path))
    spans = (
        Span(number, number, row.first_line, row.last_line)
        for number, row in enumerate(rows, start=1)
        if row.first_line
    )
    return View(text, tuple(spans), "text")


class _Record(NamedTuple):
    """A table's row, with the lines of the file."""

    cells: list[str]
    first_line: int
    last_line: int


def _table_digest(text: str, tag: str) -> list[DigestRow]:
    try:
        delimiter = _delimiter(text, _DELIMITERS[tag])
        records = _records(text, delimiter)
        rows = list(islice(records, _READ_ROWS + 1))
        total = len(rows) + sum(1 for _ in records)
    except csv.Error:
        return []
    if not rows:
        return []
    width = len(rows[0].cells)
    names: list[str] = []
    titles = [name for cell in rows[0].cells if (name := cell.strip())]
    # Names must be short and unique.
    is_header = (
        titles and len(set(titles)) == len(titles) and max(map(len, titles)) <= _LONGEST_NAME
    )
    if is_header and {*map(_cell_type, titles)} == {"text"}:
        names = rows.pop(0).cells
        total -= 1
    shape = [counted(width, "column"), counted(total, "row")]
    if tag == "csv" and delimiter != ",":
        shape.append(f"parted by {_NAMES[delimiter]}")
    if not names:
        shape.append("no header")
    if len(rows) < total:
        shape.append(f"types from the first {len(rows)}")
    if ragged := sum(len(row.cells) != width for row in rows):
        shape.append(f"{counted(ragged, 'row')} with fewer or more cells")
    return [
        DigestRow(", ".join(shape)),
        *_columns(names, rows, width),
        *(_table_sample(row, delimiter) for row in rows[:_SAMPLES]),
    ]


def _records(text: str, delimiter: str) -> Iterator[_Record]:
    reader = csv.reader(StringIO(text, newline="\n"), delimiter=delimiter)
    done = 0
    for cells in reader:
        if cells:
            yield _Record(cells, done + 1, reader.line_num)
        done = reader.line_num


def _delimiter(text: str, candidates: str) -> str:
    # The delimiter with the most rows of equal width, and more than one column.
    best = (0.0, 0, candidates[0])
    for delimiter in candidates:
        widths = Counter(len(r.cells) for r in islice(_records(text, delimiter), _SNIFFED_ROWS))
        width, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if width > 1 and (rows / widths.total(), width) > best[:2]:
            best = (rows / widths.total(), width, delimiter)
    return best[2]


def _columns(names: Sequence[str], rows: Sequence[_Record], width: int) -> Iterator[DigestRow]:
    for column in range(min(width, _MOST_NAMES)):
        cells = (row.cells[column].strip() if column < len(row.cells) else "" for row in rows)
        filled = [cell for cell in cells if cell not in _EMPTY]
        types = {*map(_cell_type, filled)}
        kind = _WIDER.get(frozenset(types), "text")
        if len(types) < 2:
            kind = next(iter(types), "empty")
        name = (names[column].strip() if names else "") or f"column {column + 1}"
        missing = len(rows) - len(filled)
        empty = f", {missing} empty" if missing and filled else ""
        yield DigestRow(shortened(f"{cut(name, _CELL_WIDTH * 2)}: {kind}{empty}"))
    if width > _MOST_NAMES:
        yield DigestRow(more_row(width - _MOST_NAMES))


def _cell_type(cell: str) -> str:
    if len(cell) > _LONGEST:
        return "text"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(cell)), "text")


def _table_sample(record: _Record, delimiter: str) -> DigestRow:
    cells: list[str] = []
    for cell in record.cells[:_MOST_NAMES]:
        text = cut(cell.replace("\r\n", "\n").replace("\n", "\\n"), _CELL_WIDTH)
        cells.append(f'"{text}"' if delimiter in text else text)
    return DigestRow(shortened(delimiter.join(cells)), record.first_line, record.last_line)


def _json_lines_digest(text: str) -> list[DigestRow]:
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    rows: list[tuple[int, object]] = []
    read = characters = 0
    for number, line in lines[:_READ_ROWS]:
        characters += len(line) + 1
        if characters > _READ_CHARACTERS:
            break
        read += 1
        try:
            rows.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            continue
    damaged = read - len(rows)
    if not rows or damaged > len(rows):
        return []
    size = [counted(len(lines), "row")]
    if read < len(lines):
        size.append(f"keys from the first {read}")
    if damaged:
        size.append(f"{counted(damaged, 'line')} that {'is' if damaged == 1 else 'are'} no JSON")
    return [
        DigestRow(", ".join(size)),
        *map(DigestRow, _keys([value for _, value in rows])),
        *(DigestRow(_sample(value), number, number) for number, value in rows[:_SAMPLES]),
    ]


def _keys(rows: list[object]) -> Iterator[str]:
    types: dict[str, Counter[str]] = {}
    for row in rows:
        for key, value in row.items() if isinstance(row, dict) else ():
            types.setdefault(key, Counter())[_type(value)] += 1
    for key, counts in islice(types.items(), _MOST_NAMES):
        present = counts.total()
        often = "" if present == len(rows) else f", in {present} of {len(rows)}"
        name = cut(_on_one_line(key), _VALUE_WIDTH)
        yield shortened(f"{name}: {' or '.join(sorted(counts))}{often}")
    if len(types) > _MOST_NAMES:
        yield more_row(len(types) - _MOST_NAMES)
    other_types = Counter(_type(row) for row in rows if not isinstance(row, dict))
    yield from (
        f"{counted(number, 'row')} of {name}" for name, number in sorted(other_types.items())
    )


def _type(value: object) -> str:
    name = type(value).__name__
    return _TYPES.get(name, name)


def _sample(value: object) -> str:
    if not isinstance(value, Mapping):
        return cut(_dumped(value), _ROW_WIDTH)
    pairs = (f"{_dumped(key)}: {cut(_dumped(item), _VALUE_WIDTH)}" for key, item in value.items())
    return cut(f"{{{', '.join(pairs)}}}", _ROW_WIDTH)


def _dumped(value: object) -> str:
    return _on_one_line(json.dumps(value, ensure_ascii=False))


def _on_one_line(text: str) -> str:
    return escape_surrogates(_BREAKS.sub(" ", text))
