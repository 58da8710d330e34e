"""Mermaid's flowcharts as lists.

A forge draws them; a site would have to load the program that does from another host, so here each line of a chart is
a line of a list: what leads where, by the names in the boxes.
"""

import re
from collections.abc import Iterator

from docs_build.markdown import escaped

_NODE = re.compile(r"(?P<name>\w+)(?:\[\(|\(\[|\[|\()(?P<label>[^\])]*)(?:\)\]|\]\)|\]|\))")
_ARROW = re.compile(r"\s*(?P<arrow><-->|-->)\s*")
_SIGNS = {"-->": " → ", "<-->": " ↔ "}


def flowchart_as_list(lines: list[str]) -> list[str]:
    """Return the markdown of a chart's statements, in their order; the first line names the chart's kind."""
    labels = dict(_labels(lines))
    told = []
    for line in lines[1:]:
        parts = _ARROW.split(_NODE.sub(r"\g<name>", line).strip())
        told.append("- " + "".join(_SIGNS.get(part) or labels.get(part, part) for part in parts))
    return told


def _labels(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what stands in each box, its first line in bold, by the box's name."""
    for line in lines:
        for node in _NODE.finditer(line):
            title, _, rest = node["label"].partition("<br>")
            told = f" ({escaped(rest)})" if rest else ""
            yield node["name"], f"**{escaped(title)}**{told}"
