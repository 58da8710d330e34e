"""Read files and redact secrets.

Also write notes about files left out or possibly misread.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from aggregate.base.files import GeneratedPolicy, GeneratedView, ViewMode, ViewRequest
from aggregate.base.redaction import Redacted, Redaction, redact
from aggregate.base.text import find_invisible, generated_reason, heading_text
from aggregate.code.syntax import HOW_TO_INSTALL, uninstalled_language_of
from aggregate.code.views import PARSED
from aggregate.project.files import UTF_8, SourceFile, read_file
from aggregate.prompt.asking.request import FOCUS_TIER
from aggregate.prompt.files.selection import (
    SLICE_LABELS,
    Note,
    ResolvedFile,
    Selection,
    omission_remark,
)

MARKED: Final = "linguist-generated in .gitattributes"
# Views of generated files that an outline replaces: the others are as short, or were chosen for one file.
_OUTLINED: Final = (ViewMode.FULL, ViewMode.SKELETON)
_BINARY: Final = "binary"


class ReadFacts(NamedTuple):
    """Facts stored beside a file's text, such as its encoding."""

    error: str = ""
    is_binary: bool = False
    encoding: str = UTF_8
    line: int = 0  # of the first invisible character
    invisible: str = ""  # a sentence about it
    generated: str = ""  # why it is a generated file
    size: int = 0
    is_guess: bool = False  # whether the encoding is a guess

    @classmethod
    def of(cls, path: str, source: SourceFile) -> "ReadFacts":
        text = source.text
        invisible = find_invisible(text) if source.may_hide else None
        line, sentence = (invisible.lines[0], invisible.sentence) if invisible else (0, "")
        # Encoding a text takes as long as reading it; most are ASCII.
        size = len(text) if text.isascii() else len(text.encode(errors="replace"))
        generated = generated_reason(path, text)
        about = source.error, source.is_binary, source.encoding
        return cls(*about, line, sentence, generated, size, source.is_guess)


class NoteKind(Enum):
    """Kinds of notes about files, in the order in which warnings are printed."""

    ENCODING = auto()  # it is not in UTF-8
    INVISIBLE = auto()  # it has invisible characters
    GRAMMAR = auto()  # its grammar is not installed; notes of one language are combined
    VIEW = auto()  # a part of its view does not exist


class Reading(NamedTuple):
    """The result of reading a file.

    The text is missing if the index has all needed data.
    """

    file: ResolvedFile
    source: SourceFile
    clean: SourceFile  # without secrets, for all caches
    facts: ReadFacts = ReadFacts()
    is_listed: bool = False  # whether only a remark on its glob names it


class _Omitted(NamedTuple):
    """An omitted binary or generated file of a glob."""

    file: ResolvedFile
    reason: str
    size: int = 0  # bytes of a generated file


