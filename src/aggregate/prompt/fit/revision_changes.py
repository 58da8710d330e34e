"""The section of changes since a revision: all files, and hunks of the likeliest (rule T-8)."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from aggregate.base.redaction import Redaction, redact
from aggregate.base.text import fence, heading_text
from aggregate.project.git import FileChange, read_changes
from aggregate.prompt.asking.request import Request
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability
from aggregate.prompt.files.layout import file_heading
from aggregate.prompt.files.selection import own_output_filter
from aggregate.prompt.sections.fitted import NO_ROOM, Count, FittedSection, largest_size, tokens_of
from aggregate.prompt.sections.given import cut_middle

_LEAST_HUNK = 200  # characters of a useful hunk
_CHARACTERS = 8  # upper bound of characters per token


class ChangedFile(NamedTuple):
    path: str
    summary: str  # such as ``"+12 -3"``
    hunks: tuple[str, ...] = ()  # as from ``diff -u``


class RevisionChanges(NamedTuple):
    since: str = ""  # the revision
    files: Sequence[ChangedFile] = ()  # listed files, the likeliest first
    others: int = 0  # number of other changed files


def changes_for(request: Request, ranks: Mapping[str, int], generated: Set[str]) -> RevisionChanges:
    """Return the changed candidates, likeliest first, deleted files, and the number of others.

    ``ranks`` are the candidates' positions by path, ``generated`` the paths of generated ones.
    """
    if not (request.finish and request.finish.changes):
        return RevisionChanges()
    base_dir = request.base_dir
    is_ours = own_output_filter(base_dir, request.output_dir, request.namespace, request.shown_from)
    changes = read_changes(str(base_dir), request.finish.changes)
    changes = [change for change in changes if not is_ours(change.path)]
    listed = [change for change in changes if change.path in ranks or change.kind == "deleted"]
    listed.sort(key=lambda change: ranks.get(change.path, len(ranks)))
    files = [
        _changed_file(change, request.redaction, is_generated=change.path in generated)
        for change in listed
    ]
    return RevisionChanges(request.finish.changes, files, len(changes) - len(listed))


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


def fit_changes(changes: RevisionChanges, limit: int, count: Count) -> FittedSection:
    """Return the section in ``limit`` tokens: all files, and hunks of the likeliest ones."""
    if not (changes.files or changes.others):
        return FittedSection()
    prices = {hunk: count(f"{hunk}\n") for file in changes.files for hunk in file.hunks}
    frames = [count(_block(file.path, ()) + SEPARATOR) for file in changes.files]
    spent = tokens_of(_segments(changes), count)
    needed = spent + sum(prices.values()) + sum(frames)
    while changes.files and spent > limit:
        number = len(changes.files) // 2
        omitted = changes.others + len(changes.files) - number
        changes = changes._replace(files=changes.files[:number], others=omitted)
        spent = tokens_of(_segments(changes), count)
    shown: list[list[str]] = [[] for _ in changes.files]
    waiting: list[tuple[int, int, str]] = []  # number of the file, position, and hunk
    for number, file in enumerate(changes.files):
        for hunk in file.hunks:
            price = prices[hunk] + (0 if shown[number] else frames[number])
            if spent + price <= limit:
                shown[number].append(hunk)
                spent += price
            else:
                waiting.append((number, len(shown[number]), hunk))
    if waiting:  # a part of the first waiting hunk takes the rest of the share
        number, index, hunk = waiting[0]
        shown[number][index:index] = _part_of(hunk, (number, index), changes, shown, limit, count)
    segments = _segments(changes, shown)
    tokens = tokens_of(segments, count)
    if tokens > limit:  # a longer fence, or not even the first sentence fits
        segments, tokens = (), 0
    cut = Cut("changes", f"{len(waiting):,} hunks", needed - tokens, NO_ROOM)
    return FittedSection(segments, tokens, needed, (cut,) if waiting or not segments else ())


def _part_of(
    hunk: str,
    place: tuple[int, int],
    changes: RevisionChanges,
    shown: Sequence[Sequence[str]],
    limit: int,
    count: Count,
) -> list[str]:
    """Return a hunk's beginning and end within the section's ``limit``.

    ``place`` is the number of its file and its position there. The list is empty if too few lines fit.
    """
    number, index = place
    before, behind = shown[number][:index], shown[number][index:]

    def with_part(size: int) -> tuple[Segment, ...]:
        hunks = [*before, *([cut_middle(hunk, size)] if size else []), *behind]
        return _segments(changes, [*shown[:number], hunks, *shown[number + 1 :]])

    room = limit - tokens_of(with_part(0), count)
    size = largest_size(with_part, min(len(hunk), limit * _CHARACTERS) - 1, room, count)
    return [cut_middle(hunk, size)] if size >= _LEAST_HUNK else []


def _segments(changes: RevisionChanges, shown: Sequence[Sequence[str]] = ()) -> tuple[Segment, ...]:
    """Return the section with the ``shown`` hunks of each file, by default none."""
    more = sum(len(file.hunks) for file in changes.files) - sum(map(len, shown))
    since = heading_text(changes.since)
    sentences = (
        f"What has changed since {since}, committed or not; the files above hold it already."
    )
    if more:
        sentences += f" {more:,} more {'hunk is' if more == 1 else 'hunks are'} left out."
    lines = [heading_text(f"- {file.path}: {file.summary}") for file in changes.files]
    if changes.others:
        lines.append(f"- {changes.others:,} more file{'s' if changes.others > 1 else ''}")
    parts = [(SEPARATOR.join(["## Changes", sentences, "\n".join(lines)]), "")]
    for file, hunks in zip(changes.files, shown, strict=False):
        if hunks:
            parts.append((_block(file.path, hunks), file.path))
    return tuple(Segment(Section.CHANGES, text, Stability.VOLATILE, path) for text, path in parts)


def _block(path: str, hunks: Sequence[str]) -> str:
    return fence("\n".join(hunks), "diff", before=f"{file_heading(path)} (diff)\n\n")
