"""Reading the selected files one after another, and what is doubtful about each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from aggregate.base.text import find_invisible
from aggregate.base.values import GeneratedPolicy, Redaction
from aggregate.project.files import UTF_8, SourceFile, read_file
from aggregate.project.index import FileState, Index, file_state
from aggregate.prompt.missing_grammars import missing_grammar_notes
from aggregate.prompt.redact_prompt import redact_file
from aggregate.prompt.request_files import GeneratedFiles, WrittenBy
from aggregate.prompt.selection import Note, ResolvedFile, omission_remark
from aggregate.prompt.view_index import KnownView, ViewIndex

_SHOW_GENERATED = GeneratedPolicy()


class NoteKind(Enum):
    """What can be doubtful about a file, in the order in which it is told."""

    ENCODING = auto()
    """It is not in UTF-8."""
    INVISIBLE = auto()
    """It holds characters which nobody sees."""
    GRAMMAR = auto()
    """Its grammar is not installed; the note is the language, and all of one language are told of together."""
    VIEW = auto()
    """A part of its view does not exist."""


class FileNotes:
    """What is doubtful about the files that were read so far."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[tuple[NoteKind, Note]]] = {}

    def add(self, path: str, kind: NoteKind, notes: Iterable[Note]) -> None:
        """Add notes on the file at ``path``."""
        for note in notes:
            self._by_file.setdefault(path, []).append((kind, note))

    def forget(self, path: str) -> None:
        """Drop the notes on a file, which is read again."""
        self._by_file.pop(path, None)

    def in_order(self, paths: Iterable[str]) -> list[Note]:
        """Return all notes, kind by kind, and of each kind in the order of ``paths``."""
        unordered = [note for path in paths for note in self._by_file.get(path, ())]
        ordered: list[Note] = []
        for kind in NoteKind:
            notes = [note for noted, note in unordered if noted is kind]
            ordered += missing_grammar_notes(notes) if kind is NoteKind.GRAMMAR else notes
        return ordered


class Reading(NamedTuple):
    """What came of reading a file.

    Attributes:
        source: Its text as it is shown, or why there is none.
        clean: The same without secrets: all that may be kept for later runs is made of it.
        shown: The file as it is to be shown, ``None`` where a remark on its glob stands for it.
    """

    source: SourceFile
    clean: SourceFile
    shown: ResolvedFile | None = None


class FileReader:
    """Reads files one by one; some that a glob stands for, binary or generated, are only remarked on.

    Args:
        redaction: What is a secret in what is read, and whether it is replaced.
        generated: What is shown of generated files.
    """

    def __init__(self, redaction: Redaction, generated: GeneratedPolicy = _SHOW_GENERATED) -> None:
        self.notes = FileNotes()
        self._redaction = redaction
        self._binary: set[str] = set()
        self._generated = GeneratedFiles(generated)

    def read(self, file: ResolvedFile, *, hashed: bool = False, clean_hash: bytes = b"") -> Reading:
        """Read a file, and look for secrets in it: nothing behind this sees any that is not to be shown.

        Args:
            file: What to read; a remark is not read.
            hashed: Whether to hash what it holds.
            clean_hash: Of a content in which there are no secrets, so that it need not be searched.
        """
        source = unread(file) if file.problem else read_file(file.file, hashed=hashed)
        if file.is_remark or (source.is_binary and self.note_binary(file)):
            return Reading(source, source)
        clean = source
        if not source.error and (not clean_hash or source.content_hash != clean_hash):
            file, source, clean = redact_file(file, source, self._redaction)
        shown = self.shown(file, lambda: WrittenBy.of(file.path, source.text))
        if source.error:
            return Reading(source, clean, file if shown else None)
        if shown:
            self.note(file, source.encoding, invisible_in(source))
        return Reading(source, clean, shown)

    def read_and_remember(
        self,
        file: ResolvedFile,
        state: FileState | None,
        index: Index,
        *,
        clean_hash: bytes = b"",
    ) -> Reading:
        """Read a file, and let the index note what it held: it is known then, until it changes.

        Args:
            file: What to read.
            state: The file as it was just before, ``None`` where there is none.
            index: Notes it.
            clean_hash: As for ``read``.
        """
        reading = self.read(file, hashed=index.is_used, clean_hash=clean_hash)
        source = reading.source
        if state and source.info and source.content_hash:
            index.remember(file_state(source.info, seen_ns=state.seen_ns), source.content_hash)
        return reading

    def shown(self, file: ResolvedFile, written_by: Callable[[], WrittenBy]) -> ResolvedFile | None:
        """Return a file as it is to be shown, ``None`` where it is only remarked on as generated."""
        return self._generated.shown(file, written_by)

    def is_generated(self, file: ResolvedFile, written_by: WrittenBy) -> bool:
        """Tell whether a program has written a file, by what marks it and by what its text says."""
        mark = self._generated.policy.marks.get(file.path)
        return bool(written_by.reason) if mark is None else mark

    @property
    def marks(self) -> Mapping[str, bool]:
        """Which files are marked as generated, or as not, whatever their texts say."""
        return self._generated.policy.marks

    def note_binary(self, file: ResolvedFile) -> bool:
        """Note that a file is binary, and tell whether a remark on its glob stands for it."""
        if file.by_glob:
            self._binary.add(file.path)
        return file.by_glob

    def remarks(self, files: Sequence[ResolvedFile]) -> list[ResolvedFile]:
        """Return a remark for each glob that met secrets, binary or generated files among ``files``, all read."""
        remarks = {file.item.path: file for file in files if file.is_remark}
        binary: dict[str, list[ResolvedFile]] = {}
        for file in files:
            if file.path in self._binary and not file.is_remark:
                binary.setdefault(file.item.path, []).append(file)
        omitted = [
            omission_remark(group[0].entry, "binary", [file.path for file in group])
            for group in binary.values()
        ]
        for remark in (*omitted, *self._generated.remarks(files)):
            glob = remark.path
            remarks[glob] = remarks[glob].with_remark(remark) if glob in remarks else remark
        return list(remarks.values())

    def forget(self, file: ResolvedFile) -> None:
        """Drop what is known of a file, which is read again or gone."""
        self.notes.forget(file.path)
        self._binary.discard(file.path)
        self._generated.forget(file.path)

    def note(self, file: ResolvedFile, encoding: str, invisible: tuple[int, str] | None) -> None:
        """Note what is doubtful about a file's text: its encoding, and what nobody sees, as ``invisible_in`` tells."""
        if encoding not in (UTF_8, "utf-8-sig"):
            note = file.path, f"read as {encoding}, not UTF-8"
            self.notes.add(file.path, NoteKind.ENCODING, [note])
        if invisible:
            line, sentence = invisible
            self.notes.add(file.path, NoteKind.INVISIBLE, [(f"{file.path}:{line}", sentence)])


def unread(file: ResolvedFile) -> SourceFile:
    """Return what stands for the text of a file that is not read."""
    return SourceFile("", error=file.problem)


def invisible_in(source: SourceFile) -> tuple[int, str] | None:
    """Return the first line with characters that nobody sees, and a sentence about them; ``None`` for none."""
    invisible = find_invisible(source.text) if source.may_hide else None
    return (invisible.lines[0], invisible.sentence) if invisible else None


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
