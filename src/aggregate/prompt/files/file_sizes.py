"""Lines, definitions and tokens of files, in each view."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
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
from aggregate.code.views import ViewMaker
from aggregate.project.files import read_file
from aggregate.project.index import Index, Kind, code_version, token_version
from aggregate.prompt.asking import Request
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_reading import FileReader
from aggregate.prompt.files.file_rendering import cached_rows, view_version
from aggregate.prompt.files.selection import select_files

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


@dataclass(slots=True)
class _Measured:
    """A file's lines, elements and tokens; a new one lacks the tokens until all are counted."""

    file: File
    key: bytes  # in the cache, ``b""`` if the numbers must not be stored
    numbers: Sequence[int]
    is_new: bool
    problem: str = ""

    def measure(self, views: Sequence[View | str]) -> None:
        """Measure a new file by its views, and drop its text."""
        text = self.file.source.text
        self.numbers = line_count(text), _elements(self.file, views)
        self.problem = next((problem for view in views for problem in _problems(view)), "")
        # Cached are neither texts with secrets (rule I-5) nor views that took too long on a busy machine.
        is_sound = not self.problem and all(isinstance(view, View) for view in views)
        if not self.key or not is_sound or redact(text, AS_THEY_ARE).is_changed:
            self.key = b""
        self.file = self.file.without_text()


def measure_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[FileSizes]:
    """Return the sizes of a request's files in order.

    ``on_start`` and ``on_done`` count the views made. Threads count tokens while child processes make the next views.
    """
    selection = select_files(request)
    if on_start:
        on_start(len(selection.files) * len(_MEASURED))
    reader = FileReader(AS_THEY_ARE, selection)
    measured: list[_Measured] = []
    with TokenCounter() as counter, ViewMaker() as views:
        for portion in _requested(reader, index, views):
            new = [file for file in portion if file.is_new]
            for file in new:
                made = list(views.views(len(_MEASURED), on_done))
                for view in made:
                    counter.submit(view.text if isinstance(view, View) else view)
                file.measure(made)
            if on_done:
                on_done((len(portion) - len(new)) * len(_MEASURED))
            measured += portion
        tokens = iter(counter.results())
    for file in measured:
        if file.is_new:
            file.numbers = *file.numbers, *islice(tokens, len(_MEASURED))
    new_rows = [
        (file.key, _ROW.pack(*file.numbers)) for file in measured if file.is_new and file.key
    ]
    index.put_many(_kind(), new_rows)
    sizes = [
        FileSizes.of(row.file.path, row.numbers, error=row.file.source.error, problem=row.problem)
        for row in measured
    ]
    remarks = (FileSizes.of(remark.path, (), error=remark.problem) for remark in reader.remarks())
    return [*sizes, *remarks]


def _requested(reader: FileReader, index: Index, views: ViewMaker) -> Iterator[list[_Measured]]:
    """Yield files in portions, each after the views of the next one were requested."""
    previous: list[_Measured] = []
    for portion in reader.portions(hashed=index.is_used):
        files = [file for file in portion if not reader.is_omitted(file.path)]
        keys = [_key(file) for file in files]
        measured: list[_Measured] = []
        for file, key, row in zip(files, keys, cached_rows(index, _kind, keys), strict=True):
            is_new = not row and not file.source.error
            measured.append(_Measured(file, key, _ROW.unpack(row) if row else (), is_new))
        new = [row.file for row in measured if row.is_new]
        views.request(
            ViewRequest(file.path, file.source.text, mode) for file in new for mode in _MEASURED
        )
        yield previous
        previous = measured
    yield previous


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
