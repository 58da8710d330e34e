"""Read, redact and render the files of a request, with a cache of views."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import compress
from struct import Struct
from typing import Final, NamedTuple

from aggregate.base.errors import ScopeError
from aggregate.base.files import GeneratedView, PackedSpans, View, ViewMode
from aggregate.base.monitor import timed
from aggregate.base.redaction import redact
from aggregate.base.text import heading_text
from aggregate.code.syntax import LANGUAGES, fence_tag
from aggregate.code.views import ViewMaker
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.asking import Request
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
    rows: list[bytes | None]  # cached views, ``b""`` for the text itself; without secrets
    needs_view: list[bool]


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


@dataclass(slots=True, eq=False)
class FileStream:
    """Reads and renders files in portions while it is iterated, to save memory."""

    reader: FileReader
    index: Index
    doubts: Sequence[str] = ()
    on_start: Callable[[int], None] | None = None  # called once with the number of files
    on_done: Callable[[int], None] | None = None  # called with numbers of finished views
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
        if self.on_start:
            self.on_start(len(self.reader.selection.files))
        with ViewMaker() as views:
            for portion in self._clean_portions(views):
                with timed("render_files"):
                    files = self._render(portion, views)
                self._errors += [file.error_sentence for file in files if file.is_error]
                yield from files
                del portion, files  # before the next texts are read
        remarks = [remark.file for remark in self.reader.remarks()]
        self._errors += (remark.error_sentence for remark in remarks)
        yield from remarks

    def _clean_portions(self, views: ViewMaker) -> Iterator[Portion]:
        """Yield portions without secrets.

        If no views are needed, a thread searches the next one; otherwise child processes make the next one's views.
        """
        selection = self.reader.selection
        files = self.reader.portions(hashed=self.index.is_used)
        portions = map(self._look_up, files)
        can_outline = selection.generated is GeneratedView.OUTLINE
        is_small = len(selection.files) <= PORTION
        if is_small or can_outline or any(file.is_rendered for file in selection.files):
            return self._requested(portions, views)
        from aggregate.base.concurrency import ahead  # 5 ms, too long for a few files

        return ahead(self._redact, portions)

    def _requested(self, portions: Iterable[Portion], views: ViewMaker) -> Iterator[Portion]:
        """Yield portions without secrets, each after the views of the next one were requested."""
        previous: Portion | None = None
        for portion in portions:
            self._redact(portion)
            needing = compress(portion.files, portion.needs_view)
            views.request(file.request(file.view_mode) for file in needing)
            if previous:
                yield previous
            previous = portion
        if previous:
            yield previous

    def _look_up(self, files: list[File]) -> Portion:
        keys = [self._key(file) for file in files]
        return Portion(files, keys, cached_rows(self.index, _view_kind, keys), [])

    def _key(self, file: File) -> bytes:
        """Return the key of a file's view in the cache."""
        if not file.source.content_hash or file.source.error:
            return b""
        item, view = file.item, file.path[file.path.rfind("/") + 1 :]
        if self._is_rendered(file):
            view += f"\0{file.view_mode.value}"
            if item.ast_mask or item.custom_slices:
                view += json.dumps([item.ast_mask, item.custom_slices], default=str)
        return sha256(file.source.content_hash + view.encode(errors="surrogatepass")).digest()

    def _redact(self, portion: Portion) -> Portion:
        """Replace the secrets in texts that an earlier run did not search."""
        for number, (file, row) in enumerate(zip(portion.files, portion.rows, strict=True)):
            redacted = redact(file.source.text, self.reader.redaction) if row is None else None
            if redacted and redacted.is_changed:
                portion.files[number] = self.reader.take(file, file.source, redacted)
                portion.keys[number] = b""
            portion.needs_view.append(row is None and self._is_rendered(portion.files[number]))
        return portion

    def _render(self, portion: Portion, views: ViewMaker) -> list[File]:
        """Return the visible files with their views, and store new views."""
        made = views.views(sum(portion.needs_view), self.on_done)
        rendered: list[File] = []
        new_rows: list[tuple[bytes, bytes]] = []
        for file, key, row, needs_view in zip(*portion, strict=True):
            new_row: bytes | None = b""  # records a text without secrets
            if needs_view:
                shown, new_row = self._with_view(file, next(made))
            else:
                shown = _without_new_view(file, row)
            if key and row is None and new_row is not None:
                new_rows.append((key, new_row))
            if not self.reader.is_omitted(file.path):
                rendered.append(shown)
        self.index.put_many(_view_kind(), new_rows)
        if self.on_done:
            self.on_done(portion.needs_view.count(False))
        return rendered

    def _is_rendered(self, file: File) -> bool:
        is_readable = not file.source.error and not self.reader.is_omitted(file.path)
        return is_readable and file.is_rendered

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
    view = _unpack(row, text) if row else View(text, language=fence_tag(file.path, text))
    return file._replace(view=view)


def render_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    selection: Selection | None = None,
) -> RenderedFiles:
    """Read and render the files of a request, or of a ``selection``, at once."""
    with timed("build_file_items"):
        reader = FileReader(request.redaction, selection or select_files(request))
        stream = FileStream(reader, index, request.doubts, on_start, on_done)
        return RenderedFiles(tuple(stream), stream.warnings, stream.refused)


def cached_rows(
    index: Index, kind: Callable[[], Kind], keys: Sequence[bytes]
) -> list[bytes | None]:
    """Return the cached row of each key, ``None`` also for the key ``b""``."""
    present = [key for key in keys if key]
    rows = iter(index.get_many(kind(), present) if present else ())
    return [next(rows) if key else None for key in keys]


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
    if len(text) > len(content) and "\r" not in text:  # most views
        return False
    return text.replace("\r\n", "\n") in content.replace("\r\n", "\n")
