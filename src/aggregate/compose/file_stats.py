"""Numbers about files, for lists and panels."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import add
from pathlib import Path, PurePosixPath
from typing import Any

from aggregate.compose.file_rendering import read_files
from aggregate.compose.selection import ReadFile, Selection
from aggregate.compose.view_pool import render_all
from aggregate.errors import DeadlineError
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.sources.file_content import read_file
from aggregate.syntax.languages import LanguageKind, language_of
from aggregate.syntax.symbols import read_module
from aggregate.text.lines import common_prefix, line_count
from aggregate.tokens.count import count_all

ROOT = "."


def group_files_by_dir(files: list[Any]) -> dict[str, list[Any]]:
    r"""Return ``files`` grouped by their folder, in their order (rule M-3).

    A file is an item, a mapping with ``path`` (or ``entry``), or a path; ``\\`` counts as ``/`` and files without a
    folder stand under ``"."``.
    """
    groups: dict[str, list[Any]] = {}
    for file in files:
        path = PurePosixPath(_path_of(file).replace("\\", "/"))
        groups.setdefault(str(path.parent), []).append(file)
    return groups


def compute_file_stats(abs_path: str) -> dict[str, int]:
    """Return ``lines`` and ``ast_elements`` (classes, functions and methods) of a file (rule M-4).

    ``ast_elements`` is counted in Python files only; a file that cannot be read has zeros,
    and so has one that takes too long to parse.
    """
    source = read_file(Path(abs_path))
    language = language_of(str(abs_path), source.text)
    elements = 0
    if language and language.name == "python":
        with suppress(DeadlineError):
            elements = len(read_module(source.text, language).definitions)
    return {"lines": line_count(source.text), "ast_elements": elements}


def _path_of(file: Any) -> str:  # noqa: ANN401 - three public forms
    if isinstance(file, Mapping):
        return str(file.get("path") or file.get("entry") or "")
    return str(getattr(file, "path", file))


_FILES_AT_ONCE = 200
"""Whose views are in memory until their tokens are counted: a megabyte or two, enough for several threads."""
MEASURED = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
"""The views whose sizes are compared: those that need no choices of the user."""


@dataclass(frozen=True, slots=True)
class FileSizes:
    """How large a file is, as it is and in each view.

    Attributes:
        path: As the prompt shows it.
        lines: Its lines.
        elements: Its definitions outside of functions.
        tokens: Its tokens in each of the views of ``MEASURED``, in their order.
        error: Why it could not be read, ``""`` where it could.
    """

    path: str
    lines: int
    elements: int
    tokens: tuple[int, ...]
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes as plain values, tokens by the view's name."""
        tokens = {mode.value: number for mode, number in zip(MEASURED, self.tokens, strict=True)}
        named = {
            "path": self.path,
            "lines": self.lines,
            "ast_elements": self.elements,
            "tokens": tokens,
        }
        return {**named, "error": self.error} if self.error else named


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A line of a tree of files: a folder with the sums of what is below it, or a file."""

    name: str
    depth: int
    is_folder: bool
    lines: int
    elements: int
    tokens: tuple[int, ...]


def measure_files(
    selection: Selection,
    *,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[FileSizes]:
    """Return the sizes of the selected files, in order; ``on_start`` and ``on_done`` count views as in a run."""
    files = read_files(selection)
    if on_start:
        on_start(len(files) * len(MEASURED))
    requests = (
        ViewRequest(file.path, source.text, mode) for file, source in files for mode in MEASURED
    )
    views = render_all(requests, on_done=on_done)
    sizes: list[FileSizes] = []
    for start in range(0, len(files), _FILES_AT_ONCE):
        some_files = files[start : start + _FILES_AT_ONCE]
        sizes += _sizes(some_files, [next(views) for _ in range(len(some_files) * len(MEASURED))])
    return sizes


def _sizes(files: Sequence[ReadFile], views: Sequence[View | str]) -> list[FileSizes]:
    """Return the sizes of files, of which the views stand in the order of ``MEASURED``."""
    counts = count_all([view.text if isinstance(view, View) else view for view in views])
    width = len(MEASURED)
    sizes: list[FileSizes] = []
    for i, (file, source) in enumerate(files):
        tokens = tuple(counts[i * width : (i + 1) * width])
        outline = views[i * width + MEASURED.index(ViewMode.OUTLINE)]
        sizes.append(
            FileSizes(
                file.path,
                line_count(source.text),
                _elements(file.path, source.text, outline),
                (0,) * width if source.error else tokens,
                source.error,
            )
        )
    return sizes


def _elements(path: str, text: str, outline: View | str) -> int:
    """Return how many definitions an outline shows: it has a row, and so a span, for each."""
    language = language_of(path, text)
    is_code = language is not None and language.kind is LanguageKind.CODE
    return len(outline.spans) if is_code and isinstance(outline, View) else 0


def largest_folders(tokens: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the three folders with the most tokens, largest first, each as a path ending with ``/``.

    They lie side by side, below the folders that hold everything.

    Args:
        tokens: Tokens by file, its path written with ``/``.
    """
    folders = {path: PurePosixPath(path).parts[:-1] for path in tokens}
    ordered = sorted(folders.values())
    depth = common_prefix(ordered[0], ordered[-1]) if ordered else 0
    sums: Counter[str] = Counter()
    for path, parts in folders.items():
        sums["/".join((*parts[: depth + 1], "")) or ROOT] += tokens[path]
    return sorted(sums.items(), key=lambda row: (-row[1], row[0]))[:3]


def folder_rows(sizes: Sequence[FileSizes]) -> list[FolderRow]:
    """Return the files as a tree: each folder with its sums, above what it holds, by name."""
    sums: dict[tuple[str, ...], list[int]] = {}
    files: dict[tuple[str, ...], FileSizes] = {}
    for file in sizes:
        parts = PurePosixPath(file.path).parts
        files[parts] = file
        numbers = (file.lines, file.elements, *file.tokens)
        for depth in range(len(parts)):
            folder = parts[:depth]
            sums[folder] = (
                list(map(add, sums[folder], numbers)) if folder in sums else list(numbers)
            )
    rows: list[FolderRow] = []
    for parts in sorted({*sums, *files}):
        name = parts[-1] if parts else ROOT
        if file_here := files.get(parts):
            lines, elements, tokens = file_here.lines, file_here.elements, file_here.tokens
        else:
            lines, elements, *folder_tokens = sums[parts]
            tokens = tuple(folder_tokens)
        rows.append(FolderRow(name, len(parts), parts not in files, lines, elements, tokens))
    return rows
