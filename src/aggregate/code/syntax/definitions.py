"""The definitions in a source text, for views and rankings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

_QUALIFIER = re.compile(r"::|\.")
_ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\b")
_CONVERSION = re.compile(r"^(operator\s+\w[^(]*?)\s*\(.*$")

# Longer names stay unchanged: the patterns above take quadratic time.
_LONGEST = 2_000


def split_symbol(symbol: str) -> tuple[str, ...]:
    return tuple(name for name in _QUALIFIER.split(symbol.strip()) if name)


def without_arguments(name: str) -> str:
    """Return a qualified name without type arguments, such as ``Map.get`` for ``Map<K, V>.get``."""
    if ("<" not in name and "(" not in name) or len(name) > _LONGEST:
        return name
    keyword = _OPERATOR.search(name)
    split = keyword.start() if keyword else len(name)
    head, operator = name[:split], name[split:]
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    return head + _CONVERSION.sub(r"\1", operator)


_WORD = re.compile(r"\w+")
# Line breaks and trailing commas of long parameter lists.
_AFTER_OPENING = re.compile(r"(?<=[(\[])\s*\n\s*")
_BEFORE_CLOSING = re.compile(r"(?:,\s*+|(?<![\s,])\s++)(?=[)\]])")
_LATE = frozenset({"struct", "union", "enum"})


class Definition(NamedTuple):
    """A named part of a program or document: its kind, name and extent."""

    kind: str
    path: tuple[str, ...]  # its name below the names of its containers: ``("Shape", "area")``
    start: int  # first byte, decorators included
    end: int
    header_end: int  # byte behind its signature; equal to ``end`` without a body
    depth: int  # number of definitions around it
    first_line: int
    last_line: int
    level: int = 0  # of a heading, 1 for the highest; else 0
    items: int | None = None
    # Comments in a signature of several lines.
    remarks: tuple[tuple[int, int], ...] = ()
    aliases: tuple[str, ...] = ()  # other names for the last one in ``path``
    is_embedded_code: bool = False  # whether it is code inside a file of another language


@dataclass(frozen=True, slots=True)
class Module:
    """A source text with its definitions, imports, constants and documentation."""

    source: bytes  # the text's bytes, to which all offsets refer
    definitions: tuple[Definition, ...]  # in order of their start, outer before inner
    imports: tuple[str, ...]
    constants: tuple[str, ...]
    doc: str
    package: tuple[str, ...] = ()  # names around all definitions, without nesting

    def text(self, start: int, end: int) -> str:
        return self.source[start:end].decode(errors="surrogatepass")

    def whole(self, definition: Definition) -> str:
        return self.text(self.line_start(definition.start), definition.end)

    def header(self, definition: Definition) -> str:
        written = self.text(self.line_start(definition.start), definition.header_end)
        return written.rstrip() + self._late_name(definition)

    def _late_name(self, definition: Definition) -> str:
        # Names behind the body only, as a ``typedef`` has.
        if definition.kind not in _LATE or not definition.path:
            return ""
        written = _WORD.findall(self.text(definition.start, definition.header_end))
        late = [name for name in (definition.path[-1], *definition.aliases) if name not in written]
        return f" {', '.join(late)}" if late else ""

    def line_start(self, offset: int) -> int:
        """Return where the line of ``offset`` starts if only white space precedes it, else ``offset``."""
        start = self.source.rfind(b"\n", 0, offset) + 1
        return offset if self.source[start:offset].strip() else start

    def signature(self, definition: Definition) -> str:
        """Return the signature of a definition on one line, without comments and the opening bracket."""
        pieces: list[str] = []
        position = definition.start
        for remark_start, remark_end in definition.remarks:
            pieces.append(self.text(position, remark_start))
            position = remark_end
        pieces.append(self.text(position, definition.header_end))
        header = pieces[0]
        for piece in pieces[1:]:
            header = (header.rstrip(" \t") if piece[:1] in tuple(",)];") else header) + piece
        if "\n" in header:
            header = _AFTER_OPENING.sub("", header)
            header = _BEFORE_CLOSING.sub(
                lambda blanks: "" if "\n" in blanks[0] else blanks[0], header
            )
        text = header + self._late_name(definition)
        return " ".join(text.split()).rstrip("{;,\\ ").removesuffix(":").removesuffix(" do")


# Innermost names of a path: all names of a text nested ten thousand levels deep would take gigabytes.
_MOST_NAMES = 100


def with_headings(module: Module, headings: Iterable[Definition]) -> Module:
    """Return a module with definitions inside of their sections."""
    definitions = (d._replace(path=d.path[-1:]) if d.depth else d for d in module.definitions)
    sorted_definitions = sorted(
        [*headings, *definitions], key=lambda definition: (definition.start, -definition.end)
    )
    return replace(module, definitions=nest(with_sections(sorted_definitions, module.source), []))


def with_sections(definitions: list[Definition], source: bytes) -> list[Definition]:
    """Extend each heading up to the next heading of its level or above."""
    if not any(definition.level for definition in definitions):
        return definitions
    ends: dict[int, int] = {}
    # The end of each container, and its open headings.
    containers: list[tuple[int, list[int]]] = [(len(source), [])]
    for index, definition in enumerate(definitions):
        while containers[-1][0] <= definition.start:
            end, headings = containers.pop()
            ends.update(dict.fromkeys(headings, end))
        headings = containers[-1][1]
        if not definition.level:
            containers.append((definition.end, []))
            continue
        while headings and definitions[headings[-1]].level >= definition.level:
            ends[headings.pop()] = definition.start
        headings.append(index)
    for end, headings in containers:
        ends.update(dict.fromkeys(headings, end))
    return [
        _section(definition, ends[index], source) if definition.level else definition
        for index, definition in enumerate(definitions)
    ]


def _section(heading: Definition, end: int, source: bytes) -> Definition:
    while end > heading.start and source[end - 1] in b" \t\r\n":
        end -= 1
    last_line = heading.first_line + source.count(b"\n", heading.start, end)
    return heading._replace(end=end, header_end=min(heading.header_end, end), last_line=last_line)


def nest(definitions: list[Definition], bodies: list[tuple[int, int]]) -> tuple[Definition, ...]:
    nested: list[Definition] = []
    around: list[Definition] = []
    upcoming = iter(bodies)
    body = next(upcoming, None)
    bodies_end = 0
    for definition in definitions:
        while body and body[0] <= definition.start:
            bodies_end = max(bodies_end, body[1])
            body = next(upcoming, None)
        if definition.start < bodies_end:
            continue
        while around and around[-1].end <= definition.start:
            around.pop()
        if around and (around[-1].start, around[-1].path[-1:]) == (
            definition.start,
            definition.path,
        ):
            continue  # the head of a definition, which some grammars read as a declaration
        outer = around[-1].path if around and around[-1].kind != "cell" else ()
        placed = definition
        if around or len(definition.path) > _MOST_NAMES:
            path = (outer + definition.path)[-_MOST_NAMES:]
            placed = definition._replace(path=path, depth=len(around))
        nested.append(placed)
        around.append(placed)
    return tuple(nested)
