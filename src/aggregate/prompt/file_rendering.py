"""From a request's files to rendered ones: read, replace secrets, render; views are kept for later runs."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

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
from aggregate.base.text import generated_reason, heading_text
from aggregate.code.syntax import LANGUAGES, fence_tag
from aggregate.code.views import EXCLUDED, render_all
from aggregate.project.files import SourceFile
from aggregate.project.index import Index, Kind, code_version
from aggregate.prompt.file_reading import (
    FileReader,
    NoteKind,
    ReadFacts,
    Reading,
    missing_grammar,
    remember,
    unread,
)
from aggregate.prompt.layout import view_error_text
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile, Selection, select_files

if TYPE_CHECKING:
    from aggregate.project.index import FileState

# Whose code takes part in making a view of a file's bytes, and decides which are kept.
VIEW_CODE = (
    "code.anchors",
    "prompt.file_reading",
    "prompt.file_rendering",
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
    "code.views",
)
# What others have made of that: encodings are guessed, slices found again, secrets and definitions found by them.
VIEW_LIBRARIES = ("charset_normalizer", "rapidfuzz", "re2", "tree_sitter")
_SIZES: Final = Struct("<II")  # The bytes of what is told of a file, and of the spans of its view
# Files that the index is asked for at once: few statements, and few texts in memory.
_AT_ONCE: Final = 32


def error_text(path: str, reason: str, *, is_remark: bool = False) -> str:
    """Return the text in place of a file that was not read; a missing file's is fixed (rule M-5)."""
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


