"""The prompt of a run since whose last time only some files were edited: these are rendered, the rest is copied."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aggregate.base.files import FileRow, ViewMode
from aggregate.cli.remembered import Earlier, last_prompt
from aggregate.project.configuration import CONFIG_NAME
from aggregate.prompt import Composition, Request
from aggregate.prompt.document import SEPARATOR, Section
from aggregate.prompt.file_rendering import FileStream, render_again
from aggregate.prompt.layout import rendered_segment
from aggregate.prompt.selection import ResolvedFile
from aggregate.sending.cache import PrefixReport, compare_prefixes
from aggregate.sending.cache.fingerprint import PromptFingerprint, SegmentHash
from aggregate.sending.request_log import LoggedRequest, read_request, write_request

if TYPE_CHECKING:
    from aggregate.prompt import PromptTokens

_PART_BYTES = 1 << 20
# What decides on more than on how it is shown itself.
_STEERING = (".gitignore", ".gitattributes", ".gitmodules", CONFIG_NAME)


class _Row(NamedTuple):
    """What is remembered of a file of a prompt; ``entry`` is the number of the one that asked for it, -1 for none."""

    path: str
    file: str
    entry: int
    by_glob: bool
    told: str  # of ``FileRow``: the entry as it was written
    view_mode: str
    auto_aggregate: bool
    error: bool

    @property
    def row(self) -> FileRow:
        mode = ViewMode(self.view_mode)
        return FileRow(self.path, self.told, mode, self.auto_aggregate, self.error)


def pages_of(
    request: Request, composition: "Composition | EditedPrompt", steering: Sequence[str]
) -> bytes:
    """Return what a later run needs to copy all of a prompt but some files; nothing where files depend on each other.

    ``steering`` are absolute paths of files that decide on more than on their own block.
    """
    if isinstance(composition, EditedPrompt) or not isinstance(composition.source, FileStream):
        return b""
    if request.is_audited or request.is_tier3 or request.is_summary or request.results:
        return b""
    source = composition.source
    entries = {id(entry): number for number, entry in enumerate(request.entries)}
    files = {file.path: file for file in source.selection.files if not file.is_remark}
    special = {*source.reader.noted, *composition.secret_places, *steering}
    rows = []
    for row in composition.rows:
        file = files.get(row.path)
        number = entries.get(id(file.entry), -1) if file else -1
        is_usual = (
            file
            and not row.error
            and row.path not in special
            and os.path.abspath(file.file) not in special
            and Path(row.path).name not in _STEERING
        )
        rows.append(
            _Row(
                row.path,
                os.path.abspath(file.file) if file and is_usual else "",
                number,
                bool(file and file.by_glob),
                row.entry,
                row.view_mode.value,
                row.auto_aggregate,
                row.error,
            )
        )
    return json.dumps([rows, composition.warnings]).encode()


def edited_prompt(earlier: Earlier, request: Request, *, counts: bool) -> "EditedPrompt | None":
    """Return the prompt with the changed files rendered anew, ``None`` where more than their own blocks may differ."""
    run = earlier.run
    if not run.pages:
        return None
    told, warnings = json.loads(run.pages)
    rows = [_Row(*row) for row in told]
    by_file = {row.file: row for row in rows if row.file}
    changed = [by_file[path] for path in earlier.changed if path in by_file]
    if len(changed) < len(earlier.changed) or any(row.entry < 0 for row in changed):
        return None
    files = [
        ResolvedFile(row.path, row.file, request.entries[row.entry], row.by_glob) for row in changed
    ]
    rendered = render_again(request, files)
    if rendered is None or [file.row for file in rendered] != [row.row for row in changed]:
        return None
    last = last_prompt(run)
    logged = last and read_request(last.path)
    if last is None or logged is None:
        return None
    numbers = {
        segment.source: number
        for number, segment in enumerate(logged.fingerprint.segments)
        if segment.section == Section.FILES
    }
    if any(file.path not in numbers for file in rendered):
        return None
    texts = {numbers[file.path]: rendered_segment(file).text for file in rendered}
    with last.path.open("rb") as file:
        old = mmap(file.fileno(), 0, access=ACCESS_READ)
    if run.written is None or sha256(old).hexdigest() != run.written.prompt:
        return None
    return EditedPrompt(rows, warnings, logged, texts, old, counts=counts)


class EditedPrompt:
    """A prompt in which some segments are new; it stands for the stream of all of them and for what measures it."""

    choices = missing = ()

    def __init__(
        self,
        rows: Sequence[_Row],
        warnings: Sequence[str],
        earlier: LoggedRequest,
        texts: Mapping[int, str],
        old: mmap,
        *,
        counts: bool,
    ) -> None:
        """``texts`` are the new segments by their numbers in the fingerprint of the ``earlier`` prompt, ``old``."""
        self.rows = [row.row for row in rows]
        self.warnings = warnings
        self._earlier, self._counts = earlier, counts
        segments = [*earlier.fingerprint.segments]
        for number, text in texts.items():
            segment = segments[number]
            separator = SEPARATOR if number < len(segments) - 1 else ""
            tokens = 0
            if counts:
                from aggregate.base.tokens import count_batch  # a quiet run does without

                tokens = count_batch([text + separator])[0]
            hashed = SegmentHash.of(text, tokens, section=segment.section, source=segment.source)
            segments[number] = hashed
        self._fingerprint = PromptFingerprint(tuple(segments))
        self._texts, self._old = texts, old

    @property
    def digests(self) -> tuple[str, ...]:
        return self._fingerprint.digests[1:]

    @property
    def pieces(self) -> Iterator[bytes]:
        """The prompt's bytes, all but its new segments from the old one."""
        start = end = 0
        for number, segment in enumerate(self._earlier.fingerprint.segments[1:], start=1):
            if number in self._texts:
                yield from self._copied(start, end)
                yield self._texts[number].encode()
                start = end + segment.size
            end += segment.size + len(SEPARATOR)
        yield from self._copied(start, len(self._old))

    def _copied(self, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, _PART_BYTES):
            yield self._old[at : min(at + _PART_BYTES, end)]

    def tokens(self) -> "PromptTokens | None":
        if not self._counts:
            return None
        from aggregate.prompt import PromptTokens

        segments = self._fingerprint.segments[1:]
        places = [(Section(segment.section), segment.source) for segment in segments]
        return PromptTokens.of(places, [segment.tokens for segment in segments])

    def record(self, path: Path, _tokens: object) -> PrefixReport:
        write_request(LoggedRequest(path, self._fingerprint))
        return compare_prefixes(self._earlier.fingerprint, self._fingerprint)
