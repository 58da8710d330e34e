"""Numbers about files, for lists and panels."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import add
from pathlib import Path, PurePosixPath
from typing import Any

from aggregate.base.concurrency import in_child
from aggregate.base.errors import DeadlineError
from aggregate.base.text import common_prefix, line_count
from aggregate.code.syntax import language_of, read_module
from aggregate.project.files import read_file
from aggregate.prompt.file_sizes import FileSizes

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
            elements = len(in_child(read_module, source.text, language).definitions)
    return {"lines": line_count(source.text), "ast_elements": elements}


def _path_of(file: Any) -> str:  # noqa: ANN401 - three public forms
    if isinstance(file, Mapping):
        return str(file.get("path") or file.get("entry") or "")
    return str(getattr(file, "path", file))


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A line of a tree of files: a folder with the sums of what is below it, or a file.

    Attributes:
        name: Of the folder or file.
        depth: How many folders it lies in.
        is_folder: Whether it is one.
        lines: Its lines.
        elements: Its definitions outside of functions.
        tokens: Its tokens in each measured view.
        score: How likely a task touches it, ``0`` to ``1``; ``0`` without a task.
    """

    name: str
    depth: int
    is_folder: bool
    lines: int
    elements: int
    tokens: tuple[int, ...]
    score: float = 0.0


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


def folder_rows(
    sizes: Sequence[FileSizes], scores: Mapping[str, float] | None = None
) -> list[FolderRow]:
    """Return the files as a tree: each folder with its sums, above what it holds, by name.

    Args:
        sizes: Of the files.
        scores: How likely a task touches each of them, by path; ``None`` without a task.
    """
    sums: dict[tuple[str, ...], list[int]] = {}
    score_sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
    files: dict[tuple[str, ...], FileSizes] = {}
    for file in sizes:
        parts = PurePosixPath(file.path).parts
        files[parts] = file
        numbers = (file.lines, file.elements, *file.tokens)
        score = scores.get(file.path, 0.0) if scores else 0.0
        score_sums[parts] += score
        for depth in range(len(parts)):
            folder = parts[:depth]
            score_sums[folder] += score
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
        is_folder = parts not in files
        rows.append(
            FolderRow(name, len(parts), is_folder, lines, elements, tokens, score_sums[parts])
        )
    return rows
