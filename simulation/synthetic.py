"""Edits of known outcome on real texts: a slice is changed, moved, copied or taken out."""

import random
from collections import Counter
from collections.abc import Callable, Iterator

from aggregate.base.text import split_lines
from aggregate.code.anchors import AnchorState, FuzzyAnchor

Lines = list[str]
Span = tuple[int, int]
Edit = Callable[[Lines, Span, random.Random], tuple[Lines, Span | None]]

TURNS = 400


def change_some(
    lines: Lines, span: Span, chance: random.Random, share: float
) -> tuple[Lines, Span | None]:
    """Change a word in a share of the slice's lines, one at least."""
    changed = list(lines)
    rows = [i for i in range(span[0], span[1]) if len(lines[i].split()) > 1] or [span[0]]
    for i in chance.sample(rows, max(1, min(len(rows), round(share * (span[1] - span[0]))))):
        words = changed[i].rstrip("\n").split(" ")
        at = chance.choice([k for k, word in enumerate(words) if word] or [0])
        words[at] = f"{words[at][: len(words[at]) // 2]}changed_{chance.randrange(1000)}"
        changed[i] = " ".join(words) + "\n"
    return changed, span


def change_few(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Change a tenth of the lines."""
    return change_some(lines, span, chance, 0.1)


def change_many(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Change half of the lines."""
    return change_some(lines, span, chance, 0.5)


def shift(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Put new lines in above."""
    at, size = chance.randint(0, span[0]), chance.randint(1, 30)
    return [*lines[:at], *(f"put in {i} {chance.random()}\n" for i in range(size)), *lines[at:]], (
        span[0] + size,
        span[1] + size,
    )


def move(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Take the slice out and put it in elsewhere."""
    piece, rest = lines[span[0] : span[1]], [*lines[: span[0]], *lines[span[1] :]]
    at = chance.randint(0, len(rest))
    return [*rest[:at], *piece, *rest[at:]], (at, at + len(piece))


def move_changed(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Move the slice and change a tenth of its lines."""
    moved, place = move(lines, span, chance)
    return change_some(moved, place or span, chance, 0.1)


def take_out(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Take the slice out."""
    del chance
    return [*lines[: span[0]], *lines[span[1] :]], None


def copy_above(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Put a copy of the slice in somewhere above it."""
    at, piece = chance.randint(0, span[0]), lines[span[0] : span[1]]
    return [*lines[:at], *piece, *lines[at:]], (span[0] + len(piece), span[1] + len(piece))


def indent(lines: Lines, span: Span, chance: random.Random) -> tuple[Lines, Span | None]:
    """Indent the slice."""
    del chance
    piece = [f"    {line}" if line.strip() else line for line in lines[span[0] : span[1]]]
    return [*lines[: span[0]], *piece, *lines[span[1] :]], span


EDITS: dict[str, Edit] = {
    "change 10 %": change_few,
    "change 50 %": change_many,
    "shift": shift,
    "move": move,
    "move + 10 %": move_changed,
    "take out": take_out,
    "copy above": copy_above,
    "indent": indent,
}


def slides(lines: Lines, start: int, end: int) -> bool:
    """Tell whether a slice beside its like cannot be told from the same slice a line higher or lower."""
    return (start > 0 and lines[start - 1] == lines[end - 1]) or (
        end < len(lines) and lines[start] == lines[end]
    )


def synthetic_rows(texts: list[str], chance: random.Random, *, show: bool) -> Iterator[str]:
    """Yield one line for each kind of edit."""
    whole = [split_lines(text) for text in texts if 30 <= text.count("\n") <= 4000]
    yield f"{'edit':>16} {'n':>4} {'exact':>6} fresh/moved/edited/ambig/orph, wrong among fresh+moved, among edited"
    for name, edit in EDITS.items():
        states: Counter[AnchorState] = Counter()
        exact = wrong_sure = wrong_edited = 0
        for _ in range(TURNS):
            lines = chance.choice(whole)
            start = chance.randrange(len(lines))
            end = min(start + chance.choice((1, 3, 10, 30, 60)), len(lines))
            if slides(lines, start, end):
                continue
            new, span = edit(lines, (start, end), chance)
            found = FuzzyAnchor.resolve(
                FuzzyAnchor.create_slice("".join(lines), start + 1, end), "".join(new)
            )
            states[found.state] += 1
            right = span is not None and (found.start_line, found.end_line) == (
                span[0] + 1,
                span[1],
            )
            exact += right or (span is None and not found.found)
            wrong_edited += found.state is AnchorState.EDITED and not right
            wrong_sure += found.state in (AnchorState.FRESH, AnchorState.MOVED) and not right
            if show and found.found and not right:
                yield f"WRONG {name} {start + 1}-{end} {lines[start]!r} {span} -> {found}"
        shares = "/".join(str(states[state]) for state in AnchorState)
        share = 100 * exact / states.total()
        yield f"{name:>16} {states.total():4} {share:6.1f} {shares:24} {wrong_sure:3} {wrong_edited:3}"
