"""The section that shows by diffs what became of files that stand above as they were when a cache stored them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from aggregate.base.files import ShownText, Span
from aggregate.base.text import fence
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.prompt.layout import file_heading, file_segment, is_fenced

_CONTEXT = 3  # equal lines around a change, as ``diff -u`` has them

_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def unified_diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    """Yield hunks as ``patched`` reads them; lines that a long file repeats again and again begin no match."""
    matcher = SequenceMatcher(None, older, newer)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        (_, first, _, to, _), (_, _, last, _, until) = group[0], group[-1]
        yield f"@@ -{_range(first, last)} +{_range(to, until)} @@"
        for tag, start, end, start_now, end_now in group:
            if tag == "equal":
                yield from (f" {line}" for line in older[start:end])
                continue
            yield from (f"-{line}" for line in older[start:end])
            yield from (f"+{line}" for line in newer[start_now:end_now])


def patched(older: Sequence[str], diff: Iterable[str]) -> list[str] | None:
    """Return what a diff of ``unified_diff`` makes of the older lines, ``None`` where it does not fit them."""
    newer: list[str] = []
    place = 0
    for line in diff:
        if match := _HUNK.fullmatch(line):
            start = int(match[1]) - bool(int(match[2]))
            if not place <= start <= len(older):
                return None
            newer += older[place:start]
            place = start
            continue
        if line[:1] in (" ", "-"):
            if older[place : place + 1] != [line[1:]]:
                return None
            place += 1
        if line[:1] in (" ", "+"):
            newer.append(line[1:])
    return [*newer, *older[place:]]


def _range(start: int, end: int) -> str:
    # An empty range is named by the line before it.
    return f"{start + (end > start)},{end - start}"


_TITLE = "## Files (Changed)\n\nThese files have changed since they were "
CHANGED = f"{_TITLE}shown above. Each diff leads from the content above to the content now."
CHANGED_OR_MORE = f"""{_TITLE}shown above, or more of them is shown now. \
Each diff leads from the content above to the content now; where there is no diff, the file stands here as it is shown \
now. `...`, also in a comment, stands for lines that are not shown."""
CHANGED_SINCE = f"""{_TITLE}last shown above. Each diff leads from what was shown last, with the diffs \
above applied, to the content now; where there is no diff, the file stands here as it is now."""
_SHORT = 1_000  # Characters of a diff that is shown however short the file
# A line where others are left out: alone, or in a comment with their number.
_MARK = re.compile(r"\W*+(?<=\.\.\.)\d*+\W*+")
# Lines from which on a run of lines is looked for; only a file that repeats one line without end has more.
_MOST_TRIED = 200


def changed_heading(*, or_more: bool = False) -> Segment:
    """Return the section's heading; with ``or_more`` its diffs may also show more of a file than stands above."""
    return Segment(Section.CHANGED, CHANGED_OR_MORE if or_more else CHANGED, Stability.STABLE)


def changed_since_heading() -> Segment:
    return Segment(Section.CHANGED, CHANGED_SINCE, Stability.STABLE)


def gone_segment(path: str) -> Segment:
    return file_segment(path, f"{file_heading(path)} (gone)\n\nIt is no longer there.")


def changed_segment(older: str, now: Segment, *, or_whole: bool = False) -> Segment | None:
    """Return the diff from a file's older block to its block now, ``None`` where it would be longer than the file.

    With ``or_whole`` it is the block itself then: of a file of which hardly anything stands above.
    """
    return diff_segment(file_lines(older), now, or_whole=or_whole)


def diff_segment(older: Sequence[str], now: Segment, *, or_whole: bool = False) -> Segment | None:
    diff = "\n".join(unified_diff(older, file_lines(now.text))) if is_fenced(now.text) else ""
    if not diff or len(diff) > max(len(now.text), 0 if or_whole else _SHORT):
        return replace(now, section=Section.CHANGED) if or_whole else None
    text = fence(diff, "diff", before=f"{file_heading(now.source)} (diff)\n\n")
    return Segment(Section.CHANGED, text, Stability.STABLE, now.source, now.shown)


def file_lines(block: str) -> list[str]:
    return block.split("\n")[3:-1] if is_fenced(block) else []


def told_lines(texts: Sequence[str], path: str) -> list[str] | None:
    """Return a file's lines as its blocks and diffs tell them in order, ``None`` where a diff does not fit."""
    lines: list[str] | None = []
    for text in texts:
        if not _is_diff(text, path):
            lines = file_lines(text)
        elif lines is not None:
            lines = patched(lines, file_lines(text))
    return lines


def is_told(texts: Sequence[str], lines: Sequence[str], now: Segment) -> bool:
    """Tell whether blocks and diffs, which make up ``lines``, tell of a file as it is now."""
    if not texts or not _is_diff(texts[-1], now.source):
        return bool(texts) and texts[-1] == now.text
    return is_fenced(now.text) and lines == file_lines(now.text)


def _is_diff(text: str, path: str) -> bool:
    return text.startswith(f"{file_heading(path)} (diff)\n")


def shown_in_older(block: str, now: Segment) -> ShownText | None:
    """Return what an older block of a file shows, ``None`` where the file is not known or other lines stand there."""
    if now.shown is None or not now.shown.source or now.shown.is_message:
        return None
    spans = _find_runs(block.split("\n")[3:-1], now.shown.source.split("\n"))
    return None if spans is None else ShownText(now.shown.source, spans, now.shown.redacted)


def _find_runs(content: Sequence[str], source: Sequence[str]) -> list[Span] | None:
    """Return where the runs of a block's lines between marks stand in the file, each behind the one before it."""
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(source):
        numbers.setdefault(line, []).append(number)
    spans: list[Span] = []
    start = behind = 0
    for end, line in enumerate((*content, "...")):
        if not _MARK.fullmatch(line):
            continue
        if run := content[start:end]:
            known = numbers.get(run[0], [])
            later = known[bisect_left(known, behind) :][:_MOST_TRIED]
            alike = (each for each in later if source[each : each + len(run)] == run)
            found = next(alike, None)
            if found is None:
                return None
            behind = found + len(run)
            spans.append(Span(start + 1, end, found + 1, behind))
        start = end + 1
    return spans