class KnownView(NamedTuple):
    """What reading and rendering a file told.

    Attributes:
        view: Its view, ``None`` for a file that is only listed.
        is_own: Whether the view's text is the file's own, which the index must not hold (rule I-5).
    """

    facts: ReadFacts
    view: View | None = None
    is_own: bool = False

    def pack(self) -> bytes:
        view = self.view or View("")
        head = json.dumps([self.facts, self.view and view.language, self.is_own]).encode()
        spans = PackedSpans.of(view.spans).data
        text = b"" if self.is_own else view.text.encode("utf-8", "surrogatepass")
        return _SIZES.pack(len(head), len(spans)) + head + spans + text

    @classmethod
    def unpack(cls, data: bytes) -> "KnownView":
        head_size, spans_size = _SIZES.unpack_from(data)
        spans_start = _SIZES.size + head_size
        text_start = spans_start + spans_size
        facts, language, is_own = json.loads(data[_SIZES.size : spans_start])
        view = None
        if language is not None:
            text = data[text_start:].decode("utf-8", "surrogatepass")
            view = View(text, PackedSpans(data[spans_start:text_start]), language)
        return cls(ReadFacts(*facts), view, is_own)


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The files of a request, read and rendered once; many prompts can be laid out from them."""

    files: tuple[RenderedFile, ...]
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[RenderedFile]:
        return iter(self.files)

    def check_refused(self) -> None:
        check_refused(self.refused)


@dataclass(slots=True, eq=False)
class FileStream:
    """The files of a selection, read and rendered one after another while they are asked for; it keeps none."""

    selection: Selection
    reader: FileReader
    index: Index
    doubts: Sequence[str] = ()
    with_texts: bool = True
    workers: int | None = None
    on_done: Callable[[int], None] | None = None
    _errors: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each; complete once all files were rendered."""
        return (*self.doubts, *self.reader.warnings(self.selection, self._errors))

    @property
    def refused(self) -> tuple[str, ...]:
        return refusals(self.selection)

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files in the selection's order, behind them a remark for each glob that met what is not shown."""
        readings = get_monitor().steps("read_files", self._readings())
        # Reading the files is a part of it.
        for reading, view in get_monitor().steps("render_files", self._made(readings)):
            rendered = self._rendered(reading, view)
            if rendered.error:
                self._errors.append(error_sentence(rendered))
            yield rendered

    def _made(self, readings: Iterator[Reading]) -> Iterator[tuple[Reading, View | str]]:
        """Yield files with the views that are made of them; nothing starts where all are shown as they are."""
        selection = self.selection
        can_outline = selection.generated.view is GeneratedView.OUTLINE
        if not can_outline and not any(file.is_rendered for file in selection.files):
            for reading in readings:
                yield reading, View("")
                if self.on_done:
                    self.on_done(1)
            return
        waiting: deque[Reading] = deque()

        def requests() -> Iterator[ViewRequest]:
            for reading in readings:
                waiting.append(reading)
                yield _view_request(reading)

        for view in render_all(requests(), workers=self.workers, on_done=self.on_done):
            yield waiting.popleft(), view

    def _readings(self) -> Iterator[Reading]:
        files = self.selection.files
        is_new = self.index.is_empty
        for start in range(0, len(files), _AT_ONCE):
            portion = files[start : start + _AT_ONCE]
            for reading in (
                self._known(portion, is_new=is_new)
                if self.index.is_used
                else map(self.reader.read, portion)
            ):
                if not reading.is_listed:
                    yield reading
        yield from map(unread, self.reader.remarks(files))

    def _known(self, files: Sequence[ResolvedFile], *, is_new: bool) -> Iterator[Reading]:
        """Yield files with their views, as far as earlier runs have made these; what is unchanged is hardly read."""
        seen_ns, index = self.index.now_ns(), self.index
        states: Sequence[FileState | None] = [None] * len(files)
        if not is_new:
            states = index.known(["" if file.problem else file.file for file in files])
        keys = [
            self._key(file, state.content_hash) if state and state.content_hash else b""
            for file, state in zip(files, states, strict=True)
        ]
        readings = [
            self._reading(file, state, key, known, seen_ns)
            for file, state, key, known in zip(files, states, keys, self._views(keys), strict=True)
        ]
        # What was read may have been rendered before: in another checkout, or under another name.
        views = self._views([b"" if reading.view else reading.key for reading in readings])
        for reading, known in zip(readings, views, strict=True):
            yield _with_view(reading, known) if known else reading

    def _reading(
        self,
        file: ResolvedFile,
        state: "FileState | None",
        key: bytes,
        known: KnownView | None,
        seen_ns: int,
    ) -> Reading:
        clean_hash = b""
        if state and known:
            source = SourceFile("", mtime=state.mtime_ns / 1e9)
            shown = self.reader.shown(file, known.facts)
            if shown is None:
                return Reading(file, source, source, known.facts, is_listed=True)
            if shown is file and known.view and not (self.with_texts or known.is_own):
                self.reader.note_facts(file.path, known.facts)
                return Reading(file, source, source, known.facts, view=known.view)
            clean_hash = state.content_hash or b""
        reading = self.reader.read(file, hashed=True, clean_hash=clean_hash)
        source = reading.source
        remember(self.index, source, seen_ns=seen_ns)
        if source.error or not source.content_hash:
            return reading
        reading = reading._replace(key=self._key(reading.file, source.content_hash))
        if reading.is_listed:
            self._keep(reading, None)
        return _with_view(reading, known) if known and reading.key == key else reading

    def _key(self, file: ResolvedFile, content_hash: bytes) -> bytes:
        item = file.item
        mode = file.entry.view_mode.value if file.is_rendered else ""
        asked = "\0".join((mode, self.reader.generated_view(file).value, *name_traits(file.path)))
        if item.ast_mask or item.custom_slices:
            asked += json.dumps([item.ast_mask, item.custom_slices], default=str)
        return sha256(content_hash + asked.encode(errors="surrogatepass")).digest()

    def _views(self, keys: Sequence[bytes]) -> list[KnownView | None]:
        if not any(keys):
            return [None] * len(keys)
        rows = iter(self.index.get_many(_kind(), list(filter(None, keys))))
        found = (next(rows) if key else None for key in keys)
        return [KnownView.unpack(row) if row else None for row in found]

    def _keep(self, reading: Reading, view: View | None) -> None:
        if reading.key:
            is_own = view is not None and view.text == reading.source.text
            row = KnownView(reading.facts, view, is_own).pack()
            self.index.put_many(_kind(), [(reading.key, row)])

    def _rendered(self, reading: Reading, made: View | str) -> RenderedFile:
        file, source = reading.file, reading.source
        if reading.view:
            return _rendered_file(file, source, reading.view)
        if source.error:
            return noted_file(file, source)
        if not file.is_rendered:
            view = View(source.text, language=fence_tag(file.path, source.text))
            self._keep(
                reading, view
            )  # nothing was made of the text, but it was searched for secrets
            return _rendered_file(file, source, view)
        if isinstance(made, str):
            text = view_error_text(file.path, file.entry.view_mode, made)
            view = View(text, language=fence_tag(file.path, source.text))
            return _rendered_file(file, source, view, is_error=True)
        for problem in made.problems:
            said = problem.removeprefix("ERROR: ").removesuffix(f" in {heading_text(file.path)}")
            self.reader.note(file.path, NoteKind.VIEW, said)
        if language := missing_grammar(_view_request(reading)):
            self.reader.note(file.path, NoteKind.GRAMMAR, language)
        elif not made.problems and not _tells_all(reading, made):
            self._keep(reading, made)
        return _rendered_file(file, source, made)


