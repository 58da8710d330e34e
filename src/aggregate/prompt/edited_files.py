"""Data about the files of a prompt, which lets a later run render only changed files."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from aggregate.base.files import Entry, FileItem
from aggregate.project.configuration import CONFIG_NAME
from aggregate.project.index import Index
from aggregate.prompt.asking.request import Request
from aggregate.prompt.assemble import Composition
from aggregate.prompt.files import (
    File,
    FileReader,
    FileStream,
    Selection,
    rendered_segment,
    with_generated_policy,
)

# Files that affect more than their own block.
_STEERING = (".gitignore", ".gitattributes", ".gitmodules", CONFIG_NAME)
# A recorded file: path, location, number of its entry, whether a glob matches it, whether it is an error, and its own
# entry. The location is ``""`` if it may affect more than its own block. The own entry is for files without a number.
Row = tuple[str, str, int, bool, bool, tuple[str, bool, str] | None]


def known_rows(composition: Composition, steering: Sequence[str]) -> list[Row]:
    """Return data about a prompt's files for later runs.

    The list is empty if a changed file could affect other files' blocks. ``steering`` are absolute paths of files that
    affect other files, such as ``.gitignore``.
    """
    request, source = composition.request, composition.source
    depends = request.is_audited or request.is_tier3 or request.is_summary or request.results
    if depends or request.is_numbered or not isinstance(source, FileStream):
        return []
    numbers = {id(entry): number for number, entry in enumerate(request.entries)}
    special = {*source.reader.noted, *composition.secret_places, *steering}
    rows: list[Row] = []
    for file in composition.rows:
        location, number = file.file, numbers.get(id(file.entry), -1)
        if "/." in location or not location.startswith("/"):
            location = os.path.abspath(location) if location else ""
        is_special = file.path.rpartition("/")[2] in _STEERING
        is_special = is_special or not special.isdisjoint((file.path, location))
        if number < 0 or is_special or file.is_error:
            location = ""
        own = (file.item.path, file.item.auto_aggregate, file.view_mode.value)
        entry = None if number >= 0 else own
        rows.append((file.path, location, number, file.by_glob, file.is_error, entry))
    return rows


def known_files(request: Request, rows: Sequence[Sequence[Any]]) -> list[File]:
    """Return the files of recorded rows; ``request`` has the entries of then."""
    files: list[File] = []
    for path, location, number, by_glob, is_error, own in rows:
        entry = request.entries[number]
        if own:
            entry_path, auto_aggregate, mode = own
            entry = Entry(FileItem(entry_path, auto_aggregate, view_mode=mode))
        files.append(File(path, location, entry, by_glob, is_error=is_error))
    return files


def edited_blocks(request: Request, files: Sequence[File]) -> Mapping[str, str] | None:
    """Render the blocks of changed files by path.

    Return ``None`` if more than these blocks may change in the prompt.
    """
    selection = with_generated_policy(Selection(tuple(files)), request)
    reader = FileReader(request.redaction, selection)
    rendered = tuple(FileStream(reader, Index(None, limit=0)))
    has_notes = reader.noted or selection.skipped
    if has_notes or any(file.is_error or file.source.secrets for file in rendered):
        return None
    if [file.without_text() for file in rendered] != [*files]:
        return None
    return {file.path: rendered_segment(file).text for file in rendered}
