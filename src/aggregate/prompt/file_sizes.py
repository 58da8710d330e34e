"""How large files are, as they are and in each view."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from operator import add
from pathlib import Path, PurePosixPath
from struct import Struct
from typing import Any

from aggregate.base.concurrency import in_child
from aggregate.base.errors import DeadlineError
from aggregate.base.text import common_prefix, line_count
from aggregate.base.tokens import count_all
from aggregate.base.values import AS_THEY_ARE, View, ViewMode, ViewRequest
from aggregate.code.syntax import LanguageKind, language_of, read_module
from aggregate.code.views import render_all
from aggregate.project.files import read_file
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.file_reading import FileReader, Reading, remember
from aggregate.prompt.file_rendering import name_traits, view_version
from aggregate.prompt.selection import ResolvedFile, Selection
from aggregate.prompt.token_counts import token_version

# Whose views are in memory until their tokens are counted: a megabyte or two, enough for several threads.
_FILES_AT_ONCE = 64
# The views whose sizes are compared: those that need no choices of the user.
MEASURED = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)


@dataclass(frozen=True, slots=True)
class FileSizes:
    """How large a file is, as it is and in each view.

    Attributes:
        elements: Its definitions outside of functions.
        tokens: Its tokens in each of the views of ``MEASURED``, in their order.
        problem: Why its views lack something, ``""`` where they do not.
    """

    path: str
    lines: int
    elements: int
    tokens: tuple[int, ...]
    error: str = ""
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        tokens = {mode.value: number for mode, number in zip(MEASURED, self.tokens, strict=True)}
        named = {
            "path": self.path,
            "lines": self.lines,
            "ast_elements": self.elements,
            "tokens": tokens,
        }
        told = {"error": self.error, "problem": self.problem}
        return named | {name: sentence for name, sentence in told.items() if sentence}


# Lines, elements, and tokens in each view, as the index keeps them.
_ROW = Struct(f"<{2 + len(MEASURED)}Q")


def measure_files(
    selection: Selection,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[FileSizes]:
    """Return the sizes of the selected files, in order; ``on_start`` and ``on_done`` count views as in a run."""
    if on_start:
        on_start(len(selection.files) * len(MEASURED))
    reader = FileReader(AS_THEY_ARE, selection.generated)
    sizes: dict[str, FileSizes] = {}

    def unknown() -> Iterator[Reading]:
        for start in range(0, len(selection.files), _FILES_AT_ONCE):
            portion = selection.files[start : start + _FILES_AT_ONCE]
            before = len(sizes)
            yield from _unknown(portion, reader, index, sizes)
            if on_done:
                on_done((len(sizes) - before) * len(MEASURED))

    measured = list(_measured(unknown(), index, on_done))
    sizes |= {file.path: file for file in measured}
    remarks = reader.remarks(selection.files)
    unmeasured = [
        FileSizes(file.path, 0, 0, (0,) * len(MEASURED), file.problem) for file in remarks
    ]
    return [*(sizes[file.path] for file in selection.files if file.path in sizes), *unmeasured]


def _unknown(
    files: Sequence[ResolvedFile], reader: FileReader, index: Index, sizes: dict[str, FileSizes]
) -> list[Reading]:
    states = index.known([file.file for file in files])
    hashes = [(state.content_hash or b"") if state else b"" for state in states]
    keys = [
        _key(file, content_hash, reader) for file, content_hash in zip(files, hashes, strict=True)
    ]
    _look_up(files, keys, index, sizes)
    readings: list[Reading] = []
    for file, state in zip(files, states, strict=True):
        if file.path not in sizes:
            reading = reader.read(file, hashed=index.is_used)
            remember(index, reading.source, seen_ns=state.seen_ns if state else 0)
            if not reading.is_listed:
                key = _key(file, reading.source.content_hash, reader)
                readings.append(reading._replace(key=key))
    _look_up([each.file for each in readings], [each.key for each in readings], index, sizes)
    return [reading for reading in readings if reading.file.path not in sizes]


def _look_up(
    files: Sequence[ResolvedFile], keys: Sequence[bytes], index: Index, sizes: dict[str, FileSizes]
) -> None:
    wanted = [(file.path, key) for file, key in zip(files, keys, strict=True) if key]
    rows = index.get_many(_kind(), [key for _, key in wanted])
    for (path, _), row in zip(wanted, rows, strict=True):
        if row:
            lines, elements, *tokens = _ROW.unpack(row)
            sizes[path] = FileSizes(path, lines, elements, tuple(tokens))


def _measured(
    readings: Iterator[Reading], index: Index, on_done: Callable[[int], None] | None
) -> Iterator[FileSizes]:
    waiting: deque[Reading] = deque()

    def requests() -> Iterator[ViewRequest]:
        for reading in readings:
            waiting.append(reading)
            for mode in MEASURED:
                yield ViewRequest(reading.file.path, reading.source.text, mode)

    views = render_all(requests(), on_done=on_done)
    while some_views := list(islice(views, _FILES_AT_ONCE * len(MEASURED))):
        texts = [view.text if isinstance(view, View) else view for view in some_views]
        counts = iter(count_all(texts))
        for start in range(0, len(some_views), len(MEASURED)):
            reading, views_of_it = waiting.popleft(), some_views[start : start + len(MEASURED)]
            sizes = _sizes(reading, views_of_it, tuple(islice(counts, len(MEASURED))))
            # What took too long on a busy machine is tried again in the next run.
            is_sound = all(isinstance(view, View) and not view.problems for view in views_of_it)
            if reading.key and is_sound and not sizes.error:
                row = _ROW.pack(sizes.lines, sizes.elements, *sizes.tokens)
                index.put_many(_kind(), [(reading.key, row)])
            yield sizes


def _sizes(reading: Reading, views: Sequence[View | str], tokens: tuple[int, ...]) -> FileSizes:
    path, text, error = reading.file.path, reading.source.text, reading.source.error
    language, outline = language_of(path, text), views[MEASURED.index(ViewMode.OUTLINE)]
    elements = 0
    if language and language.kind is LanguageKind.CODE and isinstance(outline, View):
        elements = len(outline.spans)  # an outline has a row, and so a span, for each definition
    tokens = (0,) * len(tokens) if error else tokens
    problems = (problem for view in views if isinstance(view, View) for problem in view.problems)
    return FileSizes(path, line_count(text), elements, tokens, error, next(problems, ""))


def _key(file: ResolvedFile, content_hash: bytes, reader: FileReader) -> bytes:
    """Return what a file's sizes are kept under; ``b""`` for none.

    Its path tells of its language, and whether it counts as generated. What .gitattributes say may change without the
    content.
    """
    if not content_hash or file.problem or file.path in reader.generated.marks:
        return b""
    asked = "\0".join((*name_traits(file.path), reader.generated_view(file).value))
    return sha256(content_hash + asked.encode("utf-8", "surrogatepass")).digest()


@cache
def _kind() -> Kind:
    versions = view_version(), token_version(), code_version(("prompt.file_sizes",))
    return Kind("sizes", ":".join(versions) if all(versions) else "")


ROOT = "."


def group_files_by_dir(files: list[Any]) -> dict[str, list[Any]]:
    r"""Return ``files`` grouped by their folder, in their order (rule M-3).

    A file is an item, a mapping with ``path`` (or ``entry``), or a path; ``\\`` counts as ``/`` and files without a
    folder stand under ``"."``.
    """
    groups: dict[str, list[Any]] = {}
    for file in files:
        if isinstance(file, Mapping):
            named = str(file.get("path") or file.get("entry") or "")
        else:
            named = str(getattr(file, "path", file))
        path = PurePosixPath(named.replace("\\", "/"))
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


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A line of a tree of files: a folder with the sums of what is below it, or a file."""

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
    """Return the files as a tree: each folder with its sums, above what it holds, by name."""
    sums: dict[tuple[str, ...], list[float]] = {}
    files: set[tuple[str, ...]] = set()
    for file in sizes:
        parts = PurePosixPath(file.path).parts
        files.add(parts)
        score = scores.get(file.path, 0.0) if scores else 0.0
        numbers = (file.lines, file.elements, *file.tokens, score)
        for depth in range(len(parts) + 1):
            above = sums.get(parts[:depth], [0] * len(numbers))
            sums[parts[:depth]] = list(map(add, above, numbers))
    rows: list[FolderRow] = []
    for parts in sorted(sums):
        *counts, score = sums[parts]
        lines, elements, *tokens = map(int, counts)
        name = parts[-1] if parts else ROOT
        is_folder = parts not in files
        rows.append(FolderRow(name, len(parts), is_folder, lines, elements, tuple(tokens), score))
    return rows
