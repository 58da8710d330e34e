"""Reading the selected files one after another, and what is doubtful about each."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aggregate.compose.selection import Note, ReadFile, ResolvedFile, Selection, omission_note
from aggregate.sources.file_content import UTF_8, SourceFile, read_file
from aggregate.text.invisible import find_invisible

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


@dataclass(slots=True)
class FileNotes:
    """What is doubtful about the files that were read so far, by kind.

    Attributes:
        encodings: Encodings other than UTF-8.
        invisible: Characters which nobody sees.
        secrets: Secrets that were replaced.
        views: Parts of views that do not exist.
    """

    encodings: list[Note] = field(default_factory=list)
    invisible: list[Note] = field(default_factory=list)
    secrets: list[Note] = field(default_factory=list)
    views: list[Note] = field(default_factory=list)

    def in_order(self) -> list[Note]:
        """Return all notes, kind by kind."""
        return [*self.encodings, *self.invisible, *self.secrets, *self.views]


class FileReader:
    """Reads files one by one; binary ones that a glob stands for are collected into one remark of that glob.

    Args:
        redaction: Which secrets are replaced in what is read, ``None`` for none.
    """

    def __init__(self, redaction: "Redaction | None" = None) -> None:
        self.notes = FileNotes()
        self._redaction = redaction
        self._remarks: dict[str, ResolvedFile] = {}
        self._binary: dict[str, list[ResolvedFile]] = {}

    def read(self, file: ResolvedFile, *, hashed: bool = False) -> ReadFile | None:
        """Return the file with its text, ``None`` where a remark stands for it.

        Args:
            file: What to read.
            hashed: Whether to hash what it holds.
        """
        if file.is_note:
            self._remarks[file.item.path] = file
            return None
        source = _unread(file) or read_file(file.file, hashed=hashed)
        if file.by_glob and source.is_binary:
            self._binary.setdefault(file.item.path, []).append(file)
            return None
        self.note(file, source.encoding, invisible_in(source))
        if self._redaction is None:
            return file, source
        # Its rules take time to compile, and most runs replace nothing.
        from aggregate.compose.redact_prompt import redact_file

        file, source, secrets = redact_file(file, source, self._redaction)
        self.notes.secrets += secrets
        return file, source

    def remarks(self) -> list[ReadFile]:
        """Return, once all files are read, a file for each glob that met secrets or binary files."""
        for glob, group in self._binary.items():
            remark = omission_note(group[0].entry, "binary", [file.path for file in group])
            if glob in self._remarks:
                remark = replace(remark, problem=f"{self._remarks[glob].problem}; {remark.problem}")
            self._remarks[glob] = remark
        return [(remark, SourceFile("", error=remark.problem)) for remark in self._remarks.values()]

    def note(self, file: ResolvedFile, encoding: str, invisible: tuple[int, str] | None) -> None:
        """Note what is doubtful about a file's text: its encoding, and what nobody sees, as ``invisible_in`` tells."""
        if encoding not in (UTF_8, "utf-8-sig"):
            self.notes.encodings.append((file.path, f"read as {encoding}, not UTF-8"))
        if invisible:
            line, sentence = invisible
            self.notes.invisible.append((f"{file.path}:{line}", sentence))


def _unread(file: ResolvedFile) -> SourceFile | None:
    return SourceFile("", error=file.problem) if file.problem else None


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
    yield from reader.remarks()
