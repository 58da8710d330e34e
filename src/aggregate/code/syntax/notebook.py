"""Jupyter notebooks: their cells, and the lines of the file in which each line of a cell stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from json import JSONDecoder
from typing import NamedTuple

from aggregate.base.errors import NotebookError

_BLANKS = re.compile(r"[ \t\r\n]*+")
_SCALAR = re.compile(r"[^\s,\[\]{}:\"]++")
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = JSONDecoder(strict=False)


class JsonValue(NamedTuple):
    """A value in a text, from its first character to behind its last one."""

    start: int
    end: int


class JsonWalk:
    """A walk through one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._counted_to = 0
        self._line = 1

    def document(self) -> JsonValue:
        return JsonValue(self._after_blanks(0), len(self._text))

    def kind(self, value: JsonValue | None) -> str:
        return self._text[value.start : value.start + 1] if value else ""

    def written(self, value: JsonValue | None) -> str:
        return self._text[value.start : value.end] if value else ""

    def line(self, offset: int) -> int:
        if offset < self._counted_to:
            self._line -= self._text.count("\n", offset, self._counted_to)
        else:
            self._line += self._text.count("\n", self._counted_to, offset)
        self._counted_to = offset
        return self._line

    def members(self, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
        if self.kind(value) != "{":
            return
        position = self._after_blanks(value.start + 1)
        while self._text[position : position + 1] != "}":
            if self._text[position : position + 1] != '"':
                raise self._damage(position)
            end = self._end(position)
            key = self._decoded(JsonValue(position, end))
            position = self._after_blanks(end)
            if self._text[position : position + 1] != ":":
                raise self._damage(position)
            start = self._after_blanks(position + 1)
            end = self._end(start)
            yield key, JsonValue(start, end)
            position = self._next(end, "}")

    def items(self, value: JsonValue) -> Iterator[JsonValue]:
        if self.kind(value) != "[":
            return
        position = self._after_blanks(value.start + 1)
        while self._text[position : position + 1] != "]":
            end = self._end(position)
            yield JsonValue(position, end)
            position = self._next(end, "]")

    def member(self, value: JsonValue | None, name: str) -> JsonValue | None:
        return dict(self.members(value)).get(name) if value else None

    def string(self, value: JsonValue | None) -> str:
        return self._decoded(value) if value and self.kind(value) == '"' else ""

    def byte_size(self, value: JsonValue) -> int:
        """Return how much of the file a value takes; empty lists and objects take nothing."""
        if self._after_blanks(value.start + 1) == value.end - 1:
            return 0
        return len(self.written(value).encode(errors="surrogatepass"))

    def _end(self, start: int) -> int:
        character = self._text[start : start + 1]
        if character not in ("{", "[", '"'):
            match = _SCALAR.match(self._text, start)
            if match is None:
                raise self._damage(start)
            return match.end()
        depth = 0
        for match in _STRUCTURE.finditer(self._text, start):
            piece = match[0]
            if piece == '"':
                raise self._damage(match.start())  # it does not end
            if piece in ("{", "["):
                depth += 1
            elif piece in ("}", "]"):
                depth -= 1
            if not depth:
                return match.end()
        raise self._damage(start)

    def _next(self, end: int, closing: str) -> int:
        position = self._after_blanks(end)
        character = self._text[position : position + 1]
        if character == ",":
            return self._after_blanks(position + 1)
        if character != closing:
            raise self._damage(position)
        return position

    def _decoded(self, value: JsonValue) -> str:
        try:
            text, _ = _DECODER.raw_decode(self._text, value.start)
        except ValueError:
            raise self._damage(value.start) from None
        return _SURROGATE.sub("\ufffd", text)

    def _damage(self, position: int) -> NotebookError:
        return NotebookError(
            f"no notebook can be read from it, line {self.line(position)} is no JSON"
        )

    def _after_blanks(self, position: int) -> int:
        match = _BLANKS.match(self._text, position)
        return match.end() if match else position


_KINDS = {"markdown": "markdown", "heading": "markdown", "html": "markdown", "raw": "raw"}
_LANGUAGE_PLACES = (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name"))
_LEFT_OUT = ("outputs", "attachments")


class CellLine(NamedTuple):
    """A line of a cell, without its end, and the first and last line of the file in which it stands."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook."""

    kind: str  # ``code``, ``markdown`` or ``raw``
    lines: tuple[CellLine, ...]
    first_line: int
    last_line: int
    outputs: int = 0
    output_bytes: int = 0  # how many bytes of the file these and the cell's attachments take


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook."""

    language: str
    cells: tuple[Cell, ...]


def read_notebook(text: str) -> Notebook | None:
    """Return the cells of a notebook (nbformat 2 to 4), or ``None`` where ``text`` is JSON but no notebook."""
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
    cells: list[Cell] = []
    for value in objects:
        first_line = walk.line(value.start)
        own = dict(walk.members(value))
        cell_type = walk.string(own.get("cell_type"))
        lines = _lines(walk, own.get("source") or own.get("input"), between)
        if cell_type == "heading":
            level = walk.written(own.get("level"))
            marks = "#" * (int(level) if level in ("1", "2", "3", "4", "5", "6") else 1)
            lines = [line._replace(text=f"{marks} {line.text}") for line in lines]
        outputs = own.get("outputs")
        number = sum(1 for _ in walk.items(outputs)) if outputs else 0
        size = sum(walk.byte_size(own[name]) for name in _LEFT_OUT if name in own)
        kind, last_line = _KINDS.get(cell_type, "code"), walk.line(value.end)
        cells.append(Cell(kind, tuple(lines), first_line, last_line, number, size))
    metadata = members.get("metadata")
    inner = (walk.member(walk.member(metadata, place), name) for place, name in _LANGUAGE_PLACES)
    of_cells = (
        walk.member(cell, "language") for array in arrays for cell in walk.items(array)
    )  # nbformat 2 and 3
    names = map(walk.string, chain(inner, of_cells))
    return Notebook(next(filter(None, names), "").lower(), tuple(cells))


def _lines(walk: JsonWalk, source: JsonValue | None, between: str) -> list[CellLine]:
    # A text, or a list of texts that follow each other without a break.
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
