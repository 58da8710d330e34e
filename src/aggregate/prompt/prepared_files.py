"""Files on their way to be rendered: read, unless the index knows their views and nobody asks for their texts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aggregate.project.files import SourceFile
from aggregate.project.index import FileState
from aggregate.prompt.file_reading import FileReader, unread
from aggregate.prompt.generated_files import WrittenBy
from aggregate.prompt.selection import ResolvedFile
from aggregate.prompt.view_index import KnownView, ViewIndex

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
    if views.index.is_used:
        for start in range(0, len(files), _LOOKED_AT):
            portion = files[start : start + _LOOKED_AT]
            yield from _PreparedPortion(portion, reader, views, with_texts=with_texts)
    else:
        for file in files:
            reading = reader.read(file)
            if reading.shown:
                yield PreparedFile(reading.shown, reading.source)
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
            if prepared := self._prepared(file, state, known):
                group.append(prepared)
                size += len(prepared.source.text)
            if size > _READ_CHARACTERS or len(group) >= _READ_FILES:
                yield from self._with_views(group)
                group, size = [], 0
        yield from self._with_views(group)

    def _known(self) -> Iterator[tuple[ResolvedFile, FileState | None, KnownView | None]]:
        """Yield each file with its state and with the view that is known without reading it."""
        states = self._views.states(self._files)
        keys = [
            self._views.key(file, state.content_hash) if state and state.content_hash else None
            for file, state in zip(self._files, states, strict=True)
        ]
        yield from zip(self._files, states, self._views.get(keys), strict=True)

    def _prepared(
        self, file: ResolvedFile, state: FileState | None, known: KnownView | None
    ) -> PreparedFile | None:
        """Return a file, read unless all is known of it; ``None`` where a remark stands for it."""
        if state is None or known is None:
            return self._read(file, state, None)
        shown = self._reader.shown(file, lambda: known.written_by)
        if shown is None:
            return None
        if self._with_texts or shown is not file or known.text is None:
            return self._read(file, state, known if known.is_made else None)
        self._reader.note(file, known.encoding, known.invisible)
        return PreparedFile(file, SourceFile("", mtime=state.mtime_ns / 1e9), known)

    def _read(
        self, file: ResolvedFile, state: FileState | None, known: KnownView | None
    ) -> PreparedFile | None:
        """Return a file that was read, with the view that is known of its state if it still is in that."""
        clean_hash = state.content_hash if state and known else None
        source, _, shown = self._reader.read_and_remember(
            file, state, self._views.index, clean_hash=clean_hash or b""
        )
        if source.error or not source.content_hash:
            return PreparedFile(shown, source) if shown else None
        key = self._views.key(shown or file, source.content_hash)
        if shown is None:
            self._views.put(key, KnownView(None, False, WrittenBy.of(file.path, source.text)))
            return None
        if state and known and shown is file and source.content_hash == state.content_hash:
            return PreparedFile(shown, source, known)
        return PreparedFile(shown, source, key=key)

    def _with_views(self, group: Sequence[PreparedFile]) -> Iterator[PreparedFile]:
        """Yield files that were read with their views, where earlier runs have made these of the same content."""
        known_views = self._views.get([prepared.key for prepared in group])
        for prepared, known in zip(group, known_views, strict=True):
            is_known = prepared.key and known and known.is_made
            yield prepared._replace(known=known) if is_known else prepared
