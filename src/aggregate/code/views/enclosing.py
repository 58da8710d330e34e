"""What stands around the members of a container that are shown: its opening, marks for what is left out, its end."""

import re
from typing import NamedTuple

from aggregate.code.syntax.definitions import Definition, Module

_OPENING = re.compile(rb"\s*\{")
_NOTHING = b" \t\r\n;,:"
"""What may stand between two members without being missed."""
_BEHIND = re.compile(rb"[ \t]*[;,]")
_END = re.compile(rb"(?<![^\s;])end\Z")
"""What closes a class or module of Ruby."""


class Piece(NamedTuple):
    """Lines of a view.

    Attributes:
        text: The lines.
        first_line: The line of the file behind the first of them, the others follow it; 0 for lines of our own.
    """

    text: str
    first_line: int = 0


class Opened(NamedTuple):
    """The opening of a container.

    Attributes:
        text: Its header, with the brace that opens it where it has one.
        end: The byte behind that.
    """

    text: str
    end: int


def opened(module: Module, container: Definition) -> Opened:
    """Return how a container begins."""
    brace = _OPENING.match(module.source, container.header_end, container.end)
    if brace is None:
        return Opened(module.header(container), container.header_end)
    return Opened(module.text(module.line_start(container.start), brace.end()), brace.end())


def gap(module: Module, position: int, start: int, mark: str, *, is_first: bool) -> list[Piece]:
    """Return what stands between two members: the mark where lines are left out, else a blank line as in the file.

    Args:
        module: The file.
        position: The byte behind the first one, or behind the opening.
        start: The first byte of the second one; before ``position`` where the mask has another order than the file.
        mark: The mark, indented.
        is_first: Whether only the opening stands before.
    """
    between = module.source[position:start]
    if start < position or between.strip(_NOTHING):
        return [Piece(mark)]
    return [Piece("")] if between.count(b"\n") > 1 and not is_first else []


def footer(module: Module, container: Definition, position: int, mark: str) -> list[Piece]:
    """Return what stands behind the last member, which ends at ``position``: a mark, and what closes it all."""
    rest = module.source[position : container.end]
    closing = (
        rest.rfind(b"}")
        if _OPENING.match(module.source, container.header_end, container.end)
        else -1
    )
    if closing < 0 and (word := _END.search(rest)):
        closing = word.start()
    left_out = [Piece(mark)] if (rest[:closing] if closing >= 0 else rest).strip(_NOTHING) else []
    if closing < 0:
        return left_out
    start = position + closing
    behind = _BEHIND.match(module.source, container.end)
    text = module.text(module.line_start(start), behind.end() if behind else container.end)
    line = container.last_line - module.source.count(b"\n", start, container.end)
    return [*left_out, Piece(text.partition("\n")[0].rstrip(), line)]
