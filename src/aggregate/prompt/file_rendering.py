"""From a request's files to rendered ones: read, replace secrets, render; what is doubtful is told."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aggregate.base.disk import is_file, read_bytes
from aggregate.base.errors import ScopeError
from aggregate.base.monitor import get_monitor
from aggregate.base.text import heading_text
from aggregate.base.values import (
    Image,
    Redaction,
    RenderedFile,
    Screenshot,
    View,
    ViewMode,
    ViewRequest,
)
from aggregate.code.syntax import fence_tag
from aggregate.code.views import EXCLUDED
from aggregate.project.files import FolderListing, SourceFile, read_image_header
from aggregate.project.index import Index
from aggregate.prompt.file_reading import (
    FileNotes,
    FileReader,
    NoteKind,
    PreparedFile,
    invisible_in,
    prepare_files,
)
from aggregate.prompt.missing_grammars import missing_grammar
from aggregate.prompt.request import Request
from aggregate.prompt.request_files import WrittenBy, select_files
from aggregate.prompt.sections.files import view_error_text
from aggregate.prompt.selection import (
    ResolvedFile,
    Selection,
    display_path,
)
from aggregate.prompt.view_index import KnownView, ViewIndex
from aggregate.prompt.view_pool import render_all


def check_refused(refused: Sequence[str]) -> None:
    """Make sure that nothing was refused.

    Raises:
        ScopeError: Something was; the message is the first reason.
    """
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def error_text(path: str, reason: str, *, is_remark: bool = False) -> str:
    """Return the text in place of a file that was not read; a missing file's is fixed (rule M-5)."""
    return f"{'NOTE' if is_remark else 'ERROR'}: {reason}: {heading_text(path)}"


