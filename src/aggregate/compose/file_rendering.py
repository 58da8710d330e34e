"""From a request's entries to rendered files: resolve, read, replace secrets, render."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aggregate.compose.missing_grammars import MissingGrammars
from aggregate.compose.request import Request
from aggregate.compose.selection import (
    Note,
    ReadFile,
    ResolvedFile,
    Selection,
    exclude_filter,
    omission_note,
    own_output_filter,
    resolve_entries,
)
from aggregate.compose.view_pool import render_all
from aggregate.errors import ConfigError, ScopeError
from aggregate.models.rendered_file import RenderedFile
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.monitor import get_monitor
from aggregate.sources.file_content import SourceFile, read_file
from aggregate.sources.path_resolution import FolderListing
from aggregate.syntax.languages import fence_tag
from aggregate.text.fences import heading_text
from aggregate.text.invisible import find_invisible

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


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


def render_files(
    request: Request,
    *,
    workers: int | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> RenderedFiles:
    """Read and render the files of ``request``; the arguments are those of ``compose_prompt``."""
    with get_monitor().scope("build_file_items"):
        selection = select_files(request)
        if on_start:
            on_start(len(selection.files))
        files, notes = render_selection(
            selection, workers=workers, on_done=on_done, redaction=request.redaction
        )
    warnings = [*request.doubts]
    warnings += [f"{place}: {problem}" for place, problem in (*selection.skipped, *notes)]
    warnings += [file.content.splitlines()[0] for file in files if file.error]
    refused = [error_text(file.path, file.problem) for file in selection.files if file.refused]
    return RenderedFiles(tuple(files), tuple(warnings), tuple(refused))


def select_files(request: Request) -> Selection:
    """Return the files of a request.

    What the program wrote itself and excluded files are never taken by a glob.

    Raises:
        ConfigError: The base directory is no folder, or there are too many rules of what to leave out.
    """
    base_dir = request.base_dir
    if request.entries and not base_dir.is_dir():
        raise ConfigError(
            f"files.base_dir: there is no folder {base_dir}: correct it, relative to the configuration",
            key="files.base_dir",
        )
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    is_excluded = exclude_filter(request.exclude) if request.exclude else lambda _: False
    return resolve_entries(
        base_dir,
        request.entries,
        is_left_out=lambda path: is_ours(path) or is_excluded(path),
        listing=FolderListing(request.scope),
    )


def check_refused(refused: Sequence[str]) -> None:
    """Make sure that nothing was refused.

    Raises:
        ScopeError: Something was; the message is the first reason.
    """
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise ScopeError(f"{refused[0].removeprefix('ERROR: ')}{more}")


def render_selection(
    selection: Selection,
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    redaction: "Redaction | None" = None,
) -> tuple[list[RenderedFile], list[Note]]:
    """Read and render the selected files, with ``redaction`` from texts without their secrets.

    Returns:
        The files in the selection's order, behind them one for each glob that has met secrets or
        binary files; and notes on what is doubtful: an encoding other than UTF-8, characters which
        nobody sees, secrets that were replaced, grammars that are not installed, parts of views
        that do not exist.
    """
    read = read_files(selection)
    notes = [*_encoding_notes(read), *_invisible_notes(read)]
    if redaction is not None:
        from aggregate.compose.redact_prompt import redact_files  # its rules take time to compile

        read, secrets = redact_files(read, redaction)
        notes += secrets
    requests = [_view_request(file, source) for file, source in read]
    missing = MissingGrammars()
    for parsed in filter(None, requests):
        missing.add(parsed)
    notes += missing.notes()
    views = iter(
        list(
            render_all(
                [request for request in requests if request], workers=workers, on_done=on_done
            )
        )
    )
    files: list[RenderedFile] = []
    for (file, source), request in zip(read, requests, strict=True):
        view = next(views) if request else None
        if isinstance(view, View):
            notes += [(file.path, _problem_text(problem, file.path)) for problem in view.problems]
        files.append(_rendered_file(file, source, view))
    return files, notes


def read_files(selection: Selection) -> list[ReadFile]:
    """Read the selected files; binary ones that a glob stands for become one note of that glob."""
    files: list[ReadFile] = []
    binary: dict[str, list[ResolvedFile]] = {}
    notes: dict[str, ResolvedFile] = {}
    for file in selection.files:
        if file.is_note:
            notes[file.item.path] = file
            continue
        source = SourceFile("", error=file.problem) if file.problem else read_file(file.file)
        if file.by_glob and source.is_binary:
            binary.setdefault(file.item.path, []).append(file)
        else:
            files.append((file, source))
    for glob, group in binary.items():
        note = omission_note(group[0].entry, "binary", [file.path for file in group])
        if glob in notes:
            note = replace(note, problem=f"{notes[glob].problem}; {note.problem}")
        notes[glob] = note
    return [*files, *((note, SourceFile("", error=note.problem)) for note in notes.values())]


def error_text(path: str, reason: str, *, is_note: bool = False) -> str:
    """Return the text in place of a file that was not read; a missing file's is fixed (rule M-5)."""
    return f"{'NOTE' if is_note else 'ERROR'}: {reason}: {heading_text(path)}"


def view_error_text(path: str, mode: ViewMode, reason: str) -> str:
    """Return the text in place of a view that could not be made."""
    return f"ERROR in {mode.value} view mode for {path}:\n{reason}"


def _encoding_notes(files: Sequence[ReadFile]) -> list[Note]:
    return [
        (file.path, f"read as {source.encoding}, not UTF-8")
        for file, source in files
        if source.encoding not in ("utf-8", "utf-8-sig")
    ]


def _invisible_notes(files: Sequence[ReadFile]) -> list[Note]:
    notes: list[Note] = []
    for file, source in files:
        invisible = find_invisible(source.text) if source.may_hide else None
        if invisible:
            notes.append((f"{file.path}:{invisible.lines[0]}", invisible.sentence))
    return notes


def _problem_text(problem: str, path: str) -> str:
    """Return a view's problem as a note says it, behind the file's path."""
    return problem.removeprefix("ERROR: ").removesuffix(f" in {path}")


def _view_request(file: ResolvedFile, source: SourceFile) -> ViewRequest | None:
    """Return the view to make; none of a file in full, or of one that is not in the prompt."""
    if file.view_mode is ViewMode.FULL or source.error or not file.item.auto_aggregate:
        return None
    item = file.item
    return ViewRequest(
        file.path, source.text, file.view_mode, item.ast_mask, tuple(item.custom_slices)
    )


def _rendered_file(file: ResolvedFile, source: SourceFile, view: View | str | None) -> RenderedFile:
    """Return the file with its view, with what went wrong with that, or in full where there is none."""
    item = file.item
    rendered = RenderedFile(
        path=file.path,
        entry=item.path,
        content=source.text,
        source=source.text,
        mtime=source.mtime,
        view_mode=file.view_mode,
        auto_aggregate=item.auto_aggregate,
        force_full=item.force_full,
        tier=file.entry.tier,
        ast_mask=dict(item.ast_mask),
        custom_slices=[dict(piece) for piece in item.custom_slices],
        language=fence_tag(file.path, source.text),
    )
    if source.error:
        content = error_text(file.path, source.error, is_note=file.is_note)
        return replace(rendered, content=content, error=True)
    if isinstance(view, View):
        return replace(rendered, content=view.text, language=view.language, spans=view.spans)
    if view is not None:
        return replace(
            rendered, content=view_error_text(file.path, file.view_mode, view), error=True
        )
    return rendered
