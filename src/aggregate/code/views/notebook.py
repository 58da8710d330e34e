"""Views of Jupyter notebooks, made from their headings, cells and definitions."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from aggregate.base.errors import NotebookError
from aggregate.base.files import Span, View, ViewMode, ViewRequest, composed_spans
from aggregate.base.text import find_invisible
from aggregate.code.syntax.definitions import Definition, Module, with_headings
from aggregate.code.syntax.languages import Language, LanguageKind, comment_of, language_named
from aggregate.code.syntax.notebook_cells import (
    Cell,
    Notebook,
    definition_at,
    line_starts,
    read_notebook,
)
from aggregate.code.syntax.symbols import read_module
from aggregate.code.views.masked import masked
from aggregate.code.views.outline import indentation, numbered, without_bodies
from aggregate.code.views.records import byte_size, counted, more_row, shortened
from aggregate.code.views.summary import definition_rows, details, shorter_than

_MARKER = "%%"
_NAMES = {
    "bash": "bash", "c#": "csharp", "c++": "cpp", "ipython": "python", "ir": "r",
    "node": "javascript", "pyspark": "python", "python2": "python", "python3": "python",
    "sagemath": "python", "sage": "python", "f#": "fsharp", "gophernotes": "go",
}  # fmt: skip
_VERSION = re.compile(r"[ _-]?[\d.]+$")
_EMBEDDED_DATA = re.compile(r"(data:[\w/+.-]{1,80};base64,)([A-Za-z0-9+/=]{200,})")
_MAGIC = re.compile(
    rb"^[ \t]*(?:%%?[A-Za-z]|!(?!=)|\?{1,2}\w)[^\n]*|^[\w.]+\?{1,2}[ \t]*$", re.MULTILINE
)
# Cell magics of other languages; cells with one of these four are still Python.
_CELL_MAGIC = re.compile(rb"\s*%%(?!time\b|timeit\b|capture\b|prun\b)\w")
_CELL_START = re.compile(rb"^# %%(?: .*)?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Script:
    """The cells of a notebook as one script."""

    text: str
    origins: tuple[tuple[int, int], ...]  # the file's lines of each line; zeros for none
    # Cells with their first line (a marker) and last line in the script, 1-based.
    places: tuple[tuple[Cell, int, int], ...]
    tag: str
    language: Language | None
    comment: str

    def origin(self, first_line: int, last_line: int) -> tuple[int, int]:
        """Return which lines of the notebook's file some lines of the script come from."""
        pairs = [pair for pair in self.origins[first_line - 1 : last_line] if pair[0]]
        return (min(pairs)[0], max(end for _, end in pairs)) if pairs else (0, 0)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Which lines of the notebook's file each line of the script comes from."""
        numbered = enumerate(self.origins, start=1)
        return tuple(Span(number, number, *origin) for number, origin in numbered if origin[0])


def script_of(notebook: Notebook) -> Script:
    """Return a notebook's cells as a script."""
    name = _VERSION.sub("", notebook.language) or "python"
    tag = _NAMES.get(name, name)
    language = language_named(tag)
    if language is not None and not language.is_installed:
        language = None
    mark, _, end = comment_of(tag).partition(" ")
    comment = mark if mark and not end else "#"
    lines: list[str] = []
    origins: list[tuple[int, int]] = []
    places: list[tuple[Cell, int, int]] = []
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
            texts = (_EMBEDDED_DATA.sub(_without_data, line.text) for line in cell.lines)
            lines += (f"{comment} {text}" if text else comment for text in texts)
        origins += ((line.first_line, line.last_line) for line in cell.lines)
        places.append((cell, first_line, len(lines)))
    script = "\n".join(lines) + "\n"
    invisible = find_invisible(script)
    for sign in invisible.kinds if invisible else ():  # as notebook files usually write them
        script = script.replace(sign, sign.encode("unicode_escape").decode())
    if language is not None and language.name == "python":
        language = replace(language, hidden=_hidden_in_cells)
    fence = tag if re.fullmatch(r"[\w#+-]{1,30}", tag) else "text"
    return Script(script, tuple(origins), tuple(places), fence, language, comment)


def _without_data(data: re.Match[str]) -> str:
    return f"{data[1]}[{byte_size(len(data[2]))} left out]"


def _hidden_in_cells(source: bytes) -> Iterator[tuple[int, int]]:
    cells = [match.span() for match in _CELL_START.finditer(source)]
    for (marker, start), (end, _) in pairwise([*cells, (len(source), 0)]):
        yield marker, start - 1
        if _CELL_MAGIC.match(source, start, end):
            yield start, end
        else:
            yield from (match.span() for match in _MAGIC.finditer(source, start, end))


# Beginnings of headings, markup, badges, pictures and rules.
_NO_PROSE = re.compile(r"\s*(?:#|<|!?\[!?\[|!\[|\*\[|[-=*_]{3,}\s*$|$)")


def first_prose(notebook: Notebook) -> str:
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
    starts = line_starts(script.text.split("\n"))
    for number, (cell, first_line, last_line) in enumerate(script.places, start=1):
        if cell.kind == "code":
            yield definition_at("cell", f"cell {number}", (first_line, last_line), starts)
        for line, level, title in cell.headings():
            at = (first_line + 1 + line,) * 2
            yield definition_at("heading", title, at, starts, level)