@dataclass(frozen=True, slots=True, eq=False)
class FileReader:
    """Reads files, and collects notes and omitted files."""

    redaction: Redaction
    generated: GeneratedPolicy = field(default_factory=GeneratedPolicy)
    _notes: dict[str, list[tuple[NoteKind, Note]]] = field(default_factory=dict, init=False)
    _omitted: dict[str, _Omitted] = field(default_factory=dict, init=False)

    def read(self, file: ResolvedFile, *, hashed: bool = False, clean_hash: bytes = b"") -> Reading:
        """Read a file and redact its text.

        A text with hash ``clean_hash`` is known to have no secrets.
        """
        source = self.open(file, hashed=hashed)
        is_clean = bool(clean_hash) and source.content_hash == clean_hash
        is_searched = not source.error and not is_clean
        return self.take(file, source, redact(source.text, self.redaction) if is_searched else None)

    def open(self, file: ResolvedFile, *, hashed: bool = False) -> SourceFile:
        if file.problem:
            return SourceFile("", error=file.problem)
        return read_file(file.file, hashed=hashed)

    def take(self, file: ResolvedFile, source: SourceFile, redacted: Redacted | None) -> Reading:
        """Return the result for a file with known content.

        ``redacted`` is the redacted text, if known.
        """
        if file.problem:
            return unread(file)._replace(is_listed=file.is_remark)
        self.forget(file.path)
        clean = source
        if redacted and redacted.is_changed:
            file, source, clean = _without_secrets(file, source, redacted, self.redaction)
        facts = ReadFacts.of(file.path, source)
        resolved = self.shown(file, facts)
        if resolved:
            self.note_facts(file.path, facts)
        return Reading(resolved or file, source, clean, facts, is_listed=resolved is None)

    def shown(self, file: ResolvedFile, facts: ReadFacts) -> ResolvedFile | None:
        """Return a file with its view for the prompt.

        Return ``None`` for a binary or generated file of a glob.
        """
        if facts.is_binary and file.by_glob:
            self._omitted[file.path] = _Omitted(file, _BINARY)
            return None
        view = self.generated_view(file)
        if view is not GeneratedView.FULL and (reason := self.why_generated(file, facts)):
            if view is GeneratedView.NAME:
                self._omitted[file.path] = _Omitted(file, reason, facts.size)
                return None
            if file.entry.view_mode in _OUTLINED:
                plain = replace(file.item, ast_signatures=False, ast_definitions=False)
                file = file.with_item(replace(plain, view_mode=ViewMode.OUTLINE))
        return file

    def note_facts(self, path: str, facts: ReadFacts) -> None:
        if facts.error:
            return
        if facts.is_guess:
            self.note(path, NoteKind.ENCODING, encoding_note(facts.encoding))
        elif facts.encoding not in (UTF_8, "utf-8-sig"):
            self.note(path, NoteKind.ENCODING, f"read as {facts.encoding}, not UTF-8")
        if facts.line:
            self.note(path, NoteKind.INVISIBLE, facts.invisible, f"{path}:{facts.line}")

    def generated_view(self, file: ResolvedFile) -> GeneratedView:
        """Return the configured view of generated files.

        Return ``FULL`` if the user chose the view of this file.
        """
        item = file.item
        is_chosen = (
            not file.by_glob
            or item.force_full
            or item.custom_slices
            or item.ast_mask
            or not item.auto_aggregate
            or file.entry.tier == FOCUS_TIER
            or file.entry.view_mode is ViewMode.NONE
            or file.path in self.generated.focus_paths
        )
        return GeneratedView.FULL if is_chosen else self.generated.view

    def why_generated(self, file: ResolvedFile, facts: ReadFacts) -> str:
        """Return why a file counts as generated, or ``""``; git attributes are decisive."""
        mark = self.generated.marks.get(file.path)
        if mark is None:
            return facts.generated
        return MARKED if mark else ""

    def note(self, path: str, kind: NoteKind, problem: str, place: str = "") -> None:
        self._notes.setdefault(path, []).append((kind, (place or path, problem)))

    @property
    def noted(self) -> set[str]:
        """Paths of files with notes, and of omitted files."""
        return {*self._notes, *self._omitted}

    def forget(self, path: str) -> None:
        self._notes.pop(path, None)
        self._omitted.pop(path, None)

    def warnings(
        self, selection: Selection, errors: Iterable[str], *, shown: Iterable[str] | None = None
    ) -> tuple[str, ...]:
        """Return a warning for each skipped path, for each kind of note, and for each error."""
        paths = [file.path for file in selection.files] if shown is None else shown
        all_notes = [note for path in paths for note in self._notes.get(path, ())]
        doubts = [*selection.skipped]
        for kind in NoteKind:
            notes = [note for note_kind, note in all_notes if note_kind is kind]
            doubts += missing_grammar_notes(notes) if kind is NoteKind.GRAMMAR else notes
        return (*(f"{path}: {problem}" for path, problem in doubts), *errors)

    def remarks(self, files: Sequence[ResolvedFile]) -> list[ResolvedFile]:
        """Return a remark on the omitted files of each glob."""
        remarks = {file.path: file for file in files if file.is_remark}
        for is_binary in (True, False):
            groups: dict[str, list[_Omitted]] = {}
            for file in files:
                omitted = self._omitted.get(file.path)
                if omitted and not file.is_remark and (omitted.reason == _BINARY) is is_binary:
                    groups.setdefault(file.item.path, []).append(omitted)
            for glob, group in groups.items():
                remark = _generated_remark(group)
                if is_binary:
                    paths = [omitted.file.path for omitted in group]
                    remark = omission_remark(group[0].file.entry, _BINARY, paths)
                if first := remarks.get(glob):
                    remark = first._replace(
                        problem=f"{first.problem}; {remark.problem}",
                        details=(*first.details, *remark.details),
                    )
                remarks[glob] = remark
        return list(remarks.values())


