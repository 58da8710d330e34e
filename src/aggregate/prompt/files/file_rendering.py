"""Read, redact and render the files of a request, with a cache of views."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import compress
from struct import Struct
from typing import Final, NamedTuple

from aggregate.base.errors import ScopeError
from aggregate.base.files import GeneratedView, PackedSpans, View, ViewMode
from aggregate.base.monitor import get_monitor
from aggregate.base.redaction import Redacted, redact
from aggregate.base.text import heading_text
from aggregate.code.syntax import LANGUAGES, fence_tag
from aggregate.code.views import render_all
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.asking.request import Request
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_reading import PORTION, FileReader, NoteKind, missing_grammar
from aggregate.prompt.files.selection import Selection, select_files

# Modules hashed into the version of the view cache.
VIEW_CODE = (
    "code.anchors",
    "prompt.files.file",
    "prompt.files.file_reading",
    "prompt.files.file_rendering",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
    "base.values",
    "code.views",
)
VIEW_LIBRARIES = ("charset_normalizer", "rapidfuzz", "re2", "tree_sitter")
_HEAD: Final = Struct("<?II")  # whether a view is the file's text, bytes of its language and spans


class Portion(NamedTuple):
    """Files read together."""

    files: list[File]
    keys: list[bytes]  # of their cached views, ``b""`` for none
    rows: list[bytes | None]  # cached views; an earlier run found no secrets in their files


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The rendered files of a request, for several prompts."""

    files: tuple[File, ...]
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[File]:
        return iter(self.files)

    def check_refused(self) -> None:
        check_refused(self.refused)


def check_refused(refused: Sequence[str]) -> None:
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def error_sentence(file: File) -> str:
    return file.view.text.splitlines()[0]


@dataclass(slots=True, eq=False)
class FileStream:
    """Reads and renders files in portions while it is iterated, to save memory."""

    reader: FileReader
    index: Index
    doubts: Sequence[str] = ()
    on_done: Callable[[int], None] | None = None
    _errors: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each omission or doubt; complete after the iteration."""
        paths = (file.path for file in self.reader.selection.files)
        return (*self.doubts, *self.reader.warnings(self._errors, paths))

    @property
    def refused(self) -> tuple[str, ...]:
        return self.reader.selection.refused

    def __iter__(self) -> Iterator[File]:
        """Yield the files, then remarks on globs' omitted files."""
        for portion, redacted in self._searched():
            self._redact(portion, redacted)
            with get_monitor().scope("render_files"):
                rendered = self._render(portion)
            for file in rendered:
                yield self._noted(file)
        for remark in self.reader.remarks():
            yield self._noted(remark.file)

    def _noted(self, file: File) -> File:
        if file.is_error:
            self._errors.append(error_sentence(file))
        return file

    def _searched(self) -> Iterator[tuple[Portion, list[Redacted | None]]]:
        """Yield portions with the results of the search for secrets.

        If no views are needed, a thread searches the next ones; otherwise not, since views are made in forked
        processes.
        """
        selection = self.reader.selection
        files = self.reader.portions(hashed=self.index.is_used)
        portions = map(self._look_up, get_monitor().steps("read_files", files))
        can_outline = selection.generated is GeneratedView.OUTLINE
        is_small = len(selection.files) <= PORTION
        if is_small or can_outline or any(file.is_rendered for file in selection.files):
            return map(self._search, portions)
        from aggregate.base.concurrency import ahead  # 5 ms, too long for a few files

        return ahead(self._search, portions)

    def _look_up(self, files: list[File]) -> Portion:
        """Look up cached views of files; the texts are not redacted yet."""
        keys = [self._key(file) for file in files]
        wanted = [key for key in keys if key]
        rows = iter(self.index.get_many(_view_kind(), wanted) if wanted else ())
        return Portion(files, keys, [next(rows) if key else None for key in keys])

    def _key(self, file: File) -> bytes:
        """Return the key of a file's view in the cache."""
        if not file.source.content_hash or file.source.error:
            return b""
        item, view = file.item, file.path[file.path.rfind("/") + 1 :]
        if file.is_rendered and not self.reader.is_omitted(file.path):
            view += f"\0{file.view_mode.value}"
            if item.ast_mask or item.custom_slices:
                view += json.dumps([item.ast_mask, item.custom_slices], default=str)
        return sha256(file.source.content_hash + view.encode(errors="surrogatepass")).digest()

    def _search(self, portion: Portion) -> tuple[Portion, list[Redacted | None]]:
        redaction = self.reader.redaction
        pairs = zip(portion.files, portion.rows, strict=True)
        return portion, [
            redact(file.source.text, redaction) if row is None else None for file, row in pairs
        ]

    def _redact(self, portion: Portion, redacted: Sequence[Redacted | None]) -> None:
        for number, result in enumerate(redacted):
            if result and result.is_changed:
                file = portion.files[number]
                portion.files[number] = self.reader.take(file, file.source, result)
                portion.keys[number] = b""

    def _render(self, portion: Portion) -> list[File]:
        """Return the visible files with their views, and store new views."""
        is_visible = [not self.reader.is_omitted(file.path) for file in portion.files]
        needs_view = [
            row is None and is_shown and file.is_rendered and not file.source.error
            for file, row, is_shown in zip(portion.files, portion.rows, is_visible, strict=True)
        ]
        requests = [file.request(file.view_mode) for file in compress(portion.files, needs_view)]
        views = render_all(requests, on_done=self.on_done)
        new_rows: list[bytes | None] = [b""] * len(needs_view)  # records a text without secrets
        for number, (file, row) in enumerate(zip(portion.files, portion.rows, strict=True)):
            if needs_view[number]:
                portion.files[number], new_rows[number] = self._with_view(file, next(views))
            elif is_visible[number]:
                portion.files[number] = _without_new_view(file, row)
        if self.on_done:
            self.on_done(len(needs_view) - len(requests))
        rows = zip(portion.keys, portion.rows, new_rows, strict=True)
        new = [(key, data) for key, row, data in rows if key and row is None and data is not None]
        self.index.put_many(_view_kind(), new)
        return [*compress(portion.files, is_visible)]

    def _with_view(self, file: File, result: View | str) -> tuple[File, bytes | None]:
        """Return a file with its view or a view's error, and the row to store, ``None`` for none."""
        if isinstance(result, str):
            return file.with_view(result, file.view_mode), None
        for problem in result.problems:
            note = problem.removeprefix("ERROR: ").removesuffix(f" in {heading_text(file.path)}")
            self.reader.note(file.path, NoteKind.VIEW, note)
        language = missing_grammar(file.request(file.view_mode))
        if language:
            self.reader.note(file.path, NoteKind.GRAMMAR, language)
        is_sound = not (language or result.problems or _holds_text(file, result))
        row = _pack(result, file.source.text) if is_sound else None
        return file.with_view(result, file.view_mode), row


