"""Files on their way to be rendered: read, unless the index knows their views and nobody asks for their texts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aggregate.compose.file_reading import FileReader, unread
from aggregate.compose.selection import ResolvedFile
from aggregate.compose.view_index import KnownView, ViewIndex
from aggregate.index.file_states import FileState, file_state
from aggregate.sources.file_content import SourceFile

_LOOKED_AT = 2_000
"""Files whose states are asked for at once."""
_READ_FILES, _READ_CHARACTERS = 64, 2_000_000
"""The most that is read before the index is asked for its views: few statements, and few texts in memory."""


class PreparedFile(NamedTuple):
    """A file that is ready to be rendered.

    Attributes:
        file: What it is.
        source: What reading it gave; of one that was not read, nothing.
        known: Its view, where the index has that.
        key: What a new view of it is kept under, ``None`` for one that is not kept.
    """

    file: ResolvedFile
    source: SourceFile
    known: KnownView | None = None
    key: bytes | None = None


def prepare_files(
    files: Sequence[ResolvedFile], reader: FileReader, views: ViewIndex, *, with_texts: bool
) -> Iterator[PreparedFile]:
    """Yield the files in order, and behind them the reader's remarks.

    Args:
        files: What to show.
        reader: Reads them.
        views: Knows views of earlier runs.
        with_texts: Whether all are read, also those whose views are known.
    """
    if views.is_used:
        for start in range(0, len(files), _LOOKED_AT):
            portion = files[start : start + _LOOKED_AT]
            yield from _PreparedPortion(portion, reader, views, with_texts=with_texts)
    else:
        for file in files:
            if read := reader.read(file):
                yield PreparedFile(*read)
    for remark in reader.remarks(files):
        yield PreparedFile(remark, unread(remark))


class _PreparedPortion:
    """Some files in a row, of which the index is asked at once."""

    def __init__(
        self,
        files: Sequence[ResolvedFile],
        reader: FileReader,
        views: ViewIndex,
        *,
        with_texts: bool,
    ) -> None:
        self._files = files
        self._reader = reader
        self._views = views
        self._with_texts = with_texts

    def __iter__(self) -> Iterator[PreparedFile]:
        group: list[PreparedFile] = []
        size = 0
        for file, state, known in self._known():
            if not file.is_rendered:
                yield from self._with_views(group)
                group, size = [], 0
                if read := self._reader.read(file):
                    yield PreparedFile(*read)
            elif state and known and known.text is not None:
                self._reader.note(file, known.encoding, known.invisible)
                source = SourceFile("", mtime=state.mtime_ns / 1e9)
                group.append(PreparedFile(file, source, known))
            elif read := self._reader.read(file, hashed=True):
                source = read[1]
                if state and known and source.content_hash == state.content_hash:
                    group.append(PreparedFile(*read, known))
                else:
                    group.append(PreparedFile(*read, key=self._key(file, state, source)))
                size += len(source.text)
            if size > _READ_CHARACTERS or len(group) >= _READ_FILES:
                yield from self._with_views(group)
                group, size = [], 0
        yield from self._with_views(group)

    def _known(self) -> Iterator[tuple[ResolvedFile, FileState | None, KnownView | None]]:
        """Yield each file with its state and with the view that is known without reading it."""
        states = self._views.states(self._files)
        keys = [
            self._views.key(file, state.content_hash)
            if state and state.content_hash and not self._with_texts
            else None
            for file, state in zip(self._files, states, strict=True)
        ]
        yield from zip(self._files, states, self._views.get(keys), strict=True)

    def _key(self, file: ResolvedFile, state: FileState | None, source: SourceFile) -> bytes | None:
        """Return what the view of a file that was read is kept under, and note what it holds."""
        if not source.content_hash or source.info is None:
            return None
        if state:
            read_state = file_state(source.info, seen_ns=state.seen_ns)
            self._views.remember(read_state, source.content_hash)
        return self._views.key(file, source.content_hash)

    def _with_views(self, group: Sequence[PreparedFile]) -> Iterator[PreparedFile]:
        """Yield files that were read with their views, where earlier runs have made these of the same content."""
        found = self._views.get([prepared.key for prepared in group])
        for prepared, known in zip(group, found, strict=True):
            yield prepared._replace(known=known) if known and prepared.key else prepared