def encoding_note(encoding: str) -> str:
    """Return the note about a guessed encoding."""
    if encoding == UTF_8:
        return f"its encoding is unknown: invalid bytes are shown as {chr(0xFFFD)}"
    return f"its encoding is a guess: read as {encoding}, characters may be wrong"


def unread(file: ResolvedFile) -> Reading:
    source = SourceFile("", error=file.problem)
    return Reading(file, source, source, ReadFacts(file.problem))


def redact_file(
    file: ResolvedFile, source: SourceFile, redaction: Redaction
) -> tuple[ResolvedFile, SourceFile]:
    """Return a file and its text with secrets replaced."""
    reading = FileReader(redaction).take(file, source, redact(source.text, redaction))
    return reading.file, reading.source


def _without_secrets(
    file: ResolvedFile, source: SourceFile, redacted: Redacted, redaction: Redaction
) -> tuple[ResolvedFile, SourceFile, SourceFile]:
    """Replace the secrets in a text before views are made.

    Returns:
        The file, with slices by lines of the new text; the text as shown; and the text without any secrets, for caches.
        Neither has a content hash, since the user's allowances must not affect the caches.
    """
    source = replace(source, content_hash=b"", secrets=redacted.findings)
    from aggregate.prompt.files.line_runs import as_runs  # few files have secrets

    pairs = zip(source.text.split("\n"), redacted.text.split("\n"), strict=True)
    changed = as_runs(number for number, (old, new) in enumerate(pairs, start=1) if old != new)
    clean = replace(source, text=redacted.text, redacted=tuple(changed))
    text = clean if redaction.replaces else source
    slices = file.item.custom_slices
    if slices and text.redacted:
        file = file.with_slices(fixed_slices(slices, source.text))
    return file, text, clean


def fixed_slices(slices: Sequence[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return slices with line numbers in ``text``, which stay valid when secrets are replaced."""
    from aggregate.code.anchors import FuzzyAnchor  # 30 ms, and few files have slices

    fixed = [dict(piece) for piece in slices]
    for piece, lines in zip(fixed, FuzzyAnchor.resolve_all(slices, text), strict=True):
        if lines.found:
            labels = {key: piece.get(key) for key in SLICE_LABELS}
            piece.clear()
            piece |= {**labels, "start_line": lines.start_line, "end_line": lines.end_line}
    return fixed


def _generated_remark(group: Sequence[_Omitted]) -> ResolvedFile:
    files, size = "file is" if len(group) == 1 else "files are", sum(file.size for file in group)
    problem = (
        f"{len(group):,} generated {files} only listed ({size:,} bytes); name a file to include it"
    )
    # By folder and reason: whole paths and reasons would take twice the tokens.
    folders: dict[str, dict[str, list[str]]] = {}
    for file, reason, size in group:
        folder, _, name = file.path.rpartition("/")
        reasons = folders.setdefault(folder, {})
        reasons.setdefault(reason, []).append(f"{heading_text(name)} ({size:,})")
    lines: list[str] = []
    for folder, reasons in folders.items():
        lines.append(f"{heading_text(folder)}/" if folder else "./")
        lines += [f"  {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    entry = group[0].file.entry
    return ResolvedFile(
        entry.item.path, "", entry, problem=problem, is_remark=True, details=tuple(lines)
    )


def missing_grammar(request: ViewRequest) -> str:
    if request.mode not in PARSED:
        return ""
    language = uninstalled_language_of(request.path, request.text)
    return language.name if language else ""


def missing_grammars(requests: Iterable[ViewRequest]) -> list[str]:
    """Return a warning for each language without an installed grammar."""
    missing = ((request.path, missing_grammar(request)) for request in requests)
    notes = missing_grammar_notes((path, language) for path, language in missing if language)
    return [f"{path}: {problem}" for path, problem in notes]


def missing_grammar_notes(files: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Yield a note for each language without an installed grammar, at its first file."""
    first_paths: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for path, language in files:
        first_paths.setdefault(language, path)
        counts[language] += 1
    for language, path in first_paths.items():
        remaining = counts[language] - 1
        also = f" (and {remaining:,} more file{'' if remaining == 1 else 's'})" if remaining else ""
        yield (
            path,
            f"shown without its structure{also}, as the grammar of {language} is not installed: "
            f"{HOW_TO_INSTALL}",
        )
