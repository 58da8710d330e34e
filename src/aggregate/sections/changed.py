"""The section that shows by diffs what became of files that stand above as they were when a cache stored them."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from aggregate.models.chain import common
from aggregate.models.prompt import Section, Segment, Stability
from aggregate.sections.files import file_heading
from aggregate.text.fences import fence

CHANGED = """## Files (Changed)

These files have changed since they were shown above. Each diff leads from the content above to the content now."""
_CONTEXT = 3
_SHORT = 1_000
"""Characters of a diff that is shown however short the file."""
_MOST_LINES = 3_000
"""Beyond, comparing takes too long."""


def changed_heading() -> Segment:
    """Return the section's heading."""
    return Segment(Section.CHANGED, CHANGED, Stability.STABLE)


def changed_segment(older: str, now: Segment) -> Segment | None:
    """Return the diff from a file's older block to its block now, ``None`` where it would be longer than the file."""
    diff = "\n".join(_diff(_content(older), _content(now.text)))
    if not diff or len(diff) > max(len(now.text), _SHORT):
        return None
    text = fence(diff, "diff", before=f"{file_heading(now.source)} (diff)\n\n")
    return Segment(Section.CHANGED, text, Stability.STABLE, now.source)


def _content(block: str) -> list[str]:
    """Return the lines inside a block's fence."""
    return block.split("\n")[3:-1]


def _diff(older: Sequence[str], newer: Sequence[str]) -> Iterator[str]:
    """Yield the hunks of a unified diff, none where too many lines differ."""
    first = common(older, newer)
    last = common(older[first:][::-1], newer[first:][::-1])
    if len(older) + len(newer) - 2 * (first + last) > _MOST_LINES:
        return
    # Only what differs is compared, since that takes time by the square of its length; the context is cut out with it.
    start, behind = max(first - _CONTEXT, 0), max(last - _CONTEXT, 0)
    old, new = older[start : len(older) - behind], newer[start : len(newer) - behind]
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, i, _, j, _), (_, _, i_end, _, j_end) = group[0], group[-1]
        yield f"@@ -{_range(start + i, i_end - i)} +{_range(start + j, j_end - j)} @@"
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[a:b])
            else:
                yield from (f"-{line}" for line in old[a:b])
                yield from (f"+{line}" for line in new[c:d])


def _range(start: int, length: int) -> str:
    """Return the lines of a hunk on one side; an empty one is named by the line before it."""
    return f"{start + bool(length)},{length}"
