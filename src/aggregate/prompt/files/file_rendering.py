"""Read, redact and render the files of a request, with a cache of views."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from struct import Struct
from typing import Final, NamedTuple

from aggregate.base.errors import ScopeError
from aggregate.base.files import (
    GeneratedView,
    PackedSpans,
    RenderedFile,
    View,
    ViewMode,
    ViewRequest,
)
from aggregate.base.monitor import get_monitor
from aggregate.base.redaction import Redacted, redact
from aggregate.base.text import heading_text
from aggregate.code.syntax import LANGUAGES, fence_tag
from aggregate.code.views import EXCLUDED, render_all
from aggregate.project.files import SourceFile
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.asking.request import Request
from aggregate.prompt.files.file_reading import (
    FileReader,
    NoteKind,
    Reading,
    encoding_note,
    missing_grammar,
    unread,
)
from aggregate.prompt.files.layout import view_error_text
from aggregate.prompt.files.selection import ResolvedFile, Selection, select_files

# Modules hashed into the version of the view cache.
VIEW_CODE = (
    "code.anchors",
    "prompt.files.file_reading",
    "prompt.files.file_rendering",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "base.redaction",
    "project.files.encodings",
    "project.files.file_content",
    "code.syntax",
    "base.text",
    "base.values",
    "code.views",
)
VIEW_LIBRARIES = ("charset_normalizer", "rapidfuzz", "re2", "tree_sitter")
_HEAD: Final = Struct("<?II")  # whether a view is the file's text, bytes of its language and spans
_AT_ONCE: Final = 32  # files read, looked up and searched for secrets together
_NO_VIEW: Final = View("")


def error_text(path: str, reason: str, *, is_remark: bool = False) -> str:
    """Return the text shown in place of an unreadable file.

    The text is fixed for a missing file (rule M-5).
    """
    return f"{'NOTE' if is_remark else 'ERROR'}: {reason}: {heading_text(path)}"


def refusals(selection: Selection) -> tuple[str, ...]:
    refused = (file for file in selection.files if file.refused)
    return tuple(error_text(file.path, file.problem) for file in refused)


def check_refused(refused: Sequence[str]) -> None:
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def error_sentence(file: RenderedFile) -> str:
    return file.content.splitlines()[0]


class _Lookup(NamedTuple):
    """A read file with its row of the view cache."""

    reading: Reading
    key: bytes = b""  # of the cached view, ``b""`` for none
    row: bytes | None = None  # the packed view; an earlier run found no secrets in its file


def _pack(view: View, text: str) -> bytes:
    """Pack the view of ``text`` for the index.

    The index must not store the text itself (rule I-5).
    """
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


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The rendered files of a request, for several prompts."""

    files: tuple[RenderedFile, ...]
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[RenderedFile]:
        return iter(self.files)

    def check_refused(self) -> None:
        check_refused(self.refused)


@dataclass(slots=True, eq=False)
class FileStream:
    """Reads and renders files while it is iterated, so that only a few are in memory."""

    selection: Selection
    reader: FileReader
    index: Index
    doubts: Sequence[str] = ()
    on_done: Callable[[int], None] | None = None
    _errors: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each omission or doubt; complete after the iteration."""
        return (*self.doubts, *self.reader.warnings(self.selection, self._errors))

    @property
    def refused(self) -> tuple[str, ...]:
        return refusals(self.selection)

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files, then notes about globs' omitted files."""
        can_outline = self.selection.generated.view is GeneratedView.OUTLINE
        is_plain = not can_outline and not any(file.is_rendered for file in self.selection.files)
        files = get_monitor().steps("read_files", self._shown(is_plain=is_plain))
        # This step includes reading the files.
        views = get_monitor().steps("render_files", self._with_views(files, is_plain=is_plain))
        for lookup, view in views:
            rendered = self._render(lookup, view)
            if rendered.error:
                self._errors.append(error_sentence(rendered))
            yield rendered

    def _with_views(
        self, files: Iterator[_Lookup], *, is_plain: bool
    ) -> Iterator[tuple[_Lookup, View | str]]:
        """Yield the files with their views.

        If all views are the text itself, no child process is started.
        """
        if is_plain:
            for lookup in files:
                yield lookup, _NO_VIEW
                if self.on_done:
                    self.on_done(1)
            return
        waiting: deque[_Lookup] = deque()

        def requests() -> Iterator[ViewRequest]:
            for lookup in files:
                waiting.append(lookup)
                yield _view_request(lookup)

        for view in render_all(requests(), on_done=self.on_done):
            yield waiting.popleft(), view

    def _shown(self, *, is_plain: bool) -> Iterator[_Lookup]:
        """Yield the visible files, redacted.

        If no views are needed, a thread redacts the next files; otherwise not, since views are made in forked
        processes.
        """
        files = self.selection.files
        portions = [files[start : start + _AT_ONCE] for start in range(0, len(files), _AT_ONCE)]
        lookups = map(self._look_up, portions)
        searched: Iterator[list[tuple[_Lookup, Redacted | None]]] = map(self._search, lookups)
        if is_plain and len(portions) > 1:
            from aggregate.base.concurrency import ahead  # 5 ms, too long for a few files

            searched = ahead(self._search, lookups)
        for portion, results in zip(portions, searched, strict=True):
            for file, (as_read, redacted) in zip(portion, results, strict=True):
                lookup = as_read
                if redacted and redacted.is_changed:
                    lookup = _Lookup(self.reader.take(file, as_read.reading.source, redacted))
                if lookup.reading.is_listed:
                    self._store(lookup, b"")
                else:
                    yield lookup
        for remark in self.reader.remarks(files):
            yield _Lookup(unread(remark))

    def _look_up(self, files: Sequence[ResolvedFile]) -> list[_Lookup]:
        """Read files and look up their views in the cache; the texts are not redacted yet."""
        reader, index = self.reader, self.index
        readings = [
            reader.take(file, reader.open(file, hashed=index.is_used), None) for file in files
        ]
        keys = [_view_key(reading) for reading in readings]
        wanted = [key for key in keys if key]
        rows = iter(index.get_many(_view_kind(), wanted) if wanted else ())
        return [
            _Lookup(reading, key, next(rows) if key else None)
            for reading, key in zip(readings, keys, strict=True)
        ]

    def _search(self, files: Sequence[_Lookup]) -> list[tuple[_Lookup, Redacted | None]]:
        redaction = self.reader.redaction
        return [
            (lookup, redact(lookup.reading.source.text, redaction) if lookup.row is None else None)
            for lookup in files
        ]

    def _store(self, lookup: _Lookup, row: bytes) -> None:
        if lookup.key and lookup.row is None:
            self.index.put_many(_view_kind(), [(lookup.key, row)])

    def _render(self, lookup: _Lookup, made: View | str) -> RenderedFile:
        reading = lookup.reading
        file, source = reading.file, reading.source
        if source.error:
            return noted_file(file, source)
        if not file.is_rendered:
            self._store(lookup, b"")  # records that the text has no secrets
            view = View(source.text, language=fence_tag(file.path, source.text))
            return rendered_file(file, source, view)
        if lookup.row is not None:
            return rendered_file(file, source, _unpack(lookup.row, source.text))
        if isinstance(made, str):
            text = view_error_text(file.path, file.entry.view_mode, made)
            view = View(text, language=fence_tag(file.path, source.text))
            return rendered_file(file, source, view, is_error=True)
        for problem in made.problems:
            note = problem.removeprefix("ERROR: ").removesuffix(f" in {heading_text(file.path)}")
            self.reader.note(file.path, NoteKind.VIEW, note)
        if language := missing_grammar(_view_request(lookup)):
            self.reader.note(file.path, NoteKind.GRAMMAR, language)
        elif not made.problems and not _holds_text(reading, made):
            self._store(lookup, _pack(made, source.text))
        return rendered_file(file, source, made)


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
    reader = FileReader(request.redaction, selection.generated)
    return FileStream(selection, reader, index, request.doubts, on_done)


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


