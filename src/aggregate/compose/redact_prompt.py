"""Replacing secrets in what a prompt is made of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aggregate.compose.selection import Note, ReadFile, ResolvedFile
from aggregate.models.prompt import Prompt, Section, Segment
from aggregate.redaction.redact import Finding, Redaction, redact

if TYPE_CHECKING:
    from aggregate.anchors import Resolution

_MESSAGE = re.compile(r"[^\n]*\n\n`{3,}text\n(?:ERROR|NOTE): ")
"""The beginning of a file's block that holds a message of ours in place of its content."""
_REMARKS = ("tag", "comment")
"""What is said of a slice."""
MOST_NOTES = 20
"""Findings of one file that each have a warning; a file of test keys may have thousands."""


def redact_files(
    files: Sequence[ReadFile], redaction: Redaction
) -> tuple[list[ReadFile], list[Note]]:
    """Replace the secrets in texts, before views are made: none can show what its text does not hold.

    Returns:
        The files without secrets, and notes ``(path:line, what was replaced)``. Slices of a file
        whose text has changed are taken by their lines.
    """
    clean_files: list[ReadFile] = []
    notes: list[Note] = []
    for file, source in files:
        clean_file, clean_source = _with_clean_remarks(file, redaction), source
        result = redact(source.text, redaction)
        if result.findings:
            notes += _notes(file.path, result.findings)
            clean_file = _with_fixed_slices(clean_file, source.text)
            clean_source = replace(source, text=result.text)
        clean_files.append((clean_file, clean_source))
    return clean_files, notes


def redact_prompt(prompt: Prompt, redaction: Redaction) -> tuple[Prompt, list[str]]:
    """Replace the secrets in all sections, and return one warning for each; contents of files have none any more."""
    segments: list[Segment] = []
    warnings: list[str] = []
    files = [segment.text for segment in prompt.segments if segment.section is Section.FILES]
    are_named = bool(redact("\n".join(map(_names, files)), redaction).findings)
    for segment in prompt.segments:
        if segment.section is Section.FILES and not (
            are_named and redact(_names(segment.text), redaction).findings
        ):
            segments.append(segment)
            continue
        text, notes = redact_text(segment.text, segment.source or segment.section.value, redaction)
        segments.append(replace(segment, text=text))
        warnings += notes
    return Prompt(tuple(segments)), warnings


def redact_text(text: str, place: str, redaction: Redaction | None) -> tuple[str, list[str]]:
    """Return ``text`` without secrets, if these are to be replaced, and one warning for each."""
    if redaction is None:
        return text, []
    result = redact(text, redaction)
    return result.text, [f"{where}: {what}" for where, what in _notes(place, result.findings)]


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


def _names(block: str) -> str:
    """Return what a file's block says beside its content: its heading, or all of a note or an error."""
    return block if _MESSAGE.match(block) else block.partition("\n")[0]


def _with_clean_remarks(file: ResolvedFile, redaction: Redaction) -> ResolvedFile:
    """Return the file without secrets in what is said of its slices: a remark often repeats a line."""
    item = file.item
    remarks = [str(piece.get(key) or "") for piece in item.custom_slices for key in _REMARKS]
    if not redact("\n".join(remarks), redaction).findings:
        return file
    slices = [dict(piece) for piece in item.custom_slices]
    for piece in slices:
        for key in _REMARKS:
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
    remarks = {key: piece.get(key) for key in _REMARKS}
    return {**remarks, "start_line": lines.start_line, "end_line": lines.end_line}
