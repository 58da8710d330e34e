"""Lines, definitions and tokens of files, in each view."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from struct import Struct
from typing import Any

from aggregate.base.concurrency import in_child
from aggregate.base.errors import DeadlineError
from aggregate.base.files import View, ViewMode, ViewRequest
from aggregate.base.redaction import AS_THEY_ARE, redact
from aggregate.base.text import line_count
from aggregate.base.tokens import TokenCounter
from aggregate.code.syntax import LanguageKind, language_of, read_module
from aggregate.code.views import render_all
from aggregate.project.files import read_file
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.asking import Request
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_reading import FileReader
from aggregate.prompt.files.file_rendering import cached_rows, view_version
from aggregate.prompt.files.selection import select_files
from aggregate.prompt.token_counts import token_version

# Views that need no choices of the user.
_MEASURED = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
_OUTLINE = _MEASURED.index(ViewMode.OUTLINE)
_ROW = Struct(f"<{2 + len(_MEASURED)}Q")  # lines, elements, and tokens in each view


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Lines, definitions and tokens of a file, in each view."""

    path: str
    lines: int
    elements: int  # definitions outside of functions
    tokens: Mapping[str, int]  # by the view's name
    error: str = ""
    problem: str = ""  # why its views are incomplete

    @classmethod
    def of(
        cls, path: str, numbers: Sequence[int], *, error: str = "", problem: str = ""
    ) -> "FileSizes":
        lines, elements, *tokens = numbers or [0] * (2 + len(_MEASURED))
        names = (mode.value for mode in _MEASURED)
        return cls(path, lines, elements, dict(zip(names, tokens, strict=True)), error, problem)


def measure_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[FileSizes]:
    """Return the sizes of a request's files in order.

    ``on_start`` and ``on_done`` count the views made.
    """
    selection = select_files(request)
    if on_start:
        on_start(len(selection.files) * len(_MEASURED))
    reader = FileReader(AS_THEY_ARE, selection)
    sizes: list[FileSizes] = []
    for files in reader.portions(hashed=index.is_used):
        visible = [file for file in files if not reader.is_omitted(file.path)]
        sizes += _measure_portion(visible, index, on_done)
    remarks = (FileSizes.of(remark.path, (), error=remark.problem) for remark in reader.remarks())
    return [*sizes, *remarks]


def _measure_portion(
    files: Sequence[File], index: Index, on_done: Callable[[int], None] | None
) -> list[FileSizes]:
    """Return the sizes of files, and cache new ones."""
    keys = [_key(file) for file in files]
    sizes: dict[str, FileSizes] = {}
    unknown: list[tuple[File, bytes]] = []
    for file, key, row in zip(files, keys, cached_rows(index, _kind, keys), strict=True):
        if row or file.source.error:
            numbers = _ROW.unpack(row) if row else ()
            sizes[file.path] = FileSizes.of(file.path, numbers, error=file.source.error)
        else:
            unknown.append((file, key))
    if on_done:
        on_done(len(sizes) * len(_MEASURED))
    views, tokens = _counted_views([file for file, _ in unknown], on_done)
    new_rows: list[tuple[bytes, bytes]] = []
    for number, (file, key) in enumerate(unknown):
        part = slice(number * len(_MEASURED), (number + 1) * len(_MEASURED))
        numbers = line_count(file.source.text), _elements(file, views[part]), *tokens[part]
        problems = [problem for view in views[part] for problem in _problems(view)]
        problem = next(iter(problems), "")
        sizes[file.path] = FileSizes.of(file.path, numbers, problem=problem)
        # Cached are neither texts with secrets (rule I-5) nor views that took too long on a busy machine.
        is_sound = not problems and all(isinstance(view, View) for view in views[part])
        if key and is_sound and not redact(file.source.text, AS_THEY_ARE).is_changed:
            new_rows.append((key, _ROW.pack(*numbers)))
    index.put_many(_kind(), new_rows)
    return [sizes[file.path] for file in files]


def _counted_views(
    files: Sequence[File], on_done: Callable[[int], None] | None
) -> tuple[list[View | str], list[int]]:
    """Return all views of files, or their errors, and the tokens of each.

    Threads count tokens while child processes make the next views.
    """
    requests = [
        ViewRequest(file.path, file.source.text, mode) for file in files for mode in _MEASURED
    ]
    views: list[View | str] = []
    with TokenCounter() as counter:
        for view in render_all(requests, on_done=on_done):
            views.append(view)
            counter.submit(view.text if isinstance(view, View) else view)
        return views, counter.results()


def _problems(view: View | str) -> Sequence[str]:
    return view.problems if isinstance(view, View) else ()


def _elements(file: File, views: Sequence[View | str]) -> int:
    """Return the number of a file's definitions, one for each span of its outline."""
    language, outline = language_of(file.path, file.source.text), views[_OUTLINE]
    is_code = language is not None and language.kind is LanguageKind.CODE
    return len(outline.spans) if is_code and isinstance(outline, View) else 0


def _key(file: File) -> bytes:
    """Return the key of a file's sizes in the cache."""
    name = file.path[file.path.rfind("/") + 1 :]
    content_hash = file.source.content_hash
    return content_hash and sha256(content_hash + name.encode(errors="surrogatepass")).digest()


@cache
def _kind() -> Kind:
    versions = view_version(), token_version(), code_version(("prompt.files.file_sizes",))
    return Kind("sizes", ":".join(versions) if all(versions) else "")


def group_files_by_dir(files: list[Any]) -> dict[str, list[Any]]:
    r"""Group ``files`` by their folder, in their order.

    See rule M-3. A file is an item, a mapping with ``path`` (or ``entry``), or a path; ``\\`` counts as ``/``. The
    folder of a bare name is ``"."``.
    """
    groups: dict[str, list[Any]] = {}
    for file in files:
        if isinstance(file, Mapping):
            name = str(file.get("path") or file.get("entry") or "")
        else:
            name = str(getattr(file, "path", file))
        path = PurePosixPath(name.replace("\\", "/"))
        groups.setdefault(str(path.parent), []).append(file)
    return groups


def compute_file_stats(abs_path: str) -> dict[str, int]:
    """Return the number of a file's lines and definitions.

    The keys are ``lines`` and ``ast_elements``: classes, functions, methods (rule M-4). Only Python files have
    elements; an unreadable file, or one that takes too long to parse, has none.
    """
    source = read_file(Path(abs_path))
    language = language_of(str(abs_path), source.text)
    elements = 0
    if language and language.name == "python":
        with suppress(DeadlineError):
            elements = len(in_child(read_module, source.text, language).definitions)
    return {"lines": line_count(source.text), "ast_elements": elements}
