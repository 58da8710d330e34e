"""The section of changes since a revision: all files, and hunks of the likeliest (rule T-8)."""

from collections.abc import Sequence
from typing import NamedTuple

from aggregate.base.text import fence, heading_text
from aggregate.prompt.document import SEPARATOR, Section, Segment, Stability
from aggregate.prompt.files.layout import file_heading


class ChangedFile(NamedTuple):
    path: str
    summary: str  # such as ``"+12 -3"``
    hunks: tuple[str, ...] = ()  # as from ``diff -u``


class Changes(NamedTuple):
    since: str  # the revision
    files: Sequence[ChangedFile] = ()  # listed files, the likeliest first
    others: int = 0  # number of other changed files


NO_CHANGES = Changes("")


def changes_segments(changes: Changes, shown: Sequence[Sequence[str]]) -> tuple[Segment, ...]:
    more = sum(len(file.hunks) for file in changes.files) - sum(map(len, shown))
    sentences = [
        f"What has changed since {heading_text(changes.since)}, committed or not; the files above hold it already.",
        *([f"{more:,} more {'hunk is' if more == 1 else 'hunks are'} left out."] if more else ()),
    ]
    lines = [heading_text(f"- {file.path}: {file.summary}") for file in changes.files]
    if changes.others:
        lines.append(f"- {changes.others:,} more file{'s' if changes.others > 1 else ''}")
    heading = SEPARATOR.join(["## Changes", " ".join(sentences), "\n".join(lines)])
    blocks = [
        (hunks_block(file.path, hunks), file.path)
        for file, hunks in zip(changes.files, shown, strict=True)
        if hunks
    ]
    return tuple(
        Segment(Section.CHANGES, text, Stability.VOLATILE, path)
        for text, path in ((heading, ""), *blocks)
    )


def hunks_block(path: str, hunks: Sequence[str]) -> str:
    return fence("\n".join(hunks), "diff", before=f"{file_heading(path)} (diff)\n\n")
