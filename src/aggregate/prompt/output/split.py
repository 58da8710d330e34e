"""Split a prompt into several prompts of limited size, between files if possible (rule T-15)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from aggregate.base.errors import BudgetError
from aggregate.base.files import Span, composed_spans
from aggregate.base.text import fence, heading_text
from aggregate.code.syntax import guess_statements, language_of
from aggregate.prompt.document import (
    BEFORE_CONTENT,
    SEPARATOR,
    Cut,
    Prompt,
    Section,
    Segment,
    Stability,
    is_fenced,
)

Count = Callable[[str], int]
_FIRST_RESERVE: Final = 100  # tokens for the list of the other parts, raised if it is longer
_NEAR: Final = 5  # parts before and behind with a line each; the others share two
_NOTE: Final = 40  # tokens for the heading and the fence of a piece of a file
_LEAST_PIECE: Final = 20  # tokens of a useful piece
_CHARACTERS: Final = 8  # upper bound of characters per token


def split_prompt(prompt: Prompt, tokens: int, *, title: str, count: Count) -> list[Prompt]:
    """Split a prompt into parts of at most ``tokens``, each with a list of the others."""
    reserve = _FIRST_RESERVE
    while reserve <= tokens // 2:
        packed = _packed(prompt.segments, tokens - reserve, count)
        parts = [_part(packed, number, title) for number in range(len(packed))]
        over = max(count(part.written) for part in parts) - tokens
        if over <= 0:
            return parts
        reserve += over + 1
    raise BudgetError(
        f"parts of {tokens:,} tokens are too small for the list of other parts: allow more",
        smallest=tokens * 2,
        reason="--split allows too few tokens for each part",
    )


def cuts_of(
    parts: Sequence[Prompt], paths: Sequence[Path], number: int, count: Count
) -> tuple[Cut, ...]:
    """Return the other parts of a split prompt, for the audit of part ``number`` (rule A-4)."""
    return tuple(
        Cut(
            "parts",
            f"part {part_number} of {len(parts)}",
            count(part.written),
            f"it is in {path.name}",
        )
        for part_number, (part, path) in enumerate(zip(parts, paths, strict=True), start=1)
        if part_number != number + 1
    )


def _packed(segments: Sequence[Segment], room: int, count: Count) -> list[list[Segment]]:
    """Distribute segments over parts of at most ``room`` tokens.

    Each part begins with the heading of files.
    """
    heading = next((segment for segment in segments if segment.section is Section.FILES), None)
    parts: list[list[Segment]] = [[]]
    remaining = room
    for segment in segments:
        if segment is heading and not segment.source:
            continue
        needed = count(segment.text + SEPARATOR)
        size = room - (count(heading.text + SEPARATOR) if heading else 0)
        pieces = [segment] if needed <= size else [*_pieces(segment, size, count)]
        for piece in pieces:
            needed = count(piece.text + SEPARATOR)
            if heading and piece.section is Section.FILES and heading not in parts[-1]:
                needed += count(heading.text + SEPARATOR)
            if needed > remaining and parts[-1]:
                parts.append([])
                remaining = room
                needed = count(piece.text + SEPARATOR) + room - size
            if heading and piece.section is Section.FILES and heading not in parts[-1]:
                parts[-1].append(heading)
            parts[-1].append(piece)
            remaining -= needed
    return parts


def _pieces(segment: Segment, room: int, count: Count) -> Iterator[Segment]:
    """Cut a file that is larger than a part, between definitions if possible, else between statements."""
    lines = segment.text.split("\n")
    if segment.section is not Section.FILES or not is_fenced(segment.text):
        name = segment.source or segment.section.value
        raise BudgetError(
            f"{heading_text(name)} does not fit into a part and cannot be cut: allow more tokens",
            smallest=count(segment.text) * 2,
            reason="a section does not fit into a part",
        )
    content = lines[BEFORE_CONTENT:-1]
    language = language_of(segment.source)
    statements = guess_statements(content, language.name if language else "")
    first = 0
    number = 1
    room -= _NOTE + count(lines[0])
    if room < _LEAST_PIECE:
        raise BudgetError(
            f"parts are too small for a piece of {heading_text(segment.source)}: allow more tokens",
            smallest=2 * (_LEAST_PIECE - room),
            reason="--split allows too few tokens for each part",
        )
    while first < len(content):
        last = _end_of_piece(content, statements, first, room, count)
        if last > first:
            yield _piece(segment, "\n".join(content[first:last]), (first, last), number)
            first, number = last, number + 1
            continue
        for part, characters in _parts_of_line(content[first], room, count):
            yield _piece(segment, part, (first, first + 1), number, characters)
            number += 1
        first += 1


def _parts_of_line(line: str, room: int, count: Count) -> Iterator[tuple[str, str]]:
    """Cut a line into pieces of at most ``room`` tokens, each with its range of characters."""
    start = 0
    while start < len(line):
        size = min(room * _CHARACTERS, len(line) - start)
        while size > 1 and count(line[start : start + size]) >= room:
            size //= 2
        end = start + size
        yield line[start:end], f", characters {start + 1}-{end} of {len(line)}"
        start = end


def _end_of_piece(
    lines: Sequence[str], statements: Sequence[int], first: int, room: int, count: Count
) -> int:
    """Return the last line of the longest fitting piece.

    A piece has at most ``room`` tokens, and ends between definitions or statements.
    """
    end = first
    remaining = room
    while end < len(lines) and (remaining := remaining - count(lines[end] + "\n")) >= 0:
        end += 1
    if end == len(lines):
        return end
    ends = [line for line in range(first + 1, end + 1) if statements[line] != statements[line - 1]]
    late = [line for line in ends if line - first > (end - first) // 2] or ends or [end]
    return min(late, key=lambda line: (_depth(lines, line), -line))


def _depth(lines: Sequence[str], line: int) -> tuple[int, bool]:
    text = lines[line]
    indent = len(text) - len(text.lstrip()) if text.strip() else 1 << 10
    return indent, bool(lines[line - 1].strip())


def _piece(
    segment: Segment, text: str, run: tuple[int, int], number: int, place: str = ""
) -> Segment:
    """Return some lines of a file as a separate block.

    ``run`` are the first and last line, ``place`` the characters if only a part of a line is shown.
    """
    first, last = run
    heading, _, opening = segment.text.split("\n", BEFORE_CONTENT)[:BEFORE_CONTENT]
    span = Span(1, last - first, first + 1, last)
    mapping = segment.shown
    if mapping:
        spans = [span] if mapping.spans is None else composed_spans([span], mapping.spans)
        mapping = mapping._replace(spans=tuple(spans))
    lines = f"lines {first + 1}-{last}" if last - first > 1 else f"line {last}"
    label = f"{heading} (piece {number}, {lines}{place})"
    block = fence(f"{text}\n", opening.lstrip("`~"), before=f"{label}\n\n")
    return replace(segment, text=block, shown=mapping)


def _part(packed: Sequence[Sequence[Segment]], number: int, title: str) -> Prompt:
    origin = f" of the project {heading_text(title)}" if title else ""
    lines = [f"This is part {number + 1} of {len(packed)} of a prompt{origin}. The others:\n"]
    near = range(max(number - _NEAR, 0), min(number + _NEAR + 1, len(packed)))
    groups = [
        range(near.start),
        *(range(part_number, part_number + 1) for part_number in near if part_number != number),
    ]
    for group in (*groups, range(near.stop, len(packed))):
        if group:
            name = (
                f"parts {group[0] + 1} to {group[-1] + 1}"
                if len(group) > 1
                else f"part {group[0] + 1}"
            )
            lines.append(f"- {name}: {_contents([*chain(*packed[group.start : group.stop])])}")
    text = "\n".join(lines) if len(packed) > 1 else f"This is all of a prompt{origin}, in one part."
    return Prompt((Segment(Section.PROJECT, text, Stability.VOLATILE), *packed[number]))


def _contents(segments: Sequence[Segment]) -> str:
    paths = [
        *dict.fromkeys(
            segment.source
            for segment in segments
            if segment.section is Section.FILES and segment.source
        )
    ]
    sections = [
        *dict.fromkeys(
            segment.section.value for segment in segments if segment.section is not Section.FILES
        )
    ]
    parts = []
    if paths:
        ends = " to ".join(map(heading_text, dict.fromkeys((paths[0], paths[-1]))))
        parts.append(f"{len(paths):,} file{'s' if len(paths) > 1 else ''}, {ends}")
    return "; ".join([*parts, *sections])
