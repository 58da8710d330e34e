"""Data about the files of a prompt, which lets a later run render only changed files."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.base.files import FileRow, RenderedFile, ViewMode
from aggregate.project.configuration import CONFIG_NAME
from aggregate.project.index import Index
from aggregate.prompt.asking.request import Request
from aggregate.prompt.assemble import Composition
from aggregate.prompt.files.file_reading import FileReader
from aggregate.prompt.files.file_rendering import FileStream
from aggregate.prompt.files.layout import rendered_segment
from aggregate.prompt.files.selection import ResolvedFile, Selection, with_generated_policy

# Files that affect more than their own block.
_STEERING = (".gitignore", ".gitattributes", ".gitmodules", CONFIG_NAME)


class KnownRow(NamedTuple):
    """A file of a prompt, as recorded for later runs."""

    path: str
    file: str  # absolute path, ``""`` if it may affect more than its own block
    entry: int  # number of the entry that selects it, -1 for none
    by_glob: bool
    entry_path: str  # the entry as written
    view_mode: str
    auto_aggregate: bool
    error: bool

    @property
    def row(self) -> FileRow:
        mode = ViewMode(self.view_mode)
        return FileRow(self.path, self.entry_path, mode, self.auto_aggregate, self.error)


def known_rows(composition: Composition, steering: Sequence[str]) -> list[KnownRow]:
    """Return data about a prompt's files for later runs.

    The list is empty if a changed file could affect other files' blocks. ``steering`` are absolute paths of files that
    affect other files, such as ``.gitignore``.
    """
    request, source = composition.request, composition.source
    depends = request.is_audited or request.is_tier3 or request.is_summary or request.results
    if depends or request.is_numbered or not isinstance(source, FileStream):
        return []
    entries = {id(entry): number for number, entry in enumerate(request.entries)}
    files = {file.path: file for file in source.selection.files if not file.is_remark}
    special = {*source.reader.noted, *composition.secret_places, *steering}
    rows = []
    for row in composition.rows:
        location, entry, by_glob = "", -1, False
        if (file := files.get(row.path)) and not row.error:
            location, by_glob = file.file, file.by_glob
            if "/." in location or not location.startswith("/"):
                location = os.path.abspath(location)
            entry = entries.get(id(file.entry), -1)
            is_special = not special.isdisjoint((row.path, location))
            if entry < 0 or is_special or row.path.rpartition("/")[2] in _STEERING:
                location = ""
        origin = location, entry, by_glob, row.entry
        rows.append(KnownRow(row.path, *origin, row.view_mode.value, row.auto_aggregate, row.error))
    return rows


def edited_blocks(request: Request, rows: Sequence[KnownRow]) -> Mapping[str, str] | None:
    """Render the blocks of changed files by path.

    Return ``None`` if more than these blocks may change in the prompt.
    """
    files = [
        ResolvedFile(row.path, row.file, request.entries[row.entry], row.by_glob) for row in rows
    ]
    rendered = _rendered(request, files)
    if rendered is None or [file.row for file in rendered] != [row.row for row in rows]:
        return None
    return {file.path: rendered_segment(file).text for file in rendered}


def _rendered(request: Request, files: Sequence[ResolvedFile]) -> tuple[RenderedFile, ...] | None:
    """Render files; return ``None`` if there is a warning."""
    selection = with_generated_policy(Selection(tuple(files)), request)
    reader = FileReader(request.redaction, selection.generated)
    rendered = tuple(FileStream(selection, reader, Index(None, limit=0)))
    has_notes = reader.noted or selection.skipped
    return None if has_notes or any(file.error or file.secrets for file in rendered) else rendered