def file_warnings(
    selection: Selection,
    notes: FileNotes,
    errors: Iterable[str],
    *,
    shown: Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Return what is told of files: what was left out, what is doubtful, and which are not shown.

    Args:
        selection: All files.
        notes: What is doubtful about some.
        errors: A sentence for each that is not shown.
        shown: The paths of those whose doubts are told; by default all.
    """
    paths = [file.path for file in selection.files] if shown is None else shown
    doubtful = (*selection.skipped, *notes.in_order(paths))
    return (*(f"{place}: {problem}" for place, problem in doubtful), *errors)


def refusals(selection: Selection) -> tuple[str, ...]:
    """Return a sentence for each file that the scope does not allow."""
    refused = (file for file in selection.files if file.refused)
    return tuple(error_text(file.path, file.problem) for file in refused)


def error_sentence(file: RenderedFile) -> str:
    """Return why a file is not shown, in one line."""
    return file.content.splitlines()[0]


def problem_text(problem: str, path: str) -> str:
    """Return a view's problem as a note says it, behind the file's path."""
    return problem.removeprefix("ERROR: ").removesuffix(f" in {heading_text(path)}")


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The files of a request, read and rendered once; many prompts can be laid out from them.

    Attributes:
        files: In the order of the prompt.
        warnings: What was left out or is doubtful, one sentence each.
        refused: Those of the warnings that say what the scope does not allow.
    """

    files: tuple[RenderedFile, ...]
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files in order."""
        return iter(self.files)


class FileStream:
    """The files of a selection, read and rendered one after another while they are asked for; it keeps none.

    Args:
        selection: The files, and what was left out.
        index: Where views are kept from run to run.
        redaction: What is a secret in their texts, and whether it is replaced.
        reader: Reads the files, by default a new one.
        doubts: What is odd about what was asked for, told before all else.
        with_texts: Whether each file's own text is wanted beside its view. Without, files whose views are kept are
            not even read.
        workers: How many processes render views; by default as many as pay.
        on_done: Called with the number of views that have become ready.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        index: Index,
        redaction: Redaction,
        reader: FileReader | None = None,
        doubts: Sequence[str] = (),
        with_texts: bool = True,
        workers: int | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> None:
        self._selection = selection
        self._doubts = doubts
        self._workers = workers
        self._on_done = on_done
        self._reader = reader or FileReader(redaction, selection.generated)
        self._views = ViewIndex(index, selection.generated.view)
        self._with_texts = with_texts
        self._errors: list[str] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each; complete once all files were rendered."""
        return (*self._doubts, *file_warnings(self._selection, self._reader.notes, self._errors))

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        return refusals(self._selection)

    def __iter__(self) -> Iterator[RenderedFile]:
        """Yield the files in the selection's order, behind them a remark for each glob that met what is not shown."""
        waiting: deque[PreparedFile] = deque()
        views = render_all(self._requests(waiting), workers=self._workers, on_done=self._on_done)
        # Reading the files is a part of it.
        for view in get_monitor().steps("render_files", views):
            prepared = waiting.popleft()
            rendered = self._rendered(prepared, view)
            if rendered.error:
                self._errors.append(error_sentence(rendered))
            yield rendered

    def _requests(self, waiting: deque[PreparedFile]) -> Iterator[ViewRequest]:
        """Yield what to render of each file, and put the file behind those that wait for it."""
        prepared_files = prepare_files(
            self._selection.files, self._reader, self._views, with_texts=self._with_texts
        )
        for prepared in get_monitor().steps("read_files", prepared_files):
            waiting.append(prepared)
            yield _view_request(prepared)

    def _rendered(self, prepared: PreparedFile, view: View | str) -> RenderedFile:
        file, source = prepared.file, prepared.source
        if prepared.known:
            view = prepared.known.view(source.text)
        elif not file.is_rendered or source.error:
            if prepared.key:  # nothing was made of the text, but it was searched for secrets
                whole = View(source.text, language=fence_tag(file.path, source.text))
                self._views.put(prepared.key, _known_view(file, source, whole))
            return _rendered_file(file, source, None)
        elif isinstance(view, View):
            problems = [problem_text(problem, file.path) for problem in view.problems]
            notes = ((file.path, problem) for problem in problems)
            self._reader.notes.add(file.path, NoteKind.VIEW, notes)
            missing = missing_grammar(_view_request(prepared))
            if missing:
                self._reader.notes.add(file.path, NoteKind.GRAMMAR, [(file.path, missing)])
            elif prepared.key and not problems and not _tells_all(file, source, view):
                self._views.put(prepared.key, _known_view(file, source, view))
        return _rendered_file(file, source, view)


def stream_files(
    request: Request,
    *,
    index: Index,
    with_texts: bool = True,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileStream:
    """Return the files of ``request``; they are read while they are iterated.

    Args:
        request: Whose files.
        index: Where views are kept from run to run.
        with_texts: Whether each file's own text is wanted beside its view.
        workers: How many processes render views; by default as many as pay.
        on_start: Called once with the number of files.
        on_done: Called with the number of views that have become ready.
    """
    with get_monitor().scope("select_files"):
        selection = select_files(request)
    if on_start:
        on_start(len(selection.files))
    return FileStream(
        selection,
        index=index,
        with_texts=with_texts,
        redaction=request.redaction,
        doubts=request.doubts,
        workers=workers,
        on_done=on_done,
    )


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
    return _rendered_file(file, source, View(EXCLUDED))


def _view_request(prepared: PreparedFile) -> ViewRequest:
    """Return the view to make; where none is, one that costs nothing, with the text that waits meanwhile."""
    file, source, known = prepared.file, prepared.source, prepared.known
    if known or source.error or not file.is_rendered:
        text = known.text if known and known.text is not None else source.text
        return ViewRequest(file.path, text, ViewMode.NONE)
    item = file.item
    return ViewRequest(
        file.path, source.text, file.view_mode, item.ast_mask, tuple(item.custom_slices)
    )


def _tells_all(file: ResolvedFile, source: SourceFile, view: View) -> bool:
    """Tell whether a view that is not the text itself holds all of it, which is not to be kept (rule I-5)."""
    if file.view_mode is ViewMode.FULL:
        return True  # the cells of a notebook
    text = _plain_lines(source.text)
    return bool(text) and view.text != source.text and text in _plain_lines(view.text)


def _plain_lines(text: str) -> str:
    """Return ``text`` without what differs between two texts of equal lines."""
    return text.replace("\r\n", "\n").strip()


def _known_view(file: ResolvedFile, source: SourceFile, view: View) -> KnownView:
    """Return a view as the index keeps it."""
    return KnownView(
        None if view.text == source.text else view.text,
        is_made=True,
        written_by=WrittenBy.of(file.path, source.text),
        spans=view.spans,
        language=view.language,
        encoding=source.encoding,
        invisible=invisible_in(source),
    )


def _rendered_file(file: ResolvedFile, source: SourceFile, view: View | str | None) -> RenderedFile:
    """Return the file with its view, with what went wrong with that, or in full where there is none."""
    item = file.item
    shown = _shown(file, source, view)
    return RenderedFile(
        path=file.path,
        entry=item.path,
        content=shown.text,
        source=source.text,
        mtime=source.mtime,
        error=bool(source.error) or isinstance(view, str),
        view_mode=file.view_mode,
        auto_aggregate=item.auto_aggregate,
        force_full=item.force_full,
        tier=file.entry.tier,
        ast_mask=dict(item.ast_mask),
        custom_slices=[dict(piece) for piece in item.custom_slices],
        language=shown.language,
        spans=shown.spans,
        secrets=source.secrets,
        redacted=source.redacted,
    )


def _shown(file: ResolvedFile, source: SourceFile, view: View | str | None) -> View:
    """Return what is shown of a file: its view, what went wrong with that, or the file in full."""
    if isinstance(view, View) and not source.error:
        return view
    language = fence_tag(file.path, source.text)
    if source.error:
        problem = error_text(file.path, source.error, is_remark=file.is_remark)
        return View("\n".join((problem, *file.details)), language=language)
    if isinstance(view, str):
        return View(view_error_text(file.path, file.view_mode, view), language=language)
    return View(source.text, language=language)


def find_screenshots(
    base_dir: str | Path, entries: Sequence[str], *, shown_from: str | Path, listing: FolderListing
) -> tuple[Screenshot, ...]:
    """Return the images that paths and globs below ``base_dir`` stand for, each once.

    Args:
        base_dir: Where relative paths begin.
        entries: Paths or globs.
        shown_from: The folder that paths are shown relative to.
        listing: Resolves them, as far as its scope allows.
    """
    images: dict[str, Screenshot] = {}
    for entry in entries:
        resolved = listing.resolve(base_dir, entry)
        for name in resolved.names:
            file = Path(resolved.folder, name)
            path = display_path(file, shown_from)
            exists = not resolved.refused and is_file(file)
            place = (resolved.real or str(file)) if exists else ""
            images.setdefault(path, Screenshot(path, exists, resolved.refused, place))
        if not resolved.names and resolved.is_glob:
            images.setdefault(entry, Screenshot(entry, exists=False, refused=resolved.refused))
    return tuple(images.values())


def read_images(
    screenshots: Sequence[Screenshot], *, limit: int
) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """Return the images that screenshots are, and a warning for each that is there and cannot be sent.

    Args:
        screenshots: As ``find_screenshots`` returns them; what may not be shown, or is missing, is passed over.
        limit: The most bytes of one.
    """
    images: list[Image] = []
    warnings = []
    for screenshot in screenshots:
        if not screenshot.file:
            continue
        try:
            data = read_bytes(screenshot.file, limit=limit)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            warnings.append(f"screenshot {screenshot.path} is only named in the prompt: {problem}")
            continue
        header = read_image_header(data)
        if header is None:
            warnings.append(
                f"screenshot {screenshot.path} is only named in the prompt: it is no PNG, JPEG, GIF or WebP image"
            )
            continue
        images.append(Image(screenshot.path, header.media_type, data, header.width, header.height))
    return tuple(images), tuple(warnings)
