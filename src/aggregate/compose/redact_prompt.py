"""Replacing secrets in what a prompt is made of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aggregate.compose.selection import Note, ResolvedFile
from aggregate.models.prompt import Section, Segment
from aggregate.redaction.redact import Finding, Redaction, redact
from aggregate.sections.files import file_heading
from aggregate.sources.file_content import SourceFile

if TYPE_CHECKING:
    from aggregate.anchors import Resolution

_MESSAGE = re.compile(r"[^\n]*\n\n`{3,}text\n(?:ERROR|NOTE): ")
"""The beginning of a file's block that holds a message of ours in place of its content."""
_LABELS = ("tag", "comment")
"""What is said of a slice."""
MOST_NOTES = 20
"""Findings of one file that each have a warning; a file of test keys may have thousands."""


def redact_file(
    file: ResolvedFile, source: SourceFile, redaction: Redaction
) -> tuple[ResolvedFile, SourceFile, list[Note]]:
    """Replace the secrets in a text, before a view is made of it: none can show what its text does not hold.

    Returns:
        The file and its text without secrets, and notes ``(path:line, what was replaced)``. Slices
        of a text that has changed are taken by their lines; its hash is gone, as it is another
        text.
    """
    clean_file = with_clean_labels(file, redaction)
    result = redact(source.text, redaction)
    if not result.findings:
        return clean_file, source, []
    clean_file = _with_fixed_slices(clean_file, source.text)
    redacted = _changed_lines(source.text, result.text)
    clean_source = replace(source, text=result.text, content_hash=b"", redacted=redacted)
    return clean_file, clean_source, _notes(file.path, result.findings)


class PromptRedaction:
    """Replaces the secrets in all sections of a prompt; contents of files have none any more.

    Args:
        redaction: Which secrets are replaced.
        paths: The paths of all files that the prompt may show.

    Attributes:
        warnings: One sentence for each secret that was replaced so far.
    """

    def __init__(self, redaction: Redaction, paths: Iterable[str]) -> None:
        self.warnings: list[str] = []
        self._redaction = redaction
        headings = "\n".join(map(file_heading, paths))
        self._are_named = bool(redact(headings, redaction).findings)

    def clean(self, segment: Segment) -> Segment:
        """Return a segment without secrets."""
        if segment.section is Section.FILES and not self._has_secret_name(segment.text):
            return segment
        place = segment.source or segment.section.value
        text, warnings = redact_text(segment.text, place, self._redaction)
        self.warnings += warnings
        return replace(segment, text=text)

    def _has_secret_name(self, block: str) -> bool:
        """Tell whether what a file's block says beside its content holds a secret."""
        if _MESSAGE.match(block):
            return bool(redact(block, self._redaction).findings)
        heading = block.partition("\n")[0]
        return self._are_named and bool(redact(heading, self._redaction).findings)


def redact_text(text: str, place: str, redaction: Redaction | None) -> tuple[str, list[str]]:
    """Return ``text`` without secrets, if these are to be replaced, and one warning for each."""
    if redaction is None:
        return text, []
    result = redact(text, redaction)
    return result.text, [f"{where}: {what}" for where, what in _notes(place, result.findings)]


def _changed_lines(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Return the runs of lines that differ in two texts of as many lines."""
    runs: list[tuple[int, int]] = []
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    for number, (old, new) in enumerate(pairs, start=1):
        if old == new:
            continue
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return tuple(runs)


def _notes(place: str, findings: Sequence[Finding]) -> list[Note]:
    notes = [(f"{place}:{finding.line}", finding.sentence) for finding in findings[:MOST_NOTES]]
    if len(findings) > MOST_NOTES:
        rest = findings[MOST_NOTES:]
        notes.append(
            (
                place,
                f"redacted {len(rest):,} more secrets, in lines {rest[0].line:,} to {rest[-1].line:,}",
            )
        )
    return notes


def with_clean_labels(file: ResolvedFile, redaction: Redaction) -> ResolvedFile:
    """Return the file without secrets in what is said of its slices: a label often repeats a line."""
    item = file.item
    labels = [str(piece.get(key) or "") for piece in item.custom_slices for key in _LABELS]
    if not redact("\n".join(labels), redaction).findings:
        return file
    slices = [dict(piece) for piece in item.custom_slices]
    for piece in slices:
        for key in _LABELS:
            if piece.get(key):
                piece[key] = redact(str(piece[key]), redaction).text
    return file.with_slices(slices)


def _with_fixed_slices(file: ResolvedFile, text: str) -> ResolvedFile:
    """Return the file with its slices resolved in the text on disk: the redacted one has the same lines."""
    item = file.item
    if not item.custom_slices:
        return file
    from aggregate.anchors import FuzzyAnchor  # 30 ms, needed only where there are slices

    places = FuzzyAnchor.resolve_all(item.custom_slices, text)
    slices = [_fixed(piece, lines) for piece, lines in zip(item.custom_slices, places, strict=True)]
    return file.with_slices(slices)


def _fixed(piece: Mapping[str, Any], lines: "Resolution") -> dict[str, Any]:
    if not lines.found:
        return dict(piece)
    labels = {key: piece.get(key) for key in _LABELS}
    return {**labels, "start_line": lines.start_line, "end_line": lines.end_line}
