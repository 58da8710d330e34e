"""Anchors of slices, texts in which slices are searched, and comparison thresholds."""

import base64
import hashlib
import re
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

from aggregate.base.text import split_lines


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of the anchors.

    Points are percentage points of correctly found slices, measured over six histories (flask, gin, express,
    ripgrep, gson, zod; 2,874 slices).
    """

    # Lines above and below a slice whose fingerprints are stored: 0.7 points against four.
    window_lines: int = 32
    # Nontrivial lines above and below whose text is stored (LHDiff, ICSM 2013, takes four): 1.0 points.
    anchor_lines: int = 4
    # Lines at each end of a slice whose text is stored: 0.4 points; storing more gains nothing.
    end_lines: int = 12
    # Longer lines, as in minified files, are stored as fingerprints only.
    stored_characters: int = 200

    # Distance in lines at which a line of context weighs half as much as the nearest one: 0.3 points.
    context_fade: float = 6
    # Displacement in lines at which a line of context counts half: 0.3 points.
    context_drift: float = 16
    # Weight of a brace or blank beside a nontrivial line: at 1 a moved line is mistaken for its copy.
    trivial_weight: float = 0.1
    # Bonus of a side on which no line of the whole text changed: 0.3 points.
    unbroken_bonus: float = 0.5

    # Most places to score; if there are more, only those with equal neighbours are scored.
    scored_places: int = 128
    # Least context of one of several copies, against mistaking one for another.
    copy_context: float = 0.5
    # Lead in context over all other places: at 0.25, 0.2 to 0.7 points fewer are found.
    lead: float = 0.15

    # Least likeness of a place: without it 4.3 points more are found, and as many wrong places.
    likeness: float = 0.5
    # Least likeness between the same neighbours: at 0.5, 0.8 points fewer are found.
    held_likeness: float = 0.4
    # Least share of unchanged nontrivial lines if a slice grew beyond likeness: 0.4 points.
    kept_share: float = 0.7
    # Least context of a place if no rare line of the slice is left: 0.9 points against rejecting all.
    seedless_context: float = 0.35

    # Likeness at which a changed line is still the same line: pairing changed lines gains 9.0 points.
    line_likeness: float = 0.5
    # Largest gap to fill (old lines times new lines); of a larger one only the ends are compared: 0.8 points.
    fill_cells: int = 1 << 21
    # Most pairs of changed lines to compare, smallest gaps first: about 0.2 s.
    compared_pairs: int = 20_000
    compared_characters: int = 240  # most characters of a line to compare: more gain nothing


THRESHOLDS = Thresholds()
TRIVIAL = 1 << 31  # the line is blank, a brace or a rule: it does not help to find a place
REPEATED = 1 << 30  # the line occurred more than once in the text at capture

_CODE_BITS = (1 << 29) - 1
_LETTER = re.compile(r"[^\W_]")


def bare_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends.

    LF and CR LF are therefore equal.
    """
    return [line.removesuffix("\n").removesuffix("\r") for line in split_lines(text)]


def content_hash(lines: Sequence[str]) -> str:
    r"""Return the SHA-256 of ``lines`` joined by line feeds, in hexadecimal."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def line_code(line: str) -> int:
    """Return a 29-bit hash of a line, the same after re-indentation."""
    return zlib.crc32(line.strip().encode("utf-8", "surrogatepass")) & _CODE_BITS


def is_trivial(line: str) -> bool:
    """Return whether a line has neither letter nor digit."""
    return _LETTER.search(line) is None


def line_fingerprints(lines: Sequence[str]) -> list[int]:
    codes = [line_code(line) for line in lines]
    counts = Counter(codes)
    return [
        code | (TRIVIAL if is_trivial(line) else 0) | (REPEATED if counts[code] > 1 else 0)
        for line, code in zip(lines, codes, strict=True)
    ]


def pack(fingerprints: Sequence[int]) -> str:
    return base64.b64encode(struct.pack(f">{len(fingerprints)}I", *fingerprints)).decode("ascii")


def unpack(packed: str) -> list[int]:
    raw = base64.b64decode(packed, validate=True)
    if len(raw) % 4:
        raise ValueError("fingerprints have four bytes")
    return list(struct.unpack(f">{len(raw) // 4}I", raw))


def code_of(value: int) -> int:
    return value & _CODE_BITS


@dataclass(frozen=True, slots=True)
class Anchor:
    """The lines of a slice and around it, as hashes, when the slice was captured."""

    start: int
    size: int
    content_hash: str
    window: tuple[int, ...]  # fingerprints of the lines around and in the slice, from top to bottom
    before: int
    head_hash: str
    tail_hash: str
    tail_size: int
    copies: int  # number of other places with the same text, as far as they were counted
    rival: int  # score of the best copy's surroundings, in percent
    texts: Mapping[int, str]  # the stored texts of lines by their 29-bit number

    @property
    def after(self) -> int:
        return self.before + self.size


def has_anchor(piece: Mapping[str, Any]) -> bool:
    return bool(piece.get("content_hash") or piece.get("prints"))


def line_numbers(piece: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the first and the last line of a slice.

    The result is ``None`` unless both are numbers.
    """
    start, end = piece.get("start_line"), piece.get("end_line")
    if not _is_number(start) or not _is_number(end):
        return None
    return start, end


def read_anchor(piece: Mapping[str, Any]) -> Anchor:
    numbers = line_numbers(piece)
    if numbers is None or not 1 <= numbers[0] <= numbers[1]:
        raise ValueError("start_line and end_line")
    if not piece.get("content_hash"):
        raise ValueError("content_hash")
    start, end = numbers
    size = end - start + 1
    prints = ("prints_before", "prints", "prints_after")
    above, within, below = (unpack(_string(piece, key)) for key in prints)
    total, copies, rival = (_number(piece, key) for key in ("total_lines", "copies", "rival"))
    tail_size = total - end
    if len(within) != size or len(above) >= start or len(below) > tail_size:
        raise ValueError("prints")
    if copies < 0 or not 0 <= rival <= 100:
        raise ValueError("copies and rival")
    above = above[max(len(above) - THRESHOLDS.window_lines, 0) :]
    below = below[: THRESHOLDS.window_lines]
    # Lines edited by hand match no fingerprint and are ignored.
    codes = {code_of(value) for value in (*above, *within, *below)}
    lines = [*_strings(piece, "anchor_lines"), *_strings(piece, "lines")]
    return Anchor(
        start=start,
        size=size,
        content_hash=_string(piece, "content_hash"),
        window=(*above, *within, *below),
        before=len(above),
        head_hash=_string(piece, "hash_before"),
        tail_hash=_string(piece, "hash_after"),
        tail_size=tail_size,
        copies=copies,
        rival=rival,
        texts={code: line for line in lines if (code := line_code(line)) in codes},
    )


def _string(piece: Mapping[str, Any], key: str) -> str:
    value = piece.get(key)
    if not isinstance(value, str):
        raise ValueError(key)
    return value


def _number(piece: Mapping[str, Any], key: str) -> int:
    value = piece.get(key)
    if not _is_number(value):
        raise ValueError(key)
    return value


def _is_number(value: object) -> TypeGuard[int]:
    # TOML's range; Python cannot even print much longer ones.
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63


def _strings(piece: Mapping[str, Any], key: str) -> list[str]:
    value = piece.get(key)
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise ValueError(key)
    return value


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