def stream_files(
    request: Request,
    *,
    index: Index,
    with_texts: bool = True,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileStream:
    """Return the files of ``request``, which are read while they are iterated, as those of ``FileStream`` are.

    ``on_start`` is called once with their number.
    """
    with get_monitor().scope("select_files"):
        selection = select_files(request)
    if on_start:
        on_start(len(selection.files))
    reader = FileReader(request.redaction, selection.generated)
    return FileStream(selection, reader, index, request.doubts, with_texts, workers, on_done)


def render_files(
    request: Request,
    *,
    index: Index,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> RenderedFiles:
    """Read and render the files of ``request`` at once; the arguments are those of ``stream_files``."""
    with get_monitor().scope("build_file_items"):
        stream = stream_files(
            request, index=index, workers=workers, on_start=on_start, on_done=on_done
        )
        return RenderedFiles(tuple(stream), stream.warnings, stream.refused)


def noted_file(file: ResolvedFile, source: SourceFile) -> RenderedFile:
    """Return what stands for a file that could not be read, a remark, or a file that is excluded on purpose."""
    if not source.error:
        return _rendered_file(file, source, View(EXCLUDED))
    problem = error_text(file.path, source.error, is_remark=file.is_remark)
    language = fence_tag(file.path, source.text)
    view = View("\n".join((problem, *file.details)), language=language)
    return _rendered_file(file, source, view, is_error=True)


def name_traits(path: str) -> tuple[str, str]:
    """Return all of a file's path that decides on its views and sizes: its last part, and why it looks generated."""
    return path[path.rfind("/") + 1 :], generated_reason(path, "")


@cache
def view_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(VIEW_CODE, installed=(*VIEW_LIBRARIES, *sorted(grammars)))


@cache
def _kind() -> Kind:
    return Kind("view", view_version())


def _with_view(reading: Reading, known: KnownView) -> Reading:
    view = known.view
    if view and known.is_own:
        view = View(reading.source.text, view.spans, view.language)
    return reading._replace(view=view)


def _view_request(reading: Reading) -> ViewRequest:
    """Return the view to make; where none is, one that costs nothing, with the text that waits meanwhile."""
    file, source, known = reading.file, reading.source, reading.view
    if known or source.error or not file.is_rendered:
        return ViewRequest(file.path, known.text if known else source.text, ViewMode.NONE)
    item = file.item
    return ViewRequest(
        file.path, source.text, file.entry.view_mode, item.ast_mask, tuple(item.custom_slices)
    )


def _tells_all(reading: Reading, view: View) -> bool:
    """Tell whether a view that is not the text itself holds all of it, which is not to be kept (rule I-5)."""
    if reading.file.entry.view_mode is ViewMode.FULL:
        return True  # the cells of a notebook
    # Without what differs between two texts of equal lines.
    text, shown = (each.replace("\r\n", "\n").strip() for each in (reading.source.text, view.text))
    return bool(text) and view.text != reading.source.text and text in shown


def _rendered_file(
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
    )
