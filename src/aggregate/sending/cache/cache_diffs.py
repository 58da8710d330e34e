"""The section that updates files of an earlier prompt, which a cache still holds, by diffs."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from aggregate.base.files import ShownText, Span
from aggregate.base.text import fence
from aggregate.prompt.document import Section, Segment, Stability, file_heading, is_fenced

_CONTEXT = 3  # equal lines around a change, as ``diff -u`` has them

# Lines of a longer file that recur in a hundredth of it begin no match, which would take seconds.
_MOST_COMPARED = 2_000

_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def unified_diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    matcher = SequenceMatcher(None, older, newer, autojunk=len(newer) > _MOST_COMPARED)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        (_, first, _, to, _), (_, _, end, _, until) = group[0], group[-1]
        yield f"@@ -{_range(first, end)} +{_range(to, until)} @@"
        for tag, i, j, k, m in group:
            mark = " " if tag == "equal" else "-"
            yield from (f"{mark}{line}" for line in older[i:j])
            yield from (f"+{line}" for line in newer[k:m] if tag != "equal")


def patched(older: Sequence[str], diff: Iterable[str]) -> list[str] | None:
    """Apply a diff of ``unified_diff`` to the older lines, ``None`` if it does not fit them."""
    newer: list[str] = []
    position = 0
    for line in diff:
        if match := _HUNK.fullmatch(line):
            start = int(match[1]) - bool(int(match[2]))
            if not position <= start <= len(older):
                return None
            newer += older[position:start]
            position = start
            continue
        if line[:1] in (" ", "-"):
            if older[position : position + 1] != [line[1:]]:
                return None
            position += 1
        if line[:1] in (" ", "+"):
            newer.append(line[1:])
    return [*newer, *older[position:]]


def _range(start: int, end: int) -> str:
    # An empty range is named by the line before it.
    return f"{start + (end > start)},{end - start}"


def _heading(since: str) -> Segment:
    text = f"## Files (Changed)\n\nThese files have changed since they were {since}"
    return Segment(Section.CHANGED, text, Stability.STABLE)


# Above diffs: of a rewritten prompt, of one that may also show more lines, and of a continued one.
CHANGED_HEADING = _heading(
    "shown above. Each diff leads from the content above to the content now."
)
CHANGED_OR_MORE = _heading(
    "shown above, or more of them is shown now. Each diff leads from the content above to the "
    "content now; where there is no diff, the file stands here as it is shown now. `...`, also in "
    "a comment, stands for lines that are not shown."
)
CHANGED_SINCE = _heading(
    "last shown above. Each diff leads from what was shown last, with the diffs above applied, to "
    "the content now; where there is no diff, the file stands here as it is now."
)
_SHORT = 1_000  # characters of a diff that is shown even for a shorter file
# A mark of omitted lines: alone, or in a comment with their number.
_MARK = re.compile(r"\W*+(?<=\.\.\.)\d*+\W*+")
_MOST_TRIED = 200  # candidates for the first line of a run, against files that repeat one line


def gone_segment(path: str) -> Segment:
    text = f"{file_heading(path)} (gone)\n\nIt is no longer there."
    return Segment(Section.FILES, text, Stability.STABLE, path)


def diff_segment(older: Sequence[str], now: Segment, *, longest: int = _SHORT) -> Segment:
    """Return the diff from a file's ``older`` lines to its block ``now``.

    If the diff is longer than the block and ``longest`` characters, or there is none, return the block.
    """
    diff = "\n".join(unified_diff(older, file_lines(now.text))) if is_fenced(now.text) else ""
    if not diff or len(diff) > max(len(now.text), longest):
        return replace(now, section=Section.CHANGED)
    text = fence(diff, "diff", before=f"{file_heading(now.source)} (diff)\n\n")
    return Segment(Section.CHANGED, text, Stability.STABLE, now.source, now.shown)


def file_lines(block: str) -> list[str]:
    return block.split("\n")[3:-1] if is_fenced(block) else []


def sent_lines(texts: Sequence[str], path: str) -> list[str] | None:
    """Return a file's lines after the sent blocks and diffs, ``None`` if these do not fit."""
    lines: list[str] | None = []
    for text in texts:
        if not _is_diff(text, path):
            lines = file_lines(text)
        elif lines is not None:
            lines = patched(lines, file_lines(text))
    return lines


def is_sent(texts: Sequence[str], lines: Sequence[str], now: Segment) -> bool:
    """Return whether the sent blocks and diffs, which result in ``lines``, show the file."""
    if not texts or not _is_diff(texts[-1], now.source):
        return bool(texts) and texts[-1] == now.text
    return is_fenced(now.text) and lines == file_lines(now.text)


def _is_diff(text: str, path: str) -> bool:
    return text.startswith(f"{file_heading(path)} (diff)\n")


def shown_in_older(block: str, now: Segment) -> ShownText | None:
    """Map an older block's lines to the file's lines, ``None`` if the file lacks some."""
    if now.shown is None or not now.shown.source or now.shown.is_message:
        return None
    spans = _find_runs(block.split("\n")[3:-1], now.shown.source.split("\n"))
    return None if spans is None else ShownText(now.shown.source, spans, now.shown.redacted)


def _find_runs(content: Sequence[str], source: Sequence[str]) -> list[Span] | None:
    """Find the parts of a block, which gap marks separate, among a file's lines."""
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(source):
        numbers.setdefault(line, []).append(number)
    spans: list[Span] = []
    start = behind = 0
    for end, line in enumerate((*content, "...")):
        if not _MARK.fullmatch(line):
            continue
        if run := content[start:end]:
            starts = numbers.get(run[0], [])
            later = starts[bisect_left(starts, behind) :][:_MOST_TRIED]
            first = next((line for line in later if source[line : line + len(run)] == run), None)
            if first is None:
                return None
            behind = first + len(run)
            spans.append(Span(start + 1, end, first + 1, behind))
        start = end + 1
    return spans
