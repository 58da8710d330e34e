"""Definitions in a source text: what outline, masked and summary views are made of."""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, replace

from tree_sitter import Node

from aggregate.syntax.languages import Kind, Language
from aggregate.syntax.parsing import matches, parse

_DEFINITION = "definition."
_QUALIFIER = re.compile(r"::|\.")
# Line breaks that only lay out a parameter list, with the comma that such a list ends with.
_AFTER_OPENING = re.compile(r"(?<=[(\[])\s*\n\s*")
_BEFORE_CLOSING = re.compile(r",?\s*\n\s*(?=[)\]])")
_NEVER = sys.maxsize


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of a program or document.

    Attributes:
        kind: What it is, in the query's words: ``class``, ``function``, ``heading``, ...
        path: Its name, below the names of what it stands in: ``("Shape", "area")``.
        start: First byte, decorators included.
        end: Byte behind its last one.
        header_end: Byte behind its signature; equal to ``end`` where there is no body.
        depth: How many other definitions it stands in.
        first_line: 1-based line of ``start``.
        last_line: 1-based line of its last byte.
    """

    kind: str
    path: tuple[str, ...]
    start: int
    end: int
    header_end: int
    depth: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Module:
    """A source text with everything that its language's query finds in it.

    Attributes:
        source: The text's bytes; all offsets count these.
        definitions: In order of their start, outer before inner; what stands in a function's body is left out.
        imports: What the text imports or includes, in order, each once.
        constants: Names assigned outside of functions and classes, in order, each once.
        doc: The module's own documentation, as written.
    """

    source: bytes
    definitions: tuple[Definition, ...]
    imports: tuple[str, ...]
    constants: tuple[str, ...]
    doc: str

    def text(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.source[start:end].decode(errors="surrogatepass")

    def whole(self, definition: Definition) -> str:
        """Return a definition as it stands in the source, with the indentation of its first line."""
        return self.text(self._line_start(definition.start), definition.end)

    def header(self, definition: Definition) -> str:
        """Return a definition up to its body, with the indentation of its first line."""
        return self.text(self._line_start(definition.start), definition.header_end).rstrip()

    def _line_start(self, offset: int) -> int:
        """Return where the line of ``offset`` begins if only white space stands before it there, else ``offset``."""
        start = self.source.rfind(b"\n", 0, offset) + 1
        return offset if self.source[start:offset].strip() else start

    def signature(self, definition: Definition) -> str:
        """Return a definition's signature on one line, without the opening of its body."""
        text = _AFTER_OPENING.sub("", self.text(definition.start, definition.header_end))
        return " ".join(_BEFORE_CLOSING.sub("", text).split()).rstrip("{ ").removesuffix(":")


_WANTED = frozenset({"definition", "name", "receiver", "body", "members", "keep", "import", "constant", "doc.module"})


def read_module(text: str, language: Language) -> Module:
    """Parse ``text`` and return what it defines; a syntax error costs only what stands in it."""
    source = text.encode(errors="surrogatepass")
    found: dict[int, Definition] = {}
    texts: dict[str, dict[int, str]] = {"import": {}, "constant": {}, "doc.module": {}}
    bodies: set[tuple[int, int]] = set()
    kept: set[tuple[int, int]] = set()
    for match in matches(parse(source, language), language, _WANTED):
        bodies.update((node.start_byte, node.end_byte) for node in match.get("body", ()))
        kept.update((node.start_byte, node.end_byte) for node in match.get("keep", ()))
        for capture, nodes in match.items():
            if capture.startswith(_DEFINITION):
                _add(found, _definition(capture.removeprefix(_DEFINITION), nodes[0], match, language))
            elif capture in texts:
                texts[capture].update((node.start_byte, _text(node)) for node in nodes)
    definitions = _nest(sorted(found.values(), key=lambda one: (one.start, -one.end)), sorted(bodies - kept))
    constants = _outside(texts["constant"], definitions)
    return Module(source, definitions, _once(texts["import"]), constants, next(iter(texts["doc.module"].values()), ""))


def _definition(kind: str, node: Node, match: dict[str, list[Node]], language: Language) -> Definition:
    """Return the definition at ``node``, with its own names only and no depth yet."""
    parts = [_text(part) for part in (*match.get("receiver", ()), *match.get("name", ())[:1])]
    if language.kind is Kind.CODE:
        parts = [name for part in parts for name in _QUALIFIER.split(part) if name]
    opening = min((n.start_byte for n in (*match.get("body", ()), *match.get("members", ()))), default=node.end_byte)
    first, last = node.start_point.row + 1, node.end_point.row + (node.end_point.column > 0)
    return Definition(kind, tuple(parts), node.start_byte, node.end_byte, opening, 0, first, max(first, last))


def _add(found: dict[int, Definition], one: Definition) -> None:
    """Keep one definition per signature: the widest, which has the decorators."""
    known = found.get(one.header_end)
    if known is None or one.start < known.start:
        found[one.header_end] = one


def _nest(definitions: list[Definition], bodies: list[tuple[int, int]]) -> tuple[Definition, ...]:
    """Return the definitions outside of bodies, each with its full path and depth."""
    nested: list[Definition] = []
    around: list[Definition] = []
    body_end, upcoming = 0, iter([*bodies, (_NEVER, _NEVER)])
    body = next(upcoming)
    for one in definitions:
        while body[0] <= one.start:
            body_end = max(body_end, body[1])
            body = next(upcoming)
        if one.start < body_end:
            continue
        while around and around[-1].end <= one.start:
            around.pop()
        outer = around[-1].path if around else ()
        full = replace(one, path=outer + one.path, depth=len(around))
        nested.append(full)
        around.append(full)
    return tuple(nested)


def _outside(texts: dict[int, str], definitions: tuple[Definition, ...]) -> tuple[str, ...]:
    """Return those texts that stand in no definition."""
    ends = {one.start: one.end for one in definitions if not one.depth}
    starts = sorted(ends)
    outside: dict[int, str] = {}
    for at, text in texts.items():
        index = bisect_right(starts, at)
        if not index or ends[starts[index - 1]] <= at:
            outside[at] = text
    return _once(outside)


def _once(texts: dict[int, str]) -> tuple[str, ...]:
    """Return the texts in order of their places, each once."""
    return tuple(dict.fromkeys(text for _, text in sorted(texts.items())))


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode(errors="surrogatepass").split())


def split_symbol(symbol: str) -> tuple[str, ...]:
    """Return the names in a symbol's path, written with ``.`` or ``::``."""
    return tuple(name for name in _QUALIFIER.split(symbol.strip()) if name)
