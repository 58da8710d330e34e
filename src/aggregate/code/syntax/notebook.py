"""Jupyter notebooks: their cells, and the lines of the file in which each line of a cell stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from aggregate.code.syntax.json_walk import JsonValue, JsonWalk

_KINDS = {"markdown": "markdown", "heading": "markdown", "html": "markdown", "raw": "raw"}
"""Kinds of cell that hold prose, by the names that they had in all versions of the format."""
_LANGUAGE_PLACES = (
    ("language_info", "name"),
    ("kernelspec", "language"),
    ("kernelspec", "name"),
)
_LEFT_OUT = ("outputs", "attachments")


class CellLine(NamedTuple):
    """A line of a cell, without its end, and the first and last line of the file in which it stands."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook.

    Attributes:
        kind: ``code``, ``markdown`` or ``raw``.
        lines: Its source.
        first_line: Where it begins in the file, 1-based.
        last_line: Where it ends.
        outputs: How many outputs it has.
        output_bytes: How many bytes of the file these and the cell's attachments take.
    """

    kind: str
    lines: tuple[CellLine, ...]
    first_line: int
    last_line: int
    outputs: int = 0
    output_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook.

    Attributes:
        language: What its code is written in, as the notebook calls it, in lower case; ``""`` where it does not say.
        cells: In order.
    """

    language: str
    cells: tuple[Cell, ...]


_Members = Mapping[str, JsonValue]


def read_notebook(text: str) -> Notebook | None:
    """Return the cells of a notebook (nbformat 2 to 4), or ``None`` where ``text`` is JSON but no notebook.

    Raises:
        NotebookError: The text is damaged; the error tells the line.
    """
    walk = JsonWalk(text)
    members = dict(walk.members(walk.document()))
    if "worksheets" in members:
        sheets = walk.items(members["worksheets"])
        arrays = [array for sheet in sheets if (array := walk.member(sheet, "cells"))]
    else:
        arrays = [members["cells"]] if "cells" in members else []
    if not arrays or any(walk.kind(array) != "[" for array in arrays):
        return None
    # Up to version 2 the pieces of a source are lines without their ends.
    between = "\n" if walk.written(members.get("nbformat")) in ("1", "2") else ""
    objects = (value for array in arrays for value in walk.items(array) if walk.kind(value) == "{")
    cells = tuple(_cell(walk, value, between) for value in objects)
    return Notebook(_language(walk, members, arrays), cells)


def _cell(walk: JsonWalk, value: JsonValue, between: str) -> Cell:
    first_line = walk.line(value.start)
    members = dict(walk.members(value))
    cell_type = walk.string(members.get("cell_type"))
    lines = _lines(walk, members.get("source") or members.get("input"), between)
    if cell_type == "heading":
        level = walk.written(members.get("level"))
        marks = "#" * (int(level) if level in ("1", "2", "3", "4", "5", "6") else 1)
        lines = [line._replace(text=f"{marks} {line.text}") for line in lines]
    outputs = members.get("outputs")
    return Cell(
        _KINDS.get(cell_type, "code"),
        tuple(lines),
        first_line,
        walk.line(value.end),
        sum(1 for _ in walk.items(outputs)) if outputs else 0,
        sum(walk.byte_size(members[name]) for name in _LEFT_OUT if name in members),
    )


def _lines(walk: JsonWalk, source: JsonValue | None, between: str) -> list[CellLine]:
    """Return the lines of a source: a text, or a list of texts that follow each other without a break."""
    if source is None:
        return []
    pieces = walk.items(source) if walk.kind(source) == "[" else [source]
    lines: list[CellLine] = []
    parts: list[str] = []  # of a line that has not ended yet
    begins = line = 0
    for piece in pieces:
        line = walk.line(piece.start)
        *ended, rest = (walk.string(piece) + between).split("\n")
        for text in ended:
            lines.append(CellLine("".join([*parts, text]), begins if parts else line, line))
            parts = []
        if rest:
            begins = begins if parts else line
            parts.append(rest)
    if parts:
        lines.append(CellLine("".join(parts), begins, line))
    return [line._replace(text=line.text.rstrip("\r")) for line in lines]


def _language(walk: JsonWalk, members: _Members, arrays: list[JsonValue]) -> str:
    """Return what the notebook says of the language of its code."""
    metadata = members.get("metadata")
    for outer, inner in _LANGUAGE_PLACES:
        if name := walk.string(walk.member(walk.member(metadata, outer), inner)):
            return name.lower()
    cells: Iterator[JsonValue] = (cell for array in arrays for cell in walk.items(array))
    names = (walk.string(walk.member(cell, "language")) for cell in cells)  # nbformat 2 and 3
    return next(filter(None, names), "").lower()
