"""A block of lines of ours in a text of somebody else's, between two lines that mark it."""

from typing import Final

BEGIN: Final = "# >>> aggregate >>>"
END: Final = "# <<< aggregate <<<"


class BrokenBlockError(ValueError):
    """The marking lines are not one pair in order: somebody has edited them."""


def with_block(text: str, lines: str) -> str:
    """Return ``text`` with the block, in the place of the one that is there, else at the end.

    Taking it out again gives the text as it was, but for a line break that was missing at its end.

    Raises:
        BrokenBlockError: The marks of a block are there, but not one pair.
    """
    line_break = _line_break(text)
    block = line_break.join((BEGIN, *lines.splitlines(), END, ""))
    place = _place(text)
    if place:
        return text[: place[0]] + block + text[place[1] :]
    missing = line_break if text and not text.endswith("\n") else ""
    return f"{text}{missing}{block}"


def without_block(text: str) -> str:
    """Return ``text`` without the block, unchanged where there is none.

    Raises:
        BrokenBlockError: The marks of a block are there, but not one pair.
    """
    place = _place(text)
    return text[: place[0]] + text[place[1] :] if place else text


def _place(text: str) -> tuple[int, int] | None:
    marks: list[tuple[str, int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip() in (BEGIN, END):
            marks.append((line.strip(), start, start + len(line)))
        start += len(line)
    if not marks:
        return None
    if [mark for mark, _, _ in marks] != [BEGIN, END]:
        raise BrokenBlockError(f"the lines {BEGIN} and {END} are not there once, in this order")
    return marks[0][1], marks[1][2]


def _line_break(text: str) -> str:
    """Return how lines end where all end so: a shell takes the one of two characters for a part of the line."""
    is_long = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return "\r\n" if is_long else "\n"
