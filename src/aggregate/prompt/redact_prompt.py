"""Secrets in what a prompt is made of: replaced where that is read, told of in one line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from aggregate.base.redaction import redact
from aggregate.base.values import ALLOWED_LINE, Finding, Redaction, Section, Segment
from aggregate.project.files import SourceFile

MOST_NAMED: Final = 3  # Files, rules or hashes that a sentence names before it counts the rest
SLICE_LABELS: Final = ("tag", "comment")  # What is said of a slice
# Files and sections that the line about secrets names: as many as fit into a few rows of a terminal.
_MOST_PLACES: Final = 10


class FoundSecrets:
    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._by_place: dict[str, list[Finding]] = {}
        self._files: set[str] = set()

    def note_file(self, path: str, secrets: Sequence[Finding]) -> None:
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
    found = FoundSecrets(redaction)
    return found.shown(text, place), found.warnings


def redact_source(source: SourceFile, redaction: Redaction) -> tuple[SourceFile, SourceFile]:
    """Replace the secrets in a text, before anything is made of it: none can show what its text does not hold.

    Returns:
        The text as it is shown, and without secrets, which alone may be kept for later runs. The hash of one that holds
        secrets, or what only the user's settings make none, is gone: what is kept by it is true whoever allows what.
    """
    result = redact(source.text, redaction)
    if not result.findings and not result.has_allowed:
        return source, source
    source = replace(source, content_hash=b"", secrets=result.findings)
    from aggregate.prompt.fit.fit import as_runs  # few files have secrets

    pairs = zip(source.text.split("\n"), result.text.split("\n"), strict=True)
    changed = as_runs(number for number, (old, new) in enumerate(pairs, start=1) if old != new)
    clean = replace(source, text=result.text, redacted=tuple(changed))
    return clean if redaction.replaces else source, clean


def fixed_slices(slices: Sequence[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return slices by the lines that they have in a text: without its secrets it has the same lines."""
    from aggregate.code.anchors import FuzzyAnchor  # 30 ms, needed only where there are slices

    fixed = [dict(piece) for piece in slices]
    for piece, lines in zip(fixed, FuzzyAnchor.resolve_all(slices, text), strict=True):
        if lines.found:
            labels = {key: piece.get(key) for key in SLICE_LABELS}
            piece.clear()
            piece |= {**labels, "start_line": lines.start_line, "end_line": lines.end_line}
    return fixed


def redact_words(words: Iterable[str], redaction: Redaction) -> Mapping[str, str]:
    """Return those of some texts that hold secrets, with what is shown in their place; nothing where all are shown."""
    texts = list(dict.fromkeys(words)) if redaction.replaces else []
    if not redact("\n".join(texts), redaction).findings:
        return {}
    # Each by itself, so that its placeholder does not depend on the others.
    clean = {text: redact(text, redaction).text for text in texts}
    return {text: shown for text, shown in clean.items() if text != shown}