def noted_file(file: ResolvedFile, source: SourceFile) -> RenderedFile:
    """Return a file that shows only a note, such as that the file is unreadable."""
    if not source.error:
        return rendered_file(file, source, View(EXCLUDED))
    problem = error_text(file.path, source.error, is_remark=file.is_remark)
    language = fence_tag(file.path, source.text)
    view = View("\n".join((problem, *file.details)), language=language)
    return rendered_file(file, source, view, is_error=True)


@cache
def view_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(VIEW_CODE, installed=(*VIEW_LIBRARIES, *sorted(grammars)))


@cache
def _view_kind() -> Kind:
    return Kind("view", view_version())


def _view_key(reading: Reading) -> bytes:
    """Return the key of a file's view in the cache."""
    file, content_hash = reading.file, reading.source.content_hash
    if not content_hash or reading.source.error:
        return b""
    item, view = file.item, file.path[file.path.rfind("/") + 1 :]
    if file.is_rendered and not reading.is_listed:
        view += f"\0{file.entry.view_mode.value}"
        if item.ast_mask or item.custom_slices:
            view += json.dumps([item.ast_mask, item.custom_slices], default=str)
    return sha256(content_hash + view.encode(errors="surrogatepass")).digest()


def _view_request(lookup: _Lookup) -> ViewRequest:
    """Return in which view to render a file; mode ``NONE`` if the file needs no view."""
    file, source = lookup.reading.file, lookup.reading.source
    if lookup.row is not None or source.error or not file.is_rendered:
        return ViewRequest(file.path, source.text, ViewMode.NONE)
    item = file.item
    return ViewRequest(
        file.path, source.text, file.entry.view_mode, item.ast_mask, tuple(item.custom_slices)
    )


def _holds_text(reading: Reading, view: View) -> bool:
    """Return whether a view contains the file's whole text.

    The index must not store such a view (rule I-5).
    """
    if reading.file.entry.view_mode is ViewMode.FULL:
        return True  # the cells of a notebook
    # Line ends and outer blanks may differ.
    text, content = reading.source.text.strip(), view.text
    if not text or content == reading.source.text:
        return False
    is_longer = len(text) - text.count("\r\n") > len(content)
    return not is_longer and text.replace("\r\n", "\n") in content.replace("\r\n", "\n")


def rendered_file(
    file: ResolvedFile, source: SourceFile, view: View, *, is_error: bool = False
) -> RenderedFile:
    item = file.item
    return RenderedFile(
        path=file.path,
        entry=item.path,
        content=view.text,
        source=source.text,
        mtime=source.mtime,
        error=is_error,
        view_mode=file.entry.view_mode,
        auto_aggregate=item.auto_aggregate,
        force_full=item.force_full,
        tier=file.entry.tier,
        ast_mask=dict(item.ast_mask),
        custom_slices=[dict(piece) for piece in item.custom_slices],
        language=view.language,
        spans=view.spans,
        secrets=source.secrets,
        redacted=source.redacted,
        note=encoding_note(source.encoding) if source.is_guess else "",
    )
