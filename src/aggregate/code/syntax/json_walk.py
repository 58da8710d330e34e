"""A walk through JSON in the order of its text, which tells where everything stands in it.

Only what is asked for is built: outputs of many megabytes are passed over, and nesting of any depth takes no stack.
"""

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import NamedTuple

from aggregate.base.errors import NotebookError

_BLANKS = re.compile(r"[ \t\r\n]*+")
_SCALAR = re.compile(r"[^\s,\[\]{}:\"]++")
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = JSONDecoder(strict=False)


class JsonValue(NamedTuple):
    """A value in a text, from its first character to behind its last one."""

    start: int
    end: int


class JsonWalk:
    """A walk through one text.

    Lines are counted from where they were counted last, so that a whole walk reads the text once for them.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._counted_to = 0
        self._line = 1

    def document(self) -> JsonValue:
        """Return the value that the text begins with, whose end is not known yet."""
        return JsonValue(self._after_blanks(0), len(self._text))

    def kind(self, value: JsonValue | None) -> str:
        """Return what a value begins with: ``{``, ``[``, a quotation mark, another character, or ``""`` for none."""
        return self._text[value.start : value.start + 1] if value else ""

    def written(self, value: JsonValue | None) -> str:
        """Return a value as it is written, ``""`` for none."""
        return self._text[value.start : value.end] if value else ""

    def line(self, offset: int) -> int:
        """Return the 1-based line of a character."""
        if offset < self._counted_to:
            self._line -= self._text.count("\n", offset, self._counted_to)
        else:
            self._line += self._text.count("\n", self._counted_to, offset)
        self._counted_to = offset
        return self._line

    def members(self, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
        """Yield the keys and values of an object; none where the value is something else."""
        if self.kind(value) != "{":
            return
        position = self._after_blanks(value.start + 1)
        while self._text[position : position + 1] != "}":
            if self._text[position : position + 1] != '"':
                raise self._damage(position)
            end = self._end(position)
            key = self._decoded(JsonValue(position, end))
            position = self._after_blanks(end)
            if self._text[position : position + 1] != ":":
                raise self._damage(position)
            start = self._after_blanks(position + 1)
            end = self._end(start)
            yield key, JsonValue(start, end)
            position = self._next(end, "}")

    def items(self, value: JsonValue) -> Iterator[JsonValue]:
        """Yield the items of a list; none where the value is something else."""
        if self.kind(value) != "[":
            return
        position = self._after_blanks(value.start + 1)
        while self._text[position : position + 1] != "]":
            end = self._end(position)
            yield JsonValue(position, end)
            position = self._next(end, "]")

    def member(self, value: JsonValue | None, name: str) -> JsonValue | None:
        """Return the value of one key of an object, the last one where it stands there repeatedly."""
        return dict(self.members(value)).get(name) if value else None

    def string(self, value: JsonValue | None) -> str:
        """Return a text, ``""`` where the value is something else."""
        return self._decoded(value) if value and self.kind(value) == '"' else ""

    def byte_size(self, value: JsonValue) -> int:
        """Return how much of the file a value takes; empty lists and objects take nothing."""
        if self._after_blanks(value.start + 1) == value.end - 1:
            return 0
        return len(self.written(value).encode(errors="surrogatepass"))

    def _end(self, start: int) -> int:
        """Return where the value that begins at ``start`` ends."""
        character = self._text[start : start + 1]
        if character not in ("{", "[", '"'):
            match = _SCALAR.match(self._text, start)
            if match is None:
                raise self._damage(start)
            return match.end()
        depth = 0
        for match in _STRUCTURE.finditer(self._text, start):
            piece = match[0]
            if piece == '"':
                raise self._damage(match.start())  # it does not end
            if piece in ("{", "["):
                depth += 1
            elif piece in ("}", "]"):
                depth -= 1
            if not depth:
                return match.end()
        raise self._damage(start)

    def _next(self, end: int, closing: str) -> int:
        """Return where the next member or item begins, or the bracket that closes them."""
        position = self._after_blanks(end)
        character = self._text[position : position + 1]
        if character == ",":
            return self._after_blanks(position + 1)
        if character != closing:
            raise self._damage(position)
        return position

    def _decoded(self, value: JsonValue) -> str:
        try:
            text, _ = _DECODER.raw_decode(self._text, value.start)
        except ValueError:
            raise self._damage(value.start) from None
        return _SURROGATE.sub("\ufffd", text)

    def _damage(self, position: int) -> NotebookError:
        return NotebookError(
            f"no notebook can be read from it, line {self.line(position)} is no JSON"
        )

    def _after_blanks(self, position: int) -> int:
        """Return the first place from ``position`` on that is no white space."""
        match = _BLANKS.match(self._text, position)
        return match.end() if match else position
