"""The text in which a slice is looked for, in the form that the search reads."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from aggregate.anchors.anchor import Anchor
from aggregate.anchors.fingerprints import TRIVIAL, bare_lines, code_of, content_hash, is_trivial, line_code

_FIRST, _ROOM = 0x10000, 0x100000


@dataclass(frozen=True)
class SearchText:
    """The lines of a text beside the window of an anchor, each line one character.

    Equal lines (but for white space at their ends) are equal characters, so ``str.find`` and rapidfuzz work on them.
    Past a million different lines characters are used again; a slice is proven by its SHA-256, never by them.

    Attributes:
        lines: The lines without their ends.
        coded: One character for each.
        window: One character for each line of the anchor's window.
        trivial: The characters of lines that say nothing about their place.
    """

    anchor: Anchor
    lines: Sequence[str]
    coded: str
    window: str
    trivial: frozenset[str]

    @classmethod
    def of(cls, anchor: Anchor, text: str) -> "SearchText":
        """Read ``text`` for the search of ``anchor``."""
        lines = bare_lines(text)
        by_line: dict[str, str] = {}
        by_code: dict[int, str] = {}
        trivial = set()
        for line in lines:
            if line not in by_line:
                char = by_line[line] = by_code.setdefault(line_code(line), _char(len(by_code)))
                if is_trivial(line):
                    trivial.add(char)
        window = [by_code.setdefault(code_of(value), _char(len(by_code))) for value in anchor.window]
        trivial.update(char for char, value in zip(window, anchor.window, strict=True) if value & TRIVIAL)
        return cls(anchor, lines, "".join([by_line[line] for line in lines]), "".join(window), frozenset(trivial))

    @property
    def piece(self) -> str:
        """The characters of the slice."""
        return self.window[self.anchor.before : self.anchor.after]

    def same_text(self, start: int) -> bool:
        """Tell whether the lines from index ``start`` are the slice to the letter, but for line ends."""
        lines = self.lines[start : start + self.anchor.size]
        return len(lines) == self.anchor.size and content_hash(lines) == self.anchor.content_hash

    @cached_property
    def single_lines(self) -> dict[str, int]:
        """Index of every line that stands once."""
        return _singles(self.coded, 1)

    @cached_property
    def single_triples(self) -> dict[str, int]:
        """Index of the first line of every run of three that stands once."""
        return _singles(self.coded, 3)

    @cached_property
    def head_place(self) -> int | None:
        """Index of the slice if every line above it is as it was, else ``None``."""
        size = self.anchor.start - 1
        if size > len(self.lines):
            return None
        return size if content_hash(self.lines[:size]) == self.anchor.head_hash else None

    @cached_property
    def tail_end(self) -> int | None:
        """Index behind the slice if every line below it is as it was, else ``None``."""
        end = len(self.lines) - self.anchor.tail_size
        if end < 0:
            return None
        return end if content_hash(self.lines[end:]) == self.anchor.tail_hash else None

    @property
    def unbroken(self) -> frozenset[int]:
        """Indices where the slice stands if all lines above it, or all below it, are as they were."""
        tail = None if self.tail_end is None else self.tail_end - self.anchor.size
        return frozenset(place for place in (self.head_place, tail) if place is not None and place >= 0)


def _singles(coded: str, size: int) -> dict[str, int]:
    runs = [coded[i : i + size] for i in range(len(coded) - size + 1)]
    counts = Counter(runs)
    return {run: i for i, run in enumerate(runs) if counts[run] == 1}


def _char(number: int) -> str:
    return chr(_FIRST + number % _ROOM)
