"""Files of records, tables and JSON Lines, shown by what their rows hold."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.languages import fence_tag
from aggregate.code.views.digest import DigestRow, counted, cut, more_row, shortened

_READ_ROWS = 1_000
_SAMPLES = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
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
# Types are told from so much of a table: more of it seldom tells another one.
_TABLE_CHARACTERS = 300_000
_SNIFFED_ROWS = 20
_MOST_COLUMNS = 40
_CELL_WIDTH = 40
_LONGEST_NAME = 60  # hashes and sentences are longer, names of columns seldom
# Rows of larger tables with quotation marks are not counted: that takes a second and more.
_COUNTED_CHARACTERS = 20_000_000
_BLANK_LINES = re.compile(r"\n((?:\r?\n)++)")


@dataclass(frozen=True, slots=True)
class _Record:
    """A row, and the lines of the file in which it stands."""

    cells: list[str]
    first_line: int
    last_line: int


def table_digest(text: str, tag: str) -> list[DigestRow]:
    is_whole = len(text) <= _TABLE_CHARACTERS
    head = text if is_whole else text[: text.rfind("\n", 0, _TABLE_CHARACTERS) + 1]
    try:
        delimiter = _delimiter(head, _DELIMITERS[tag])
        rows = list(islice(_records(head, delimiter), _READ_ROWS + 1))
        total = _table_row_count(text, delimiter)
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
        *(_table_sample(row, delimiter) for row in rows[:_SAMPLES]),
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


def _table_row_count(text: str, delimiter: str) -> int | None:
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


def _table_sample(record: _Record, delimiter: str) -> DigestRow:
    cells: list[str] = []
    for cell in record.cells[:_MOST_COLUMNS]:
        text = cut(cell.replace("\r\n", "\n").replace("\n", "\\n"), _CELL_WIDTH)
        cells.append(f'"{text}"' if delimiter in text else text)
    return DigestRow(shortened(delimiter.join(cells)), record.first_line, record.last_line)


_READ_CHARACTERS = 1_000_000
_MOST_KEYS = 40
_VALUE_WIDTH = 60
_ROW_WIDTH = 400
_BLANK_LINE = re.compile(r"\n[ \t\r]*(?=\n|\Z)")
_TYPES = {"NoneType": "null", "str": "text", "dict": "object"}


def json_lines_digest(text: str) -> list[DigestRow]:
    rows: list[tuple[int, object]] = []
    damaged = read = 0
    for number, line in islice(_lines(text), _READ_ROWS):
        read += 1
        try:
            rows.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            damaged += 1
    if not rows or damaged > len(rows):
        return []
    total = _row_count(text)
    size = [counted(total, "row")]
    size += [f"keys from the first {read}"] if read < total else []
    size += (
        [f"{counted(damaged, 'line')} that {'is' if damaged == 1 else 'are'} no JSON"]
        if damaged
        else []
    )
    return [
        DigestRow(", ".join(size)),
        *map(DigestRow, _keys([value for _, value in rows])),
        *(DigestRow(_sample(value), number, number) for number, value in rows[:_SAMPLES]),
    ]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, match in enumerate(_LINE.finditer(text), start=1):
        if match.end() > _READ_CHARACTERS:
            return
        if match[0].strip():
            yield number, match[0]


def _row_count(text: str) -> int:
    lines = text.count("\n") + (not text.endswith("\n"))
    inner = text.rstrip()
    ending = lines - inner.count("\n") - 1
    first = len(inner) - len(inner.lstrip())
    return lines - ending - inner.count("\n", 0, first) - len(_BLANK_LINE.findall(inner, first))


def _keys(rows: list[object]) -> Iterator[str]:
    objects = [row for row in rows if isinstance(row, dict)]
    types: dict[str, Counter[str]] = {}
    for row in objects:
        for key, value in row.items():
            types.setdefault(key, Counter())[_type(value)] += 1
    for key, counts in islice(types.items(), _MOST_KEYS):
        present = counts.total()
        often = "" if present == len(rows) else f", in {present} of {len(rows)}"
        yield shortened(
            f"{cut(_on_one_line(key), _VALUE_WIDTH)}: {' or '.join(sorted(counts))}{often}"
        )
    if len(types) > _MOST_KEYS:
        yield more_row(len(types) - _MOST_KEYS)
    others = Counter(_type(row) for row in rows if not isinstance(row, dict))
    yield from (f"{counted(number, 'row')} of {name}" for name, number in sorted(others.items()))


def _type(value: object) -> str:
    name = type(value).__name__
    return _TYPES.get(name, name)


def _sample(value: object) -> str:
    if not isinstance(value, Mapping):
        return cut(_dumped(value), _ROW_WIDTH)
    pairs = (f"{_dumped(key)}: {cut(_dumped(each), _VALUE_WIDTH)}" for key, each in value.items())
    return cut(f"{{{', '.join(pairs)}}}", _ROW_WIDTH)


def _dumped(value: object) -> str:
    return _on_one_line(json.dumps(value, ensure_ascii=False))


def _on_one_line(text: str) -> str:
    # Halves of pairs cannot be encoded.
    return (
        "".join(" " if c in "\n\r\x85\u2028\u2029" else c for c in text)
        .encode(errors="replace")
        .decode()
    )


_JSON_LINES = (".jsonl", ".ndjson")
_TABLES = frozenset({"csv", "tsv"})


def records_view(request: ViewRequest) -> View | None:
    """Return columns or keys, their types, the number of rows and the first ones (rule M-32)."""
    tag = fence_tag(request.path)
    if request.path.lower().endswith(_JSON_LINES):
        tag, rows = "json lines", json_lines_digest(request.text)
    elif tag in _TABLES:
        rows = table_digest(request.text, tag)
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
