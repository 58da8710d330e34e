"""Secrets in what a prompt is made of: replaced where that is read, told of in one line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Final

from aggregate.base.redaction import redact
from aggregate.base.values import ALLOWED_LINE, Entry, Finding, Redaction, Section, Segment
from aggregate.project.files import SourceFile
from aggregate.prompt.selection import MOST_NAMED, ResolvedFile, Selection

_LABELS: Final = ("tag", "comment")
"""What is said of a slice."""
_MOST_PLACES: Final = 10
"""Files and sections that the line about secrets names: as many as fit into a few rows of a terminal."""


class FoundSecrets:
    """The secrets in the parts of a prompt, and the line that tells of them."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._by_place: dict[str, list[Finding]] = {}
        self._files: set[str] = set()

    def note_file(self, path: str, secrets: Sequence[Finding]) -> None:
        """Note what was found in a file: it is replaced, or else looked for in what the prompt shows of the file."""
        if self._redaction.replaces:
            self._note(path, secrets)
        elif secrets:
            self._files.add(path)

    def shown_segment(self, segment: Segment) -> Segment:
        """Return a segment as a prompt shows it, and note its secrets; its source may have one too."""
        if segment.section is Section.FILES:  # searched when they were read
            if segment.source in self._files:
                self.shown(segment.text, segment.source)
            return segment
        source = redact_words([segment.source], self._redaction).get(segment.source, segment.source)
        text = self.shown(segment.text, source or segment.section.value)
        return replace(segment, text=text, source=source)

    def shown(self, text: str, place: str) -> str:
        """Return a text as a prompt shows it, and note its secrets."""
        result = redact(text, self._redaction)
        self._note(place, result.findings)
        return result.text if self._redaction.replaces else text

    def _note(self, place: str, findings: Sequence[Finding]) -> None:
        if findings:
            self._by_place.setdefault(place, []).extend(findings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence: how many there are, where, and how they are kept, or replaced; none where there are none."""
        findings = list(chain(*self._by_place.values()))
        if not findings:
            return ()
        number = f"{len(findings):,} secret{'s' if len(findings) > 1 else ''}"
        places = [self._named(*found) for found in self._by_place.items()]
        if len(places) > _MOST_PLACES:
            places[_MOST_PLACES:] = [f"{len(places) - _MOST_PLACES:,} more places"]
        where = ", ".join(places)
        if not self._redaction.replaces:
            return (f"{number} not replaced in {where}: --redact replaces them",)
        digests = list(dict.fromkeys(found.digest for found in findings if found.digest))
        allow = ", ".join(f'"{digest}"' for digest in digests[:MOST_NAMED])
        by_hash = f"allow = [{allow}] under [redaction], or " if allow else ""
        comment = f"a comment with {ALLOWED_LINE} on its line"
        return (
            f"{number} replaced in {where}: --no-redact keeps all, {by_hash}{comment} keeps one",
        )

    def _named(self, place: str, findings: Sequence[Finding]) -> str:
        """Return a place with what was found; what is not replaced has no line, since a view has other ones."""
        rules = ", ".join(dict.fromkeys(found.rule for found in findings[:MOST_NAMED]))
        line = f":{findings[0].line}" if self._redaction.replaces else ""
        more = f" and {len(findings) - 1:,} more" if len(findings) > 1 else ""
        return f"{place}{line}{more} ({rules})"


def redact_text(text: str, place: str, redaction: Redaction) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` as it is shown, and what is told of its secrets."""
    found = FoundSecrets(redaction)
    return found.shown(text, place), found.warnings


def redact_file(
    file: ResolvedFile, source: SourceFile, redaction: Redaction
) -> tuple[ResolvedFile, SourceFile, SourceFile]:
    """Replace the secrets in a text, before anything is made of it: none can show what its text does not hold.

    Returns the file and its text as they are shown, and the text without secrets, which alone may be kept for later
    runs. Slices of a text that has changed are taken by their lines. A text with secrets has no hash: whatever anybody
    allows, what is kept by one is true.
    """
    result = redact(source.text, redaction)
    if not result.findings and not result.has_allowed:
        return file, source, source
    source = replace(source, content_hash=b"", secrets=result.findings)
    from aggregate.prompt.fit.fit import as_runs  # few files have secrets

    pairs = zip(source.text.split("\n"), result.text.split("\n"), strict=True)
    changed = as_runs(number for number, (old, new) in enumerate(pairs, start=1) if old != new)
    clean = replace(source, text=result.text, redacted=tuple(changed))
    if not (redaction.replaces and changed):
        return file, source, clean
    return _with_fixed_slices(file, source.text), clean, clean


def redact_words(words: Iterable[str], redaction: Redaction) -> Mapping[str, str]:
    """Return those of some texts that hold secrets, with what is shown in their place; nothing where all are shown."""
    texts = list(dict.fromkeys(words)) if redaction.replaces else []
    if not redact("\n".join(texts), redaction).findings:
        return {}
    # Each by itself, so that its placeholder does not depend on the others.
    clean = {text: redact(text, redaction).text for text in texts}
    return {text: shown for text, shown in clean.items() if text != shown}


def redact_names(selection: Selection, redaction: Redaction) -> Selection:
    """Return a selection without secrets in what is said of its files: their names, the entries, and their slices.

    Of files that would have the same name all but the first one get a number.
    """
    clean = redact_words(_said_of(selection), redaction)
    if not clean:
        return selection
    entries = {id(file.entry): _with_words(file.entry, clean) for file in selection.files}
    taken = {file.path for file in selection.files if file.path not in clean}
    files: list[ResolvedFile] = []
    for file in selection.files:
        path = file.path
        if path in clean:
            names = chain([clean[path]], (f"{clean[path]} ({number})" for number in count(2)))
            path = next(name for name in names if name not in taken)
            taken.add(path)
        problem = clean.get(file.problem, file.problem)
        details = tuple(clean.get(line, line) for line in file.details)
        entry = entries[id(file.entry)]
        files.append(file._replace(path=path, entry=entry, problem=problem, details=details))
    skipped = tuple(
        (clean.get(path, path), clean.get(reason, reason)) for path, reason in selection.skipped
    )
    return replace(selection, files=tuple(files), skipped=skipped)


def _said_of(selection: Selection) -> Iterator[str]:
    """Yield all that others say of the files; of a glob's, which share an entry, one after another."""
    last = None
    for file in selection.files:
        yield from (file.path, file.problem, *file.details)
        if file.entry is not last:
            last = file.entry
            yield last.item.path
            for piece in last.item.custom_slices:
                yield from (str(piece.get(key) or "") for key in _LABELS)
    yield from chain(*selection.skipped)


def _with_words(entry: Entry, clean: Mapping[str, str]) -> Entry:
    item = entry.item
    slices = [
        {
            key: clean.get(str(value), value) if key in _LABELS else value
            for key, value in piece.items()
        }
        for piece in item.custom_slices
    ]
    path = clean.get(item.path, item.path)
    return replace(entry, item=replace(item, path=path, custom_slices=slices))


def _with_fixed_slices(file: ResolvedFile, text: str) -> ResolvedFile:
    slices = file.item.custom_slices
    if not slices:
        return file
    from aggregate.code.anchors import FuzzyAnchor  # 30 ms, needed only where there are slices

    return file.with_slices(
        [
            {
                **{key: piece.get(key) for key in _LABELS},
                "start_line": lines.start_line,
                "end_line": lines.end_line,
            }
            if lines.found
            else dict(piece)
            for piece, lines in zip(slices, FuzzyAnchor.resolve_all(slices, text), strict=True)
        ]
    )
