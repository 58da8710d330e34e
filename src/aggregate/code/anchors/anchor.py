"""The anchor of a slice as relocation reads it, checked: a slice comes from a file that people edit by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from aggregate.code.anchors.fingerprints import code_of, line_code, unpack


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is known of a slice and the lines around it from the time of its capture.

    ``window`` holds the fingerprints of ``before`` lines above the slice, of its ``size`` lines and of some below.

    Attributes:
        start: First line, 1-based.
        size: How many lines the slice has.
        content_hash: SHA-256 of the slice.
        window: Fingerprints of the lines around and in the slice, from top to bottom.
        before: How many of them stand above the slice.
        head_hash: SHA-256 of all lines above the slice.
        tail_hash: SHA-256 of all lines below it.
        tail_size: How many lines stand below it.
        copies: How many other places held the same text, as far as they were counted.
        rival: How well the surroundings of the best of them fitted those of the slice, in percent.
        texts: The stored texts of lines by their 29-bit number.
        symbol: Path of the enclosing symbol, ``""`` where unknown.
    """

    start: int
    size: int
    content_hash: str
    window: tuple[int, ...]
    before: int
    head_hash: str
    tail_hash: str
    tail_size: int
    copies: int
    rival: int
    texts: Mapping[int, str]
    symbol: str

    @property
    def after(self) -> int:
        """Index in ``window`` of the first line below the slice."""
        return self.before + self.size


def has_anchor(piece: Mapping[str, Any]) -> bool:
    """Tell whether a slice carries anchor keys; one written by hand does not."""
    return bool(piece.get("content_hash") or piece.get("prints"))


def line_numbers(piece: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return ``(start_line, end_line)`` of a slice, or ``None`` where one of them is no whole number of 64 bits."""
    start, end = piece.get("start_line"), piece.get("end_line")
    if not _is_number(start) or not _is_number(end):
        return None
    return start, end


def read_anchor(piece: Mapping[str, Any], window_lines: int) -> Anchor:
    """Read the anchor keys of a slice.

    Of the lines around it the nearest ``window_lines`` on each side are taken, for the time that they take to compare
    grows with their square.

    Raises:
        ValueError: A key is missing, of another type, or does not fit the others.
    """
    numbers = line_numbers(piece)
    if numbers is None or not 1 <= numbers[0] <= numbers[1]:
        raise ValueError("start_line and end_line")
    if not piece.get("content_hash"):
        raise ValueError("content_hash")
    start, end = numbers
    size = end - start + 1
    above, within, below = (
        unpack(_string(piece, key)) for key in ("prints_before", "prints", "prints_after")
    )
    tail_size, copies, rival = (
        _number(piece, "total_lines") - end,
        _number(piece, "copies"),
        _number(piece, "rival"),
    )
    if len(within) != size or len(above) >= start or len(below) > tail_size:
        raise ValueError("prints")
    if copies < 0 or not 0 <= rival <= 100:
        raise ValueError("copies and rival")
    above, below = above[max(len(above) - window_lines, 0) :], below[:window_lines]
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
        texts=_texts(piece, [*above, *within, *below]),
        symbol=_string(piece, "symbol") if "symbol" in piece else "",
    )


def _texts(piece: Mapping[str, Any], window: list[int]) -> dict[int, str]:
    """Return the stored lines by number; a line that was changed by hand matches no fingerprint and is left out."""
    known = {code_of(value) for value in window}
    lines = [*_strings(piece, "anchor_lines"), *_strings(piece, "lines")]
    return {code: line for line in lines if (code := line_code(line)) in known}


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
    """Tell whether a value is a whole number as TOML has them: longer ones cannot even be printed."""
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63


def _strings(piece: Mapping[str, Any], key: str) -> list[str]:
    value = piece.get(key)
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise ValueError(key)
    return value
