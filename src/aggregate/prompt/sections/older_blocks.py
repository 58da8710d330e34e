"""Where the lines of a file's older block stand in the file as it is now, if they all still do."""

from collections.abc import Iterator, Sequence

from aggregate.base.values import Segment, ShownText, Span

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
