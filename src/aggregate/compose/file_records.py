"""Read files and render their views: from a selection to records."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from aggregate.compose.selection import ResolvedFile, Selection, omission_note
from aggregate.models.file_item import FileItem, FileRecord
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.sources.file_content import SourceFile, read_file
from aggregate.syntax.languages import fence_tag
from aggregate.text.fences import heading_text
from aggregate.text.invisible import find_invisible
from aggregate.views.pool import render_all

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


def build_records(
    selection: Selection,
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    redaction: "Redaction | None" = None,
) -> tuple[list[FileRecord], list[tuple[str, str]]]:
    """Read and render the selected files, with ``redaction`` from texts without their secrets.

    Returns:
        A record per file in the selection's order, behind them one for each glob that has met secrets or binary files;
        and notes ``(place, text)`` for what is doubtful: an encoding other than UTF-8, characters which nobody sees,
        secrets that were replaced.
    """
    files, sources = read_files(selection)
    notes = [
        (one.path, f"read as {source.encoding}, not UTF-8")
        for one, source in zip(files, sources, strict=True)
        if source.encoding not in ("utf-8", "utf-8-sig")
    ]
    notes += [
        (f"{one.path}:{invisible.lines[0]}", invisible.sentence)
        for one, source in zip(files, sources, strict=True)
        if source.may_hide and (invisible := find_invisible(source.text))
    ]
    if redaction is not None:
        from aggregate.compose.redact_prompt import redact_files  # its rules take time to compile

        redacted = redact_files(files, sources, redaction)
        files, sources = list(redacted.files), list(redacted.sources)
        notes += redacted.notes
    modes = [view_mode(one.entry.item) for one in files]
    dispatched = [i for i, source in enumerate(sources) if _needs_view(files[i], source, modes[i])]
    requests = [_request(files[i], sources[i], modes[i]) for i in dispatched]
    rendered = render_all(requests, workers=workers, on_done=on_done)
    views: dict[int, View | str] = dict(zip(dispatched, rendered, strict=True))
    notes += [
        (files[i].path, problem.removeprefix("ERROR: ").removesuffix(f" in {files[i].path}"))
        for i, view in views.items()
        if isinstance(view, View)
        for problem in view.problems
    ]
    records = [
        _record(one, source, mode, views.get(i))
        for i, (one, source, mode) in enumerate(zip(files, sources, modes, strict=True))
    ]
    return records, notes


def read_files(selection: Selection) -> tuple[list[ResolvedFile], list[SourceFile]]:
    """Read the selected files; those that are binary and were found by a glob become one note of that glob."""
    shown: list[ResolvedFile] = []
    sources: list[SourceFile] = []
    binary: dict[str, list[ResolvedFile]] = {}
    notes: dict[str, ResolvedFile] = {}
    for one in selection.files:
        if one.is_note:
            notes[one.named] = one
            continue
        source = SourceFile("", error=one.problem) if one.problem else read_file(one.file)
        if one.by_glob and source.is_binary:
            binary.setdefault(one.named, []).append(one)
        else:
            shown.append(one)
            sources.append(source)
    for glob, met in binary.items():
        note = omission_note(met[0].entry, "binary", [one.path for one in met])
        notes[glob] = replace(note, problem=f"{notes[glob].problem}; {note.problem}") if glob in notes else note
    return [*shown, *notes.values()], [*sources, *(SourceFile("", error=note.problem) for note in notes.values())]


def view_mode(item: FileItem) -> ViewMode:
    """Return the view that an item asks for: ``force_full`` wins, then the shortcuts for the skeleton."""
    if item.force_full:
        return ViewMode.FULL
    mode = ViewMode.parse(item.view_mode)
    return ViewMode.SKELETON if mode is ViewMode.FULL and (item.ast_signatures or item.ast_definitions) else mode


def _needs_view(one: ResolvedFile, source: SourceFile, mode: ViewMode) -> bool:
    """Tell whether a view must be made: a file in full is its own view, one that is not shown has none."""
    return mode is not ViewMode.FULL and not source.error and one.entry.item.auto_aggregate


def _request(one: ResolvedFile, source: SourceFile, mode: ViewMode) -> ViewRequest:
    item = one.entry.item
    return ViewRequest(one.path, source.text, mode, item.ast_mask, tuple(item.custom_slices))


def _record(one: ResolvedFile, source: SourceFile, mode: ViewMode, view: View | str | None) -> FileRecord:
    item = one.entry.item
    record = FileRecord(
        path=one.path,
        entry=one.named,
        content=source.text,
        source=source.text,
        mtime=source.mtime,
        error=False,
        view_mode=mode.value,
        auto_aggregate=item.auto_aggregate,
        force_full=item.force_full,
        tier=one.entry.tier,
        ast_mask=dict(item.ast_mask),
        custom_slices=[dict(piece) for piece in item.custom_slices],
        language=fence_tag(one.path, source.text),
        spans=(),
    )
    if source.error:
        record["content"], record["error"] = error_text(one.path, source.error, is_note=one.is_note), True
    elif isinstance(view, View):
        record["content"], record["language"], record["spans"] = view.text, view.language, view.spans
    elif view is not None:
        record["content"], record["error"] = f"ERROR in {mode.value} view mode for {one.path}:\n{view}", True
    return record


def error_text(path: str, reason: str, *, is_note: bool = False) -> str:
    """Return the content that stands for a file that could not be read; a missing file's is fixed (rule M-5)."""
    return f"{'NOTE' if is_note else 'ERROR'}: {reason}: {heading_text(path)}"
