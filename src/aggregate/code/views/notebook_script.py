"""A notebook as a script: its cells one below the other in the percent format, prose as comments."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aggregate.base.text import find_invisible
from aggregate.base.values import Span
from aggregate.code.syntax.languages import Language, language_named
from aggregate.code.syntax.notebook import Cell, Notebook
from aggregate.code.views.digest import byte_size, counted

_MARKER = "%%"
_NAMES = {
    "bash": "bash", "c#": "csharp", "c++": "cpp", "ipython": "python", "ir": "r",
    "node": "javascript", "pyspark": "python", "python2": "python", "python3": "python",
    "sagemath": "python", "sage": "python", "f#": "fsharp", "gophernotes": "go",
}  # fmt: skip
_VERSION = re.compile(r"[ _-]?[\d.]+$")
_COMMENTS = {
    "--": ("haskell", "lua", "sql"),
    "//": (
        "c", "cpp", "csharp", "fsharp", "go", "groovy", "java", "javascript", "kotlin", "php",
        "rust", "scala", "swift", "tsx", "typescript", "zig",
    ),
}  # fmt: skip
_COMMENT = {name: mark for mark, names in _COMMENTS.items() for name in names}
_EMBEDDED_DATA = re.compile(r"(data:[\w/+.-]{1,80};base64,)([A-Za-z0-9+/=]{200,})")
_MAGIC = re.compile(
    rb"^[ \t]*(?:%%?[A-Za-z]|!(?!=)|\?{1,2}\w)[^\n]*|^[\w.]+\?{1,2}[ \t]*$", re.MULTILINE
)
# A magic behind which the cell is not Python; behind the four named ones it is.
_CELL_MAGIC = re.compile(rb"\s*%%(?!time\b|timeit\b|capture\b|prun\b)\w")
_CELL_START = re.compile(rb"^# %%(?: .*)?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a cell stands in a script: its marker's line and its last one, 1-based."""

    cell: Cell
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Script:
    """A notebook as a script."""

    text: str
    origins: tuple[tuple[int, int], ...]  # of each line its lines in the file; zeros for none
    places: tuple[CellPlace, ...]
    tag: str
    language: Language | None
    comment: str

    def origin(self, first_line: int, last_line: int) -> tuple[int, int]:
        """Return the run of lines of the file that a run of lines of the script stands for."""
        known = [pair for pair in self.origins[first_line - 1 : last_line] if pair[0]]
        return (min(known)[0], max(end for _, end in known)) if known else (0, 0)

    def through(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Return spans of a view of the script as spans of the same view of the notebook's file."""
        if not spans:
            return ()
        origins = [(0, 0)] * spans[-1].end
        for start, end, first, last in spans:
            if end - start == last - first:
                origins[start - 1 : end] = self.origins[first - 1 : last]
            else:
                origins[start - 1 : end] = [self.origin(first, last)] * (end - start + 1)
        return joined_spans(origins)


def script_of(notebook: Notebook, text: str) -> Script:
    """Return a notebook's cells as a script; ``text`` is that of its file."""
    name = _VERSION.sub("", notebook.language) or "python"
    tag = _NAMES.get(name, name)
    language = language_named(tag)
    if language is not None and not language.is_installed:
        language = None
    comment = _COMMENT.get(tag, "#")
    lines: list[str] = []
    origins: list[tuple[int, int]] = []
    places: list[CellPlace] = []
    for cell in notebook.cells:
        if lines:
            lines.append("")
            origins.append((0, 0))
        first_line = len(lines) + 1
        kind = "" if cell.kind == "code" else f" [{cell.kind}]"
        noun = counted(cell.outputs, "output") if cell.outputs else "attachments"
        size = byte_size(cell.output_bytes)
        left_out = f" {noun} left out, {size}" if cell.outputs or cell.output_bytes else ""
        lines.append(f"{comment} {_MARKER}{kind}{left_out}")
        origins.append((cell.first_line, cell.last_line))
        if cell.kind == "code":
            lines += (line.text for line in cell.lines)
        else:
            shown = (
                _EMBEDDED_DATA.sub(
                    lambda data: f"{data[1]}[{byte_size(len(data[2]))} left out]", line.text
                )
                for line in cell.lines
            )
            lines += (f"{comment} {text}" if text else comment for text in shown)
        origins += ((line.first_line, line.last_line) for line in cell.lines)
        places.append(CellPlace(cell, first_line, len(lines)))
    script = _with_escapes("\n".join(lines) + "\n", text)
    if language is not None and language.name == "python":
        language = replace(language, hidden=_hidden_in_cells)
    fence = tag if re.fullmatch(r"[\w#+-]{1,30}", tag) else "text"
    return Script(script, tuple(origins), tuple(places), fence, language, comment)


def joined_spans(origins: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Return spans for lines of which each stands for the run of lines of the file beside it; zeros stand for none."""
    spans: list[Span] = []
    for number, (first, last) in enumerate(origins, start=1):
        if not first:
            continue
        before = spans[-1] if spans else Span(0, 0, 0, 0)
        follows = before.start > 0 and before.end == number - 1
        is_exact = before.end - before.start == before.source_end - before.source_start
        if follows and is_exact and (first, last) == (before.source_end + 1,) * 2:
            spans[-1] = before._replace(end=number, source_end=first)
        elif (
            follows
            and (first, last) == (before.source_start, before.source_end)
            and (not is_exact or before.start == before.end)
        ):
            spans[-1] = before._replace(end=number)
        else:
            spans.append(Span(number, number, first, last))
    return tuple(spans)


def _with_escapes(script: str, text: str) -> str:
    # Those that stand in the file itself are told of when it is read.
    invisible = find_invisible(script)
    for kind in invisible.kinds if invisible else ():
        if kind not in text:
            escape = kind.encode("utf-16-be").hex()
            pieces = (f"\\u{escape[i : i + 4]}" for i in range(0, len(escape), 4))
            script = script.replace(kind, "".join(pieces))
    return script


def _hidden_in_cells(source: bytes) -> Iterator[tuple[int, int]]:
    starts = [match.end() for match in _CELL_START.finditer(source)]
    ends = [*(match.start() for match in _CELL_START.finditer(source)), len(source)][1:]
    for start, end in zip(starts, ends, strict=True):
        if _CELL_MAGIC.match(source, start, end):
            yield start, end
        else:
            yield from (match.span() for match in _MAGIC.finditer(source, start, end))
