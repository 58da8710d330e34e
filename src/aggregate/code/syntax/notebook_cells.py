"""The cells of a Jupyter notebook, with their line numbers."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from json import JSONDecoder
from typing import Any, NamedTuple

from aggregate.base.errors import NotebookError
from aggregate.base.values import escape_surrogates
from aggregate.code.syntax.definitions import Definition

_DECODER = JSONDecoder(strict=False)
_KINDS = ("code", "markdown", "raw")
_LANGUAGE_PLACES = (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name"))
_SUFFIXES = {
    "julia": ".jl", "r": ".r", "ir": ".r", "javascript": ".js", "typescript": ".ts",
    "scala": ".scala",
}  # fmt: skip
_LEFT_OUT = ("outputs", "attachments")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


class CellLine(NamedTuple):
    """A line of a cell, and the lines of the file that it comes from."""

    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Cell:
    kind: str  # ``code``, ``markdown`` or ``raw``
    lines: tuple[CellLine, ...]
    first_line: int
    last_line: int
    outputs: int = 0
    output_bytes: int = 0  # bytes of the outputs and attachments in the file

    def headings(self) -> Iterator[tuple[int, int, str]]:
        """Yield line (from 0), level and title of each heading in the cell."""
        fence = ""
        for number, line in enumerate(self.lines if self.kind == "markdown" else ()):
            mark = _FENCE.match(line.text)
            if mark and fence in ("", mark[1]):
                fence = "" if fence else mark[1]
            elif not fence and (match := _HEADING.match(line.text)) and match[2]:
                yield number, len(match[1]), match[2]


@dataclass(frozen=True, slots=True)
class Notebook:
    language: str
    cells: tuple[Cell, ...]


class _Placed(NamedTuple):
    """A value in a JSON text, with its position."""

    value: Any
    start: int
    end: int


def read_notebook(text: str) -> Notebook | None:
    """Return a notebook (nbformat 4), or ``None`` for other JSON."""
    try:
        document = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        why = f"line {line} is not JSON" if line else str(error)
        raise NotebookError(f"no notebook can be read from it, {why}") from None
    if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
        return None
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    array = _members(text, _next(text, 0))["cells"]
    cells = (
        _cell(text, placed, starts)
        for placed in _parts(text, array.start)
        if isinstance(placed.value, dict)
    )
    return Notebook(_language(document.get("metadata")), tuple(cells))


def cells_in_place(path: str, text: str) -> tuple[str, str, Sequence[Definition]]:
    """Return the cells of a notebook as a program.

    The result has the path, the text and the headings. Files other than notebooks are not changed. Outputs and JSON are
    left out, prose becomes comments. Lines keep the numbers of the file, or of the ``full`` view if the notebook is
    compact.
    """
    try:
        notebook = read_notebook(text) if path.lower().endswith(".ipynb") else None
    except NotebookError:
        notebook = None
    if notebook is None:
        return path, text, ()
    lines = [""] * (text.count("\n") + 1)
    places: list[list[int]] = []
    for cell in notebook.cells:
        places.append([cell.first_line, *(part.first_line for part in cell.lines)])
    if is_compact(chain.from_iterable(places)):
        following = 1
        for index, own in enumerate(places):
            places[index] = list(range(following, following + len(own)))
            following += len(own) + 1  # with a gap
        lines = [""] * places[-1][-1]
    headings: list[tuple[int, int, str]] = []
    for cell, (_, *own) in zip(notebook.cells, places, strict=True):
        for number, line in zip(own, cell.lines, strict=True):
            words = line.text if cell.kind == "code" else f"# {line.text}"
            lines[number - 1] = f"{lines[number - 1]} {words}" if lines[number - 1] else words
        headings += ((own[line], level, title) for line, level, title in cell.headings())
    starts = line_starts(lines)
    found = [
        definition_at("heading", name, (at, at), starts, level) for at, level, name in headings
    ]
    suffix = _SUFFIXES.get(notebook.language, ".py")
    return path.removesuffix(path[-6:]) + suffix, "\n".join(lines), found


def line_starts(lines: Sequence[str]) -> list[int]:
    """Return the position of the first byte of each line, and of the end."""
    sizes = (len(line.encode(errors="surrogatepass")) + 1 for line in lines)
    return list(accumulate(sizes, initial=0))


def definition_at(
    kind: str, name: str, lines: tuple[int, int], starts: Sequence[int], level: int = 0
) -> Definition:
    """Return a definition of some lines (1-based) without a body."""
    start, end = starts[lines[0] - 1], starts[lines[1]] - 1
    return Definition(kind, (name,), start, end, starts[lines[0]] - 1, 0, *lines, level)


def is_compact(numbers: Iterable[int]) -> bool:
    """Return whether most cells are written on a single line of the notebook's file."""
    counts = Counter(numbers)
    return 2 * len(counts) < counts.total()


def _cell(text: str, placed: _Placed, starts: Sequence[int]) -> Cell:
    members = _members(text, placed.start)
    kind, outputs = placed.value.get("cell_type"), placed.value.get("outputs")
    omitted = (members[name] for name in _LEFT_OUT if placed.value.get(name))
    parts = (text[part.start : part.end].encode(errors="surrogatepass") for part in omitted)
    return Cell(
        kind if kind in _KINDS else "code",
        tuple(_lines(text, members["source"], starts)) if "source" in members else (),
        bisect_right(starts, placed.start),
        bisect_right(starts, placed.end),
        len(outputs) if isinstance(outputs, list) else 0,
        sum(map(len, parts)),
    )


def _lines(text: str, source: _Placed, starts: Sequence[int]) -> Iterator[CellLine]:
    """Yield the lines of a cell, whose source is a text or a list of texts."""
    pieces: Iterable[_Placed] = [source]
    if isinstance(source.value, list):
        pieces = _parts(text, source.start)
    begun, first, last = "", 0, 0
    for piece in pieces:
        if not isinstance(piece.value, str):
            continue
        last = bisect_right(starts, piece.start)
        *ends, rest = escape_surrogates(piece.value).split("\n")
        for end in ends:
            yield CellLine((begun + end).rstrip("\r"), first or last, last)
            begun, first = "", 0
        if rest:
            begun, first = begun + rest, first or last
    if begun:
        yield CellLine(begun.rstrip("\r"), first, last)


def _language(metadata: object) -> str:
    for section, name in _LANGUAGE_PLACES:
        inner = metadata.get(section) if isinstance(metadata, dict) else None
        language = inner.get(name) if isinstance(inner, dict) else None
        if language and isinstance(language, str):
            return language.lower()
    return ""


def _members(text: str, start: int) -> dict[str, _Placed]:
    parts = list(_parts(text, start))
    return {key.value: value for key, value in zip(parts[::2], parts[1::2], strict=True)}


def _parts(text: str, start: int) -> Iterator[_Placed]:
    """Yield the items of the JSON list at ``start``.

    Of a JSON object the keys and values are yielded.
    """
    position = _next(text, start + 1)
    while text[position] not in "]}":
        value, end = _DECODER.raw_decode(text, position)
        yield _Placed(value, position, end)
        position = _next(text, end)


def _next(text: str, position: int) -> int:
    while text[position] in " \t\r\n,:":
        position += 1
    return position
