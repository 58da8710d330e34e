"""Changes since a revision, and their section: all files, hunks of the likeliest (rule T-8)."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from aggregate.base.redaction import Redaction, redact
from aggregate.base.text import fence, heading_text
from aggregate.project.git import FileChange, read_changes
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document import SEPARATOR, Section, Segment, Stability
from aggregate.prompt.files.layout import file_heading
from aggregate.prompt.files.selection import own_output_filter


class ChangedFile(NamedTuple):
    path: str
    summary: str  # such as ``"+12 -3"``
    hunks: tuple[str, ...] = ()  # as from ``diff -u``


class Changes(NamedTuple):
    since: str  # the revision
    files: Sequence[ChangedFile] = ()  # listed files, the likeliest first
    others: int = 0  # number of other changed files


NO_CHANGES = Changes("")


def changes_for(request: Request, ranks: Mapping[str, int], generated: Set[str]) -> Changes:
    """Return the changed candidates, likeliest first, deleted files, and the number of other files.

    ``ranks`` are the candidates' positions by path, ``generated`` the paths of generated ones.
    """
    if not (request.finish and request.finish.changes):
        return NO_CHANGES
    changes = read_changes(str(request.base_dir), request.finish.changes)
    is_ours = own_output_filter(
        request.base_dir, request.output_dir, request.namespace, request.shown_from
    )
    changes = [change for change in changes if not is_ours(change.path)]
    listed = [change for change in changes if change.path in ranks or change.kind == "deleted"]
    listed.sort(key=lambda change: ranks.get(change.path, len(ranks)))
    files = [
        _changed_file(change, request.redaction, is_generated=change.path in generated)
        for change in listed
    ]
    return Changes(request.finish.changes, files, len(changes) - len(listed))


def _changed_file(change: FileChange, redaction: Redaction, *, is_generated: bool) -> ChangedFile:
    """Return a changed file; generated, binary and deleted ones have no hunks."""
    lines = f"+{change.added} -{change.removed}" if change.hunks else ""
    kinds = (change.kind, "generated" if is_generated else "", lines)
    by_name = is_generated or change.kind == "deleted"
    hunks = () if by_name else tuple(_redacted(hunk, redaction) for hunk in change.hunks)
    return ChangedFile(change.path, ", ".join(filter(None, kinds)) or "changed", hunks)


def _redacted(hunk: str, redaction: Redaction) -> str:
    """Redact a hunk as a whole, without its ``+`` and ``-``, since a key may span lines."""
    if not redaction.replaces:
        return hunk
    head, *lines = hunk.split("\n")
    plain = "\n".join([head, *(line[1:] for line in lines)])
    head, *texts = redact(plain, redaction).text.split("\n")
    marked = [f"{line[:1]}{text}" for line, text in zip(lines, texts, strict=True)]
    return "\n".join([head, *marked])


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
