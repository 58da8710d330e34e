"""Files of records, shown by what their rows hold: tables and JSON Lines."""

from aggregate.base.text import line_count
from aggregate.base.values import Span, View, ViewRequest
from aggregate.code.syntax.languages import fence_tag
from aggregate.code.views.json_lines import json_lines_digest
from aggregate.code.views.labels import DigestRow, counted
from aggregate.code.views.table import table_digest

_JSON_LINES = (".jsonl", ".ndjson")
_TABLES = frozenset({"csv", "tsv"})


def records_view(request: ViewRequest) -> View | None:
    """Return columns or keys, their types, the number of rows and the first ones (rule M-32).

    Rows lead to the lines in which they stand. A file that is no longer than that is shown as it is.

    Returns:
        ``None`` where the file holds no records, or none that can be read.
    """
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
