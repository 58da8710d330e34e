"""Read files and redact secrets; note files left out or possibly misread."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from aggregate.base.files import FOCUS_TIER, GeneratedView, ViewMode, ViewRequest, as_runs
from aggregate.base.redaction import Redacted, Redaction, redact
from aggregate.base.text import find_invisible, generated_reason, heading_text
from aggregate.code.syntax import HOW_TO_INSTALL, uninstalled_language_of
from aggregate.code.views import PARSED
from aggregate.project.files import UTF_8, SourceFile, read_file
from aggregate.prompt.files.file import File, Remark, encoding_note
from aggregate.prompt.files.selection import SLICE_LABELS, Note, Selection, omission_remark

MARKED: Final = "linguist-generated in .gitattributes"
# Views of generated files that an outline replaces: the others are as short, or were chosen for one file.
_OUTLINED: Final = (ViewMode.FULL, ViewMode.SKELETON)
_BINARY: Final = "binary"
PORTION: Final = 512  # files handled together: fewer would cost more calls
_PORTION_CHARACTERS: Final = 1_000_000  # or fewer files with as many characters, to save memory


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


class _Omitted(NamedTuple):
    """An omitted binary or generated file of a glob."""

    file: File
    reason: str
    size: int = 0  # bytes of a generated file


def read_source(file: File, *, hashed: bool = False) -> SourceFile:
    if file.problem:
        return SourceFile("", error=file.problem)
    return read_file(file.file, hashed=hashed)


@dataclass(frozen=True, slots=True, eq=False)
class FileReader:
    """Reads files, and collects notes and omitted files."""

    redaction: Redaction
    selection: Selection = field(default_factory=Selection)
    _notes: dict[str, list[tuple[NoteKind, Note]]] = field(default_factory=dict, init=False)
    _omitted: dict[str, _Omitted] = field(default_factory=dict, init=False)

    def read(self, file: File, *, hashed: bool = False, clean_hash: bytes = b"") -> File:
        """Return a file with its redacted text.

        A text with hash ``clean_hash`` is known to have no secrets.
        """
        source = read_source(file, hashed=hashed)
        is_clean = bool(clean_hash) and source.content_hash == clean_hash
        is_searched = not source.error and not is_clean
        return self.take(file, source, redact(source.text, self.redaction) if is_searched else None)

    def portions(self, *, hashed: bool) -> Iterator[list[File]]:
        """Read all files in portions; secrets are not replaced yet."""
        files: list[File] = []
        characters = 0
        for file in self.selection.files:
            files.append(self.take(file, read_source(file, hashed=hashed)))
            characters += len(files[-1].source.text)
            if len(files) >= PORTION or characters > _PORTION_CHARACTERS:
                yield files
                files, characters = [], 0
        if files:
            yield files

    def take(self, file: File, source: SourceFile, redacted: Redacted | None = None) -> File:
        """Return a file with its text and view mode; note doubts about it.

        ``redacted`` is the redacted text, if known.
        """
        self.forget(file.path)
        file = file._replace(source=source)
        if redacted and redacted.is_changed:
            file = _without_secrets(file, redacted, self.redaction)
        return self.judge(file, ReadFacts.of(file.path, file.source))

    def judge(self, file: File, facts: ReadFacts) -> File:
        """Return a file with its view mode, and note doubts about it.

        A binary or generated file of a glob may be omitted: only a remark names it.
        """
        view = self._generated_view(file)
        reason = "" if view is GeneratedView.FULL else self.why_generated(file, facts)
        if facts.is_binary and file.by_glob:
            self._omitted[file.path] = _Omitted(file.without_text(), _BINARY)
        elif reason and view is GeneratedView.NAME:
            self._omitted[file.path] = _Omitted(file.without_text(), reason, facts.size)
        else:
            self._note_facts(file.path, facts)
            if reason and file.view_mode in _OUTLINED:
                plain = replace(file.item, ast_signatures=False, ast_definitions=False)
                return file.with_item(replace(plain, view_mode=ViewMode.OUTLINE))
        return file

    def is_omitted(self, path: str) -> bool:
        return path in self._omitted

    def _note_facts(self, path: str, facts: ReadFacts) -> None:
        if facts.error:
            return
        if facts.is_guess:
            self.note(path, NoteKind.ENCODING, encoding_note(facts.encoding))
        elif facts.encoding not in (UTF_8, "utf-8-sig"):
            self.note(path, NoteKind.ENCODING, f"read as {facts.encoding}, not UTF-8")
        if facts.line:
            self.note(path, NoteKind.INVISIBLE, facts.invisible, f"{path}:{facts.line}")

    def _generated_view(self, file: File) -> GeneratedView:
        """Return the view of generated files, ``FULL`` if the user chose this file's view."""
        item = file.item
        is_chosen = (
            not file.by_glob
            or item.force_full
            or item.custom_slices
            or item.ast_mask
            or not item.auto_aggregate
            or file.entry.tier == FOCUS_TIER
            or file.view_mode is ViewMode.NONE
            or file.path in self.selection.focus_paths
        )
        return GeneratedView.FULL if is_chosen else self.selection.generated

    def why_generated(self, file: File, facts: ReadFacts) -> str:
        """Return why a file counts as generated, or ``""``; git attributes are decisive."""
        mark = self.selection.marks.get(file.path)
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

    def warnings(self, errors: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
        """Return a warning for each skipped path, for each kind of note on ``paths``, and for each error."""
        all_notes = [note for path in paths for note in self._notes.get(path, ())]
        doubts = [*self.selection.skipped]
        for kind in NoteKind:
            notes = [note for note_kind, note in all_notes if note_kind is kind]
            doubts += missing_grammar_notes(notes) if kind is NoteKind.GRAMMAR else notes
        return (*(f"{path}: {problem}" for path, problem in doubts), *errors)

    def remarks(self) -> list[Remark]:
        """Return a remark on the omitted files of each glob."""
        remarks = {remark.path: remark for remark in self.selection.remarks}
        binary: dict[str, list[_Omitted]] = {}
        generated: dict[str, list[_Omitted]] = {}
        for file in self.selection.files if self._omitted else ():
            if omitted := self._omitted.get(file.path):
                groups = binary if omitted.reason == _BINARY else generated
                groups.setdefault(file.item.path, []).append(omitted)
        made = [_binary_remark(group) for group in binary.values()]
        made += [_generated_remark(group) for group in generated.values()]
        for remark in made:
            first = remarks.setdefault(remark.path, remark)
            if first is not remark:
                problem = f"{first.problem}; {remark.problem}"
                details = first.details + remark.details
                remarks[remark.path] = first._replace(problem=problem, details=details)
        return list(remarks.values())


def _without_secrets(file: File, redacted: Redacted, redaction: Redaction) -> File:
    """Replace the secrets in a text before views are made.

    The text has no content hash, since the user's allowances must not affect the caches. These use the text without any
    secrets, also if they are shown.
    """
    source = replace(file.source, content_hash=b"", secrets=redacted.findings)

    pairs = zip(source.text.split("\n"), redacted.text.split("\n"), strict=True)
    changed = as_runs(number for number, (old, new) in enumerate(pairs, start=1) if old != new)
    clean = replace(source, text=redacted.text, redacted=tuple(changed))
    if not redaction.replaces:
        return file._replace(source=replace(source, without_secrets=clean))
    if file.item.custom_slices and changed:
        slices = fixed_slices(file.item.custom_slices, source.text)
        file = file.with_item(replace(file.item, custom_slices=slices))
    return file._replace(source=clean)


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


def _binary_remark(group: Sequence[_Omitted]) -> Remark:
    return omission_remark(group[0].file.entry, _BINARY, [omitted.file.path for omitted in group])


def _generated_remark(group: Sequence[_Omitted]) -> Remark:
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
    return Remark(entry.item.path, entry, problem, tuple(lines))


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
        plural = "" if remaining == 1 else "s"
        also = f" (and {remaining:,} more file{plural})" if remaining else ""
        yield (
            path,
            f"shown without its structure{also}, as the grammar of {language} is not installed: "
            f"{HOW_TO_INSTALL}",
        )
