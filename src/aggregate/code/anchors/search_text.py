"""A text in which slices are searched, and scores of how well a place matches."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from aggregate.code.anchors.anchor import (
    THRESHOLDS,
    TRIVIAL,
    Anchor,
    bare_lines,
    code_of,
    content_hash,
    line_code,
)

_FIRST_CHARACTER, _CHARACTERS = 0x10000, 0x100000


@dataclass(frozen=True)
class IndexedText:
    """A text with one character per line, indexed once.

    Equal lines (up to white space at their ends) are equal characters, so ``str.find`` and rapidfuzz work on them.
    Beyond a million different lines characters repeat; only the SHA-256 proves a slice.
    """

    source: str

    @cached_property
    def lines(self) -> Sequence[str]:
        return bare_lines(self.source)

    @cached_property
    def characters(self) -> Mapping[int, str]:
        characters: dict[int, str] = {}
        for code in self._codes:
            characters.setdefault(code, _character(len(characters)))
        return characters

    @cached_property
    def coded(self) -> str:
        return "".join(map(self.characters.__getitem__, self._codes))

    @cached_property
    def single_lines(self) -> Mapping[str, int]:
        counts = Counter(self.coded)
        return {char: index for index, char in enumerate(self.coded) if counts[char] == 1}

    @cached_property
    def _codes(self) -> Sequence[int]:
        return list(map(line_code, self.lines))


@dataclass(frozen=True)
class SearchText:
    """A text to search for a slice.

    The slice and the lines around it are given as hashes.
    """

    anchor: Anchor
    text: IndexedText
    window: str  # one character per line of the anchor's window
    trivial: frozenset[str]  # characters of trivial lines in the window

    @classmethod
    def of(cls, anchor: Anchor, text: IndexedText) -> "SearchText":
        missing: dict[int, str] = {}
        window = []
        for fingerprint in anchor.window:
            code = code_of(fingerprint)
            char = text.characters.get(code)
            if char is None:
                char = missing.setdefault(code, _character(len(text.characters) + len(missing)))
            window.append(char)
        flagged = zip(window, anchor.window, strict=True)
        trivial = frozenset(char for char, fingerprint in flagged if fingerprint & TRIVIAL)
        return cls(anchor, text, "".join(window), trivial)

    @property
    def slice_window(self) -> str:
        return self.window[self.anchor.before : self.anchor.after]

    def same_text(self, start: int) -> bool:
        """Return whether the slice's exact lines begin at ``start``."""
        lines = self.text.lines[start : start + self.anchor.size]
        return len(lines) == self.anchor.size and content_hash(lines) == self.anchor.content_hash

    @cached_property
    def head_place(self) -> int | None:
        """Index where the slice begins if all lines before it are unchanged, else ``None``."""
        size = self.anchor.start - 1
        if size > len(self.text.lines):
            return None
        return size if content_hash(self.text.lines[:size]) == self.anchor.head_hash else None

    @cached_property
    def tail_end(self) -> int | None:
        """Index after the slice if all lines after it are unchanged, else ``None``."""
        end = len(self.text.lines) - self.anchor.tail_size
        if end < 0:
            return None
        return end if content_hash(self.text.lines[end:]) == self.anchor.tail_hash else None

    @property
    def unbroken(self) -> frozenset[int]:
        """Indexes where the slice begins if the lines before it, or those after it, are unchanged."""
        tail = None if self.tail_end is None else self.tail_end - self.anchor.size
        return frozenset(
            place for place in (self.head_place, tail) if place is not None and place >= 0
        )


def _character(number: int) -> str:
    return chr(_FIRST_CHARACTER + number % _CHARACTERS)


def score_context(target: SearchText, start: int, end: int) -> float:
    """Compare the lines around a place with those at capture.

    The place is ``[start, end)``. The score is the mean of both sides, 0.0 to 1.0, plus a bonus for a side on which no
    line of the text changed. Near lines weigh more than far ones, and displaced lines weigh less.
    """
    anchor = target.anchor
    size_below = len(target.window) - anchor.after
    old_above, old_below = target.window[: anchor.before][::-1], target.window[anchor.after :]
    new_above = target.text.coded[max(start - anchor.before, 0) : start][::-1]
    new_below = target.text.coded[end : end + size_below]
    sides = [
        _side_score(target, old, new)
        for old, new in ((old_above, new_above), (old_below, new_below))
        if old
    ]
    mean = sum(sides) / len(sides) if sides else 0.0
    unbroken_sides = (start == target.head_place) + (end == target.tail_end)
    return mean + THRESHOLDS.unbroken_bonus * unbroken_sides


def _side_score(target: SearchText, old: str, new: str) -> float:
    # Both sides are read away from the slice.
    fade, drift = THRESHOLDS.context_fade, THRESHOLDS.context_drift
    weights = [
        (THRESHOLDS.trivial_weight if char in target.trivial else 1.0) * fade / (fade + distance)
        for distance, char in enumerate(old)
    ]
    fitting = 0.0
    for block in Indel.editops(old, new).as_matching_blocks():
        displaced = drift / (drift + abs(block.a - block.b))
        fitting += displaced * sum(weights[block.a : block.a + block.size])
    return fitting / sum(weights)


def likeness(
    old: Sequence[str | None], new: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> float:
    """Return how similar two sequences of lines are, 0.0 to 1.0; long lines weigh more."""
    clip = THRESHOLDS.compared_characters
    old_lines = [None if line is None else comparable(line, clip) for line in old]
    new_lines = [comparable(line, clip) for line in new]
    total = float(
        sum(_weight(line) for line in old_lines if line is not None) + sum(map(_weight, new_lines))
    )
    shared = 0.0
    for i, j in pairs:
        line = old_lines[i]
        if line is None:
            shared += 2 * _weight(new_lines[j])
            total += _weight(new_lines[j])
        else:
            shared += line_likeness(line, new_lines[j]) * (_weight(line) + _weight(new_lines[j]))
    unknown = sum(line is None for line in old) - sum(old[i] is None for i, _ in pairs)
    total += unknown * total / max(len(old) + len(new), 1)
    return min(shared / total, 1.0) if total else 1.0


def comparable(line: str, clip: int) -> str:
    return line.strip()[:clip]


def line_likeness(old: str, new: str) -> float:
    return fuzz.ratio(old, new) / 100


def _weight(line: str) -> int:
    return len(line) + 1
