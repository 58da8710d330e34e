"""What a notebook is made of: headings in its prose, cells of code, and what these define."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.notebook import Cell, CellLine, Notebook
from aggregate.code.views.notebook_script import CellPlace, Script

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")
_NO_PROSE = re.compile(r"\s*(?:#|<|!?\[!?\[|!\[|\*\[|[-=*_]{3,}\s*$|$)")
"""How lines begin that say nothing of a notebook: headings, markup, badges, pictures, rules."""


def notebook_definitions(script: Script, code: Module) -> tuple[Definition, ...]:
    """Return headings, cells of code and what ``code`` defines in them, in order, by the lines of the script.

    A heading reaches to the next one of its level or above. Cells are called by their number among all cells of the
    notebook: ``cell 3``.
    """
    found = [*_headings_and_cells(script), *code.definitions]
    found.sort(key=lambda definition: (definition.start, -definition.end))
    end = len(code.source)
    last_line = script.places[-1].last_line if script.places else 0
    nested: list[Definition] = []
    around: list[int] = []  # the headings above, by their places in ``nested``
    for definition in found:
        if definition.level:
            while around and nested[around[-1]].level >= definition.level:
                nested[around[-1]] = replace(
                    nested[around[-1]], end=definition.start, last_line=definition.first_line - 1
                )
                around.pop()
        depth = len(around) + (definition.kind not in ("heading", "cell"))
        nested.append(replace(definition, depth=definition.depth + depth))
        if definition.level:
            around.append(len(nested) - 1)
    for index in around:
        nested[index] = replace(nested[index], end=end, last_line=last_line)
    return tuple(nested)


def first_prose(notebook: Notebook) -> str:
    """Return the first paragraph of a notebook's prose, ``""`` where there is none."""
    for cell in notebook.cells:
        if cell.kind != "markdown":
            continue
        paragraph: list[str] = []
        for line in cell.lines:
            if not _NO_PROSE.match(line.text):
                paragraph.append(line.text)
            elif paragraph:
                break
        if paragraph:
            return "\n".join(paragraph)
    return ""


def _headings_and_cells(script: Script) -> Iterator[Definition]:
    lines = script.text.encode(errors="surrogatepass").split(b"\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for number, place in enumerate(script.places, start=1):
        if place.cell.kind == "code":
            yield _definition("cell", f"cell {number}", place, starts)
            continue
        for offset, level, title in _headings(place.cell):
            line = place.first_line + 1 + offset
            at = CellPlace(place.cell, line, line)
            yield _definition("heading", title, at, starts, level)


def _definition(
    kind: str, name: str, place: CellPlace, starts: list[int], level: int = 0
) -> Definition:
    start = starts[place.first_line - 1]
    return Definition(
        kind,
        (name,),
        start,
        starts[place.last_line] - 1,
        starts[place.first_line] - 1,
        depth=0,
        first_line=place.first_line,
        last_line=place.last_line,
        level=level,
    )


def _headings(cell: Cell) -> Iterator[tuple[int, int, str]]:
    """Yield the headings of a cell of prose: the line, from 0, the level and the title."""
    fence = ""
    for offset, line in enumerate(cell.lines if cell.kind == "markdown" else _NO_LINES):
        mark = _FENCE.match(line.text)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and (match := _HEADING.match(line.text)) and match[2]:
            yield offset, len(match[1]), match[2]


_NO_LINES: tuple[CellLine, ...] = ()
