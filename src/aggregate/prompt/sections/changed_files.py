"""The section that shows by diffs what became of files that stand above as they were when a cache stored them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aggregate.base.text import fence, patched, unified_diff
from aggregate.base.values import Section, Segment, ShownText, Span, Stability
from aggregate.prompt.sections.files import file_heading, file_segment

CHANGED = """## Files (Changed)

These files have changed since they were shown above. Each diff leads from the content above to the content now."""
CHANGED_OR_MORE = """## Files (Changed)

These files have changed since they were shown above, or more of them is shown now. \
Each diff leads from the content above to the content now; where there is no diff, the file stands here as it is shown \
now. `...` stands for lines that are not shown."""
CHANGED_SINCE = """## Files (Changed)

These files have changed since they were last shown above. Each diff leads from what was shown last, with the diffs \
above applied, to the content now; where there is no diff, the file stands here as it is now."""
_SHORT = 1_000
"""Characters of a diff that is shown however short the file."""


def changed_heading(*, or_more: bool = False) -> Segment:
    """Return the section's heading; with ``or_more`` its diffs may also show more of a file than stands above."""
    return Segment(Section.CHANGED, CHANGED_OR_MORE if or_more else CHANGED, Stability.STABLE)


def changed_since_heading() -> Segment:
    """Return the heading of changes that are told behind a part of the discussion."""
    return Segment(Section.CHANGED, CHANGED_SINCE, Stability.STABLE)


def gone_segment(path: str) -> Segment:
    """Return what is told of a file that stands above and is no longer there."""
    return file_segment(path, f"{file_heading(path)} (gone)\n\nIt is no longer there.")


def changed_segment(older: str, now: Segment, *, or_whole: bool = False) -> Segment | None:
    """Return the diff from a file's older block to its block now, ``None`` where it would be longer than the file.

    Args:
        older: The block that stands above.
        now: The file's block as it is now.
        or_whole: Return the block itself where a diff would be longer: of a file of which hardly anything stands above.
    """
    lines = file_lines(older) if _is_fenced(older) else []
    return diff_segment(lines, now, or_whole=or_whole)


def diff_segment(older: Sequence[str], now: Segment, *, or_whole: bool = False) -> Segment | None:
    """Return what ``changed_segment`` does, for the lines inside an older block's fence."""
    diff = "\n".join(unified_diff(older, file_lines(now.text))) if _is_fenced(now.text) else ""
    if not diff or len(diff) > max(len(now.text), 0 if or_whole else _SHORT):
        return replace(now, section=Section.CHANGED) if or_whole else None
    text = fence(diff, "diff", before=f"{file_heading(now.source)} (diff)\n\n")
    return Segment(Section.CHANGED, text, Stability.STABLE, now.source, now.shown)


def file_lines(block: str) -> list[str]:
    """Return the lines inside a block's fence."""
    return block.split("\n")[3:-1]


def told_lines(texts: Sequence[str], path: str) -> list[str] | None:
    """Return a file's lines as a reader knows them, ``None`` where a diff does not fit what stands before it.

    Args:
        texts: The file's blocks and diffs in the order in which they stand.
        path: The file.
    """
    lines: list[str] | None = []
    for text in texts:
        if not _is_diff(text, path):
            lines = file_lines(text) if _is_fenced(text) else []
        elif lines is not None:
            lines = patched(lines, file_lines(text))
    return lines


def is_told(texts: Sequence[str], lines: Sequence[str], now: Segment) -> bool:
    """Tell whether blocks and diffs, which make up ``lines``, tell of a file as it is now."""
    if not texts or not _is_diff(texts[-1], now.source):
        return bool(texts) and texts[-1] == now.text
    return _is_fenced(now.text) and lines == file_lines(now.text)


def _is_diff(text: str, path: str) -> bool:
    return text.startswith(f"{file_heading(path)} (diff)\n")


def _is_fenced(block: str) -> bool:
    """Tell whether a block holds a fence below its heading."""
    return block.startswith("```", block.find("\n") + 2)


_MARK = "..."
"""What stands in a line where others are left out."""
_MOST_PLACES = 200
"""Places at which a run of lines is looked for; only a file that repeats one line without end has more."""


def shown_in_older(block: str, now: Segment) -> ShownText | None:
    """Return what an older block of a file shows, ``None`` where the file is not known or the block shows other lines.

    Args:
        block: The block that was sent.
        now: The file's block as it is now, which knows the file's text.
    """
    if now.shown is None or not now.shown.source or now.shown.is_message:
        return None
    content = block.split("\n")[3:-1]
    spans = _spans(content, now.shown.source.split("\n"))
    return None if spans is None else ShownText(now.shown.source, spans, now.shown.redacted)


def _spans(content: Sequence[str], source: Sequence[str]) -> list[Span] | None:
    """Return where the runs of a block's lines stand in the file, each behind the one before it."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(source):
        places.setdefault(line, []).append(place)
    spans: list[Span] = []
    behind = 0
    for start, end in _runs(content):
        run = content[start:end]
        later = (place for place in places.get(run[0], ()) if place >= behind)
        tried = (place for place, _ in zip(later, range(_MOST_PLACES), strict=False))
        found = next((place for place in tried if source[place : place + len(run)] == run), None)
        if found is None:
            return None
        behind = found + len(run)
        spans.append(Span(start + 1, end, found + 1, behind))
    return spans


def _runs(content: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines between marks, as slices."""
    start = 0
    for place, line in enumerate((*content, _MARK)):
        if _MARK in line and not any(map(str.isalnum, line)):
            if place > start:
                yield start, place
            start = place + 1
