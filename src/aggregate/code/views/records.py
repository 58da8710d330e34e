"""Files of records, tables and JSON Lines, shown by what their rows hold."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.languages import fence_tag
from aggregate.code.views.digest import DigestRow, counted, cut, more_row, shortened
from aggregate.code.views.table import table_digest

_READ_ROWS = 1_000
_READ_CHARACTERS = 1_000_000
_MOST_KEYS = 40
_SAMPLES = 3
_VALUE_WIDTH = 60
_ROW_WIDTH = 400
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
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
