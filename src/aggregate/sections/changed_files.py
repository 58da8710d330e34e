"""The section that shows by diffs what became of files that stand above as they were when a cache stored them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from aggregate.models.prompt import Section, Segment, Stability
from aggregate.sections.files import file_heading
from aggregate.text.fences import fence
from aggregate.text.lines import common_prefix

CHANGED = """## Files (Changed)

These files have changed since they were shown above. Each diff leads from the content above to the content now."""
CHANGED_OR_MORE = """## Files (Changed)

These files have changed since they were shown above, or more of them is shown now. \
Each diff leads from the content above to the content now; where there is no diff, the file stands here as it is shown \
now. `...` stands for lines that are not shown."""
_CONTEXT = 3
"""Equal lines around a change, as ``diff -u`` has them."""
_SHORT = 1_000
"""Characters of a diff that is shown however short the file."""
_MOST_LINES = 3_000
"""Beyond, comparing takes too long."""
_Edit = tuple[str, int, int, int, int]
"""As ``difflib`` names them: what happens, from and to which line of the older text, and of the newer one."""


def changed_heading(*, or_more: bool = False) -> Segment:
    """Return the section's heading; with ``or_more`` its diffs may also show more of a file than stands above."""
    return Segment(Section.CHANGED, CHANGED_OR_MORE if or_more else CHANGED, Stability.STABLE)


def changed_segment(older: str, now: Segment, *, or_whole: bool = False) -> Segment | None:
    """Return the diff from a file's older block to its block now, ``None`` where it would be longer than the file.

    Args:
        older: The block that stands above.
        now: The file's block as it is now.
        or_whole: Return the block itself where a diff would be longer: of a file of which hardly anything stands above.
    """
    diff = "\n".join(_diff(_content(older), _content(now.text)))
    if not diff or len(diff) > max(len(now.text), 0 if or_whole else _SHORT):
        return replace(now, section=Section.CHANGED) if or_whole else None
    text = fence(diff, "diff", before=f"{file_heading(now.source)} (diff)\n\n")
    return Segment(Section.CHANGED, text, Stability.STABLE, now.source, now.shown)


def _content(block: str) -> list[str]:
    """Return the lines inside a block's fence."""
    return block.split("\n")[3:-1]


def _diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    """Yield the hunks of a unified diff, none where nothing or too many lines differ."""
    first = common_prefix(older, newer)
    last = common_prefix(older[first:][::-1], newer[first:][::-1])
    old, new = older[first : len(older) - last], newer[first : len(newer) - last]
    if (not old and not new) or len(old) + len(new) > _MOST_LINES:
        return
    for hunk in _hunks(_edits(old, new, first=first, last=last)):
        (_, i, _, j, _), (_, _, i_end, _, j_end) = hunk[0], hunk[-1]
        yield f"@@ -{_range(i, i_end - i)} +{_range(j, j_end - j)} @@"
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                yield from (f" {line}" for line in older[a:b])
            else:
                yield from (f"-{line}" for line in older[a:b])
                yield from (f"+{line}" for line in newer[c:d])


def _edits(old: Sequence[str], new: Sequence[str], *, first: int, last: int) -> Iterator[_Edit]:
    """Yield what becomes of each run of lines, between up to three lines of context on each side.

    Only what differs is compared, since that takes time by the square of its length, and since the lines around it
    could be matched to others that are alike: programs that apply a diff want them as context.

    Args:
        old: The older lines that differ.
        new: What stands there now.
        first: How many equal lines stand before them.
        last: How many equal lines stand behind them.
    """
    if before := min(first, _CONTEXT):
        yield "equal", first - before, first, first - before, first
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag, first + a, first + b, first + c, first + d
    if behind := min(last, _CONTEXT):
        a, c = first + len(old), first + len(new)
        yield "equal", a, a + behind, c, c + behind


def _hunks(edits: Iterable[_Edit]) -> Iterator[list[_Edit]]:
    """Yield the edits in groups, cut where many lines are equal."""
    hunk: list[_Edit] = []
    for tag, a, b, c, d in edits:
        if tag == "equal" and b - a > 2 * _CONTEXT:
            yield [*hunk, (tag, a, a + _CONTEXT, c, c + _CONTEXT)]
            hunk = [(tag, b - _CONTEXT, b, d - _CONTEXT, d)]
        else:
            hunk.append((tag, a, b, c, d))
    yield hunk


def _range(start: int, length: int) -> str:
    """Return the lines of a hunk on one side; an empty one is named by the line before it."""
    return f"{start + bool(length)},{length}"
