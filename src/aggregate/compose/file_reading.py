"""Reading the selected files one after another, and what is doubtful about each."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from aggregate.compose.selection import Note, ReadFile, ResolvedFile, Selection, omission_note
from aggregate.sources.file_content import UTF_8, SourceFile, read_file
from aggregate.text.invisible import find_invisible

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


class NoteKind(Enum):
    """What can be doubtful about a file, in the order in which it is told."""

    ENCODING = auto()
    """It is not in UTF-8."""
    INVISIBLE = auto()
    """It holds characters which nobody sees."""
    SECRET = auto()
    """A secret was replaced."""
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
        found = [note for path in paths for note in self._by_file.get(path, ())]
        return [note for kind in NoteKind for noted, note in found if noted is kind]


class FileReader:
    """Reads files one by one; binary ones that a glob stands for are collected into one remark of that glob.

    Args:
        redaction: Which secrets are replaced in what is read, ``None`` for none.
    """

    def __init__(self, redaction: "Redaction | None" = None) -> None:
        self.notes = FileNotes()
        self._redaction = redaction
        self._binary: set[str] = set()

    def read(self, file: ResolvedFile, *, hashed: bool = False) -> ReadFile | None:
        """Return the file with its text, ``None`` where a remark stands for it.

        Args:
            file: What to read.
            hashed: Whether to hash what it holds.
        """
        if file.is_note:
            return None
        source = unread(file) if file.problem else read_file(file.file, hashed=hashed)
        if file.by_glob and source.is_binary:
            self._binary.add(file.path)
            return None
        self.note(file, source.encoding, invisible_in(source))
        if self._redaction is None:
            return file, source
        # Its rules take time to compile, and most runs replace nothing.
        from aggregate.compose.redact_prompt import redact_file

        file, source, secrets = redact_file(file, source, self._redaction)
        self.notes.add(file.path, NoteKind.SECRET, secrets)
        return file, source

    def remarks(self, files: Iterable[ResolvedFile]) -> list[ResolvedFile]:
        """Return a remark for each glob that met secrets or binary files among ``files``, all of which were read."""
        remarks: dict[str, ResolvedFile] = {}
        binary: dict[str, list[ResolvedFile]] = {}
        for file in files:
            if file.is_note:
                remarks[file.item.path] = file
            elif file.path in self._binary:
                binary.setdefault(file.item.path, []).append(file)
        for glob, group in binary.items():
            remark = omission_note(group[0].entry, "binary", [file.path for file in group])
            if glob in remarks:
                remark = replace(remark, problem=f"{remarks[glob].problem}; {remark.problem}")
            remarks[glob] = remark
        return list(remarks.values())

    def forget(self, file: ResolvedFile) -> None:
        """Drop what is known of a file, which is read again or gone."""
        self.notes.forget(file.path)
        self._binary.discard(file.path)

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


def read_files(selection: Selection) -> Iterator[ReadFile]:
    """Read the selected files; binary ones that a glob stands for become one remark of that glob, behind all files."""
    reader = FileReader()
    for file in selection.files:
        if read := reader.read(file):
            yield read
    for remark in reader.remarks(selection.files):
        yield remark, unread(remark)