def _without_new_view(file: File, row: bytes | None) -> File:
    """Return a file with its cached view, its text or its error."""
    text = file.source.text
    if file.source.error:
        return file.unreadable()
    if file.is_rendered and row is not None:
        return file._replace(view=_unpack(row, text))
    return file._replace(view=View(text, language=fence_tag(file.path, text)))


def stream_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    selection: Selection | None = None,
) -> FileStream:
    """Return an iterable of a request's rendered files.

    The files are read and rendered during the iteration. ``on_start`` is called once with their number. ``selection``
    are the files, if already selected.
    """
    if selection is None:
        with get_monitor().scope("select_files"):
            selection = select_files(request)
    if on_start:
        on_start(len(selection.files))
    return FileStream(FileReader(request.redaction, selection), index, request.doubts, on_done)


def render_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    selection: Selection | None = None,
) -> RenderedFiles:
    """Read and render the files of a request at once; see ``stream_files`` for the arguments."""
    with get_monitor().scope("build_file_items"):
        stream = stream_files(
            request, index=index, on_start=on_start, on_done=on_done, selection=selection
        )
        return RenderedFiles(tuple(stream), stream.warnings, stream.refused)


@cache
def view_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(VIEW_CODE, installed=(*VIEW_LIBRARIES, *sorted(grammars)))


@cache
def _view_kind() -> Kind:
    return Kind("view", view_version())


def _pack(view: View, text: str) -> bytes:
    """Pack the view of ``text`` for the index, which must not store the text itself (rule I-5)."""
    language, spans = view.language.encode(), PackedSpans.of(view.spans).data
    is_text = view.text == text
    content = b"" if is_text else view.text.encode("utf-8", "surrogatepass")
    return _HEAD.pack(is_text, len(language), len(spans)) + language + spans + content


def _unpack(row: bytes, text: str) -> View:
    is_text, language_size, spans_size = _HEAD.unpack_from(row)
    spans_start = _HEAD.size + language_size
    text_start = spans_start + spans_size
    if not is_text:
        text = row[text_start:].decode("utf-8", "surrogatepass")
    language = row[_HEAD.size : spans_start].decode()
    return View(text, PackedSpans(row[spans_start:text_start]), language)


def _holds_text(file: File, view: View) -> bool:
    """Return whether a view contains the file's whole text.

    The index must not store such a view (rule I-5).
    """
    if file.view_mode is ViewMode.FULL:
        return True  # the cells of a notebook
    # Line ends and outer blanks may differ.
    text, content = file.source.text.strip(), view.text
    if not text or content == file.source.text:
        return False
    is_longer = len(text) - text.count("\r\n") > len(content)
    return not is_longer and text.replace("\r\n", "\n") in content.replace("\r\n", "\n")