_MOST_HEADINGS = 40
_NO_CODE = Module(b"", (), (), (), "")


def render_notebook(request: ViewRequest, as_text: Callable[[ViewRequest], View]) -> View:
    """Return the requested view of a notebook."""
    try:
        notebook = read_notebook(request.text)
    except NotebookError as error:
        view = as_text(request)
        if request.mode is ViewMode.FULL or not request.text.strip():
            return view
        problem = f"{error}: the file is shown as JSON"
        problems = (*view.problems, problem)
        note = f"NOTE: {problem}\n"
        if len(note) + len(view.text) >= len(request.text):
            return replace(view, problems=problems)
        moved = tuple(
            Span(start + 1, end + 1, first, last) for start, end, first, last in view.spans
        )
        return View(note + view.text, moved, "text", problems)
    if notebook and notebook.cells:
        view = _cells_view(request, notebook)
        if len(view.text) < len(request.text):
            return view
    return as_text(request)


def _cells_view(request: ViewRequest, notebook: Notebook) -> View:
    script = script_of(notebook)
    mode = request.mode
    if mode is ViewMode.MASKED and request.mask:
        module = with_headings(_code(script), _headings_and_cells(script))
        view = masked(replace(request, text=script.text), module)
        return replace(view, spans=composed_spans(view.spans, script.spans), language=script.tag)
    if mode in _SCRIPTS and script.language and script.language.kind is LanguageKind.CODE:
        text, spans = without_bodies(script.text, script.language)
        return View(text, composed_spans(spans, script.spans), script.tag)
    if mode is ViewMode.FULL or mode in _SCRIPTS:
        return View(script.text, script.spans, script.tag)
    if mode is ViewMode.OUTLINE:
        return _outline(script)
    return _summary(request, notebook, script)


_SCRIPTS = (ViewMode.SKELETON, ViewMode.MASKED)


def _code(script: Script) -> Module:
    if script.language is None:
        return replace(_NO_CODE, source=script.text.encode(errors="surrogatepass"))
    return read_module(script.text, script.language)


def _outline(script: Script) -> View:
    module = with_headings(_code(script), _headings_and_cells(script))
    rows: list[str] = []
    definitions: list[Definition] = []
    for definition, row in _rows(script, module):
        marker = definition.kind == "cell" and definition.first_line < definition.last_line
        first_line, last_line = script.origin(definition.first_line + marker, definition.last_line)
        definitions.append(definition._replace(first_line=first_line, last_line=last_line))
        rows.append(indentation(definition) + row)
    return numbered(definitions, rows)


def _rows(script: Script, module: Module) -> Iterator[tuple[Definition, str]]:
    # Cells with a definition in front need no row.
    lines = script.text.split("\n")
    cells = {first_line: cell for cell, first_line, _ in script.places}
    definitions = module.definitions
    starts = {d.first_line for d in definitions if d.kind not in ("cell", "heading")}
    for definition in definitions:
        if definition.kind == "heading":
            yield definition, module.signature(definition).removeprefix(script.comment).strip()
        elif definition.kind != "cell":
            yield definition, module.signature(definition)
        else:
            # The first line without a comment, else the first non-blank one, 0 for none.
            inside = range(definition.first_line + 1, definition.last_line + 1)
            written = [number for number in inside if lines[number - 1].strip()]
            first = next(
                (n for n in written if not lines[n - 1].strip().startswith(script.comment)),
                written[0] if written else 0,
            )
            if first not in starts:
                text = f": {lines[first - 1].strip()}" if first else ""
                size = counted(definition.last_line - definition.first_line, "line")
                outputs = cells[definition.first_line].outputs
                note = f", {counted(outputs, 'output')} left out" if outputs else ""
                yield definition, f"{definition.path[-1]}{shortened(text)} ({size}{note})"


def _summary(request: ViewRequest, notebook: Notebook, script: Script) -> View:
    code = _code(script)
    kinds = Counter(cell.kind for cell in notebook.cells)
    outputs = sum(cell.outputs for cell in notebook.cells)
    size = sum(cell.output_bytes for cell in notebook.cells)
    cells = ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds))
    parts = ["jupyter notebook", script.tag, f"{counted(len(notebook.cells), 'cell')} ({cells})"]
    if outputs:
        parts.append(f"{counted(outputs, 'output')} left out, {byte_size(size)}")
    definitions = Counter(definition.kind for definition in code.definitions)
    parts += (counted(number, kind) for kind, number in definitions.items())
    title = ", ".join(parts)
    headings = [
        shortened(
            indentation(heading) + code.signature(heading).removeprefix(script.comment).strip()
        )
        for heading in with_headings(code, _headings_and_cells(script)).definitions
        if heading.kind == "heading"
    ]
    if len(headings) > _MOST_HEADINGS:
        headings[_MOST_HEADINGS:] = [more_row(len(headings) - _MOST_HEADINGS)]
    about = replace(code, doc=first_prose(notebook) or code.doc)
    lines = [title, *details(about, [*headings, *definition_rows(code)])]
    return View("\n".join(shorter_than(request.text, lines)) or request.text, language="text")
