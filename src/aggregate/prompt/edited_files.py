"""The files of a prompt as a later run needs to know them, in which some have changed and all others are copied."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aggregate.base.files import FileRow, RenderedFile, ViewMode
from aggregate.project.configuration import CONFIG_NAME
from aggregate.project.index import Index
from aggregate.prompt.assemble import Composition
from aggregate.prompt.file_reading import FileReader
from aggregate.prompt.file_rendering import FileStream
from aggregate.prompt.layout import rendered_segment
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile, Selection, with_generated_policy

# What decides on more than on how it is shown itself.
_STEERING = (".gitignore", ".gitattributes", ".gitmodules", CONFIG_NAME)


class KnownRow(NamedTuple):
    """What is remembered of a file of a prompt."""

    path: str
    file: str  # its absolute path, ``""`` where more than its own block may follow from it
    entry: int  # the number of the entry that asked for it, -1 for none
    by_glob: bool
    told: str  # of ``FileRow``: the entry as it was written
    view_mode: str
    auto_aggregate: bool
    error: bool

    @property
    def row(self) -> FileRow:
        mode = ViewMode(self.view_mode)
        return FileRow(self.path, self.told, mode, self.auto_aggregate, self.error)


def known_rows(composition: Composition, steering: Sequence[str]) -> list[KnownRow]:
    """Return the rows of a prompt whose files are shown one by one, of any other none.

    ``steering`` are absolute paths of files that decide on more than on their own block.
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
        place, entry, by_glob = "", -1, False
        if (file := files.get(row.path)) and not row.error:
            place, by_glob = file.file, file.by_glob
            if "/." in place or not place.startswith("/"):
                place = os.path.abspath(place)
            entry = entries.get(id(file.entry), -1)
            if (
                entry < 0
                or not special.isdisjoint((row.path, place))
                or row.path.rpartition("/")[2] in _STEERING
            ):
                place = ""
        mode = row.view_mode.value
        known = place, entry, by_glob, row.entry, mode, row.auto_aggregate, row.error
        rows.append(KnownRow(row.path, *known))
    return rows


def edited_blocks(request: Request, rows: Sequence[KnownRow]) -> Mapping[str, str] | None:
    """Return the blocks of files by their paths, rendered anew; ``None`` where anything else may differ by them."""
    files = [
        ResolvedFile(row.path, row.file, request.entries[row.entry], row.by_glob) for row in rows
    ]
    rendered = _rendered(request, files)
    if rendered is None or [file.row for file in rendered] != [row.row for row in rows]:
        return None
    return {file.path: rendered_segment(file).text for file in rendered}


def _rendered(request: Request, files: Sequence[ResolvedFile]) -> tuple[RenderedFile, ...] | None:
    """Render some files of which nothing is told besides; ``None`` where something is."""
    selection = with_generated_policy(Selection(tuple(files)), request)
    reader = FileReader(request.redaction, selection.generated)
    rendered = tuple(FileStream(selection, reader, Index(None, limit=0)))
    has_notes = reader.noted or selection.skipped
    return None if has_notes or any(file.error or file.secrets for file in rendered) else rendered
