"""Labels that digests and outlines share."""

from typing import NamedTuple

LINE_WIDTH = 160
"""The longest line, in characters, of a digest and of a document's outline."""


class DigestRow(NamedTuple):
    """A line of a digest, and the first and last line of the file that it shows; zeros where it shows none."""

    text: str
    first_line: int = 0
    last_line: int = 0


def shortened(line: str) -> str:
    """Return ``line``, cut to ``LINE_WIDTH`` characters with a visible mark."""
    return cut(line, LINE_WIDTH)


def cut(text: str, width: int) -> str:
    """Return ``text``, cut to ``width`` characters with a visible mark."""
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(number: int, noun: str) -> str:
    """Return ``number`` and ``noun`` in the right form: ``1 class``, ``2 classes``."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular English noun."""
    if noun.endswith(("s", "x")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def more_row(number: int) -> str:
    """Return the row that stands for ``number`` rows that were left out."""
    return f"... and {number} more"


def byte_size(number: int) -> str:
    """Return a number of bytes as people read it: ``512 bytes``, ``34 KB``, ``1.2 MB``."""
    if number < 1_000:
        return counted(number, "byte")
    return f"{number / 1_000:.0f} KB" if number < 1_000_000 else f"{number / 1_000_000:,.1f} MB"
