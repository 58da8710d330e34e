"""Lines, definitions and tokens of files, in each view."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from struct import Struct
from typing import Any, NamedTuple

from aggregate.base.concurrency import in_child
from aggregate.base.errors import DeadlineError
from aggregate.base.files import View, ViewMode, ViewRequest
from aggregate.base.redaction import AS_THEY_ARE
from aggregate.base.text import line_count
from aggregate.base.tokens import TokenCounter
from aggregate.code.syntax import LanguageKind, language_of, read_module
from aggregate.code.views import render_all
from aggregate.project.files import read_file
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document.token_counts import token_version
from aggregate.prompt.files.file_reading import FileReader, Reading
from aggregate.prompt.files.file_rendering import view_version
from aggregate.prompt.files.selection import ResolvedFile, select_files

_LOOKED_UP = 64  # files read and looked up together
# Views that need no choices of the user.
_MEASURED = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
_OUTLINE = _MEASURED.index(ViewMode.OUTLINE)


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Lines, definitions and tokens of a file, in each view."""

    path: str
    lines: int
    elements: int  # definitions outside of functions
    tokens: Mapping[str, int]  # by the view's name
    error: str = ""
    problem: str = ""  # why its views are incomplete


_ROW = Struct(f"<{2 + len(_MEASURED)}Q")  # lines, elements, and tokens in each view


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
    reader = FileReader(AS_THEY_ARE, selection.generated)
    sizes: dict[str, FileSizes] = {}

    def unknown() -> Iterator[_Unknown]:
        for start in range(0, len(selection.files), _LOOKED_UP):
            count = len(sizes)
            portion = selection.files[start : start + _LOOKED_UP]
            yield from _unknown(portion, reader, index, sizes)
            if on_done:
                on_done((len(sizes) - count) * len(_MEASURED))

    measured = _measured(unknown(), index, on_done)
    sizes |= {file.path: file for file in measured}
    remarks = reader.remarks(selection.files)
    unmeasured = [
        FileSizes(file.path, 0, 0, _by_view([0] * len(_MEASURED)), file.problem) for file in remarks
    ]
    return [*(sizes[file.path] for file in selection.files if file.path in sizes), *unmeasured]


def _by_view(tokens: Sequence[int]) -> Mapping[str, int]:
    return dict(zip((mode.value for mode in _MEASURED), tokens, strict=True))


class _Unknown(NamedTuple):
    """A file without cached sizes."""

    reading: Reading
    key: bytes  # for the cache, ``b""`` for none


def _unknown(
    files: Sequence[ResolvedFile], reader: FileReader, index: Index, sizes: dict[str, FileSizes]
) -> Iterator[_Unknown]:
    """Read files; put the sizes that are cached into ``sizes``, and yield the files without."""
    readings = (reader.read(file, hashed=index.is_used) for file in files)
    lookups = [_Unknown(reading, _key(reading)) for reading in readings if not reading.is_listed]
    rows = iter(index.get_many(_kind(), [lookup.key for lookup in lookups if lookup.key]))
    for lookup in lookups:
        path, row = lookup.reading.file.path, next(rows) if lookup.key else None
        if row:
            lines, elements, *tokens = _ROW.unpack(row)
            sizes[path] = FileSizes(path, lines, elements, _by_view(tokens))
        else:
            yield lookup


def _measured(
    unknown: Iterator[_Unknown], index: Index, on_done: Callable[[int], None] | None
) -> list[FileSizes]:
    """Measure files: threads count tokens while child processes make the next views."""
    waiting: deque[_Unknown] = deque()
    measured: list[tuple[FileSizes, bytes]] = []

    def requests() -> Iterator[ViewRequest]:
        for lookup in unknown:
            waiting.append(lookup)
            reading = lookup.reading
            yield from (
                ViewRequest(reading.file.path, reading.source.text, mode) for mode in _MEASURED
            )

    rendered = render_all(requests(), on_done=on_done)
    with TokenCounter() as counter:
        while views := list(islice(rendered, len(_MEASURED))):
            for view in views:
                counter.submit(view.text if isinstance(view, View) else view)
            measured.append(_without_tokens(waiting.popleft(), views))
        counts = iter(counter.results())
    files: list[FileSizes] = []
    rows: list[tuple[bytes, bytes]] = []
    for sizes, key in measured:
        tokens = list(islice(counts, len(_MEASURED)))
        files.append(sizes if sizes.error else replace(sizes, tokens=_by_view(tokens)))
        if key:
            rows.append((key, _ROW.pack(sizes.lines, sizes.elements, *tokens)))
    index.put_many(_kind(), rows)
    return files


def _without_tokens(unknown: _Unknown, views: Sequence[View | str]) -> tuple[FileSizes, bytes]:
    """Return the sizes of a file with tokens still to be counted, and its cache key."""
    file, source = unknown.reading.file, unknown.reading.source
    language, outline = language_of(file.path, source.text), views[_OUTLINE]
    elements = 0
    if language and language.kind is LanguageKind.CODE and isinstance(outline, View):
        elements = len(outline.spans)  # one for each definition
    problems = [problem for view in views if isinstance(view, View) for problem in view.problems]
    sizes = FileSizes(
        file.path,
        line_count(source.text),
        elements,
        _by_view([0] * len(_MEASURED)),
        source.error,
        next(iter(problems), ""),
    )
    # A view that took too long on a busy machine is not cached.
    is_sound = not problems and not source.error and all(isinstance(view, View) for view in views)
    return sizes, unknown.key if is_sound else b""


def _key(reading: Reading) -> bytes:
    """Return the key of a file's sizes in the cache."""
    path, content_hash = reading.file.path, reading.source.content_hash
    name = path[path.rfind("/") + 1 :]
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
