"""Definitions in a source text: what outline, masked and summary views are made of."""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, replace
from operator import itemgetter

from tree_sitter import Node

from aggregate.syntax.languages import Kind, Language
from aggregate.syntax.parsing import matches, parse

_DEFINITION = "definition."
_QUALIFIER = re.compile(r"::|\.")
_ARGUMENTS = re.compile(r"\s*<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\b")
_CONVERSION = re.compile(r"^(operator\s+\w[^(]*?)\s*\(.*$")
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
        aliases: Other names for the last one in ``path``: a C struct's tag beside its ``typedef``.
    """

    kind: str
    path: tuple[str, ...]
    start: int
    end: int
    header_end: int
    depth: int
    first_line: int
    last_line: int
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    """A source text with everything that its language's query finds in it.

    Attributes:
        source: The text's bytes; all offsets count these.
        definitions: In order of their start, outer before inner; what stands in a function's body is left out.
        imports: What the text imports or includes, in order, each once.
        constants: Names assigned outside of functions and classes, in order, each once; constants of classes too
            where the language has no others.
        doc: The module's own documentation, as written.
        package: The names that all definitions stand in without the text saying so: its package or namespace clause.
    """

    source: bytes
    definitions: tuple[Definition, ...]
    imports: tuple[str, ...]
    constants: tuple[str, ...]
    doc: str
    package: tuple[str, ...] = ()

    def text(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.source[start:end].decode(errors="surrogatepass")

    def header(self, definition: Definition) -> str:
        """Return a definition's text as far as its body, with its name where that stands behind the body only."""
        text = self.text(definition.start, definition.header_end).rstrip()
        name = definition.path[-1] if definition.path else ""
        behind = self.text(definition.header_end, definition.end).rstrip("; \t\n")
        return f"{text} {name}" if name and behind.endswith(name) and name not in text.split() else text

    def signature(self, definition: Definition) -> str:
        """Return a definition's signature on one line, without the opening of its body or a semicolon."""
        return " ".join(self.header(definition).split()).rstrip("{;,\\ ").removesuffix(":")


_TEXTS = ("import", "constant", "constant.member", "doc.module", "package")
_WANTED = frozenset({"definition", "name", "alias", "receiver", "body", "members", "keep", *_TEXTS})


def read_module(text: str, language: Language) -> Module:
    """Parse ``text`` and return what it defines; a syntax error costs only what stands in it."""
    source = text.encode(errors="surrogatepass")
    found: dict[int, Definition] = {}
    texts: dict[str, dict[int, Node]] = {name: {} for name in _TEXTS}
    bodies: set[tuple[int, int]] = set()
    kept: set[tuple[int, int]] = set()
    for match in matches(parse(source, language), language, _WANTED):
        bodies.update((node.start_byte, node.end_byte) for node in match.get("body", ()))
        kept.update((node.start_byte, node.end_byte) for node in match.get("keep", ()))
        for capture, nodes in match.items():
            if capture.startswith(_DEFINITION):
                _add(found, _definition(capture.removeprefix(_DEFINITION), nodes, match, language))
            elif capture in texts:
                texts[capture].update((node.start_byte, node) for node in nodes)
    definitions = _nest(sorted(found.values(), key=lambda one: (one.start, -one.end)), sorted(bodies - kept))
    return Module(
        source,
        definitions,
        imports=_once(texts["import"]),
        constants=_once(_outside(texts["constant"], definitions) | texts["constant.member"]),
        doc=_joined(texts["doc.module"]),
        package=tuple(name for text in _once(texts["package"]) for name in split_symbol(text)),
    )


def _definition(kind: str, nodes: list[Node], match: dict[str, list[Node]], language: Language) -> Definition:
    """Return the definition that ``nodes`` make up together, with its own names only and no depth yet."""
    parts = [_text(part) for part in (*match.get("receiver", ()), *match.get("name", ())[:1])]
    if language.kind is Kind.CODE:
        parts = [name for part in parts for name in split_symbol(_without_arguments(part))]
    start, last = nodes[0], nodes[-1]
    opening = min((n.start_byte for n in (*match.get("body", ()), *match.get("members", ()))), default=last.end_byte)
    first_line, last_line = start.start_point.row + 1, last.end_point.row + (last.end_point.column > 0)
    return Definition(
        kind,
        tuple(parts),
        start=start.start_byte,
        end=last.end_byte,
        header_end=opening,
        depth=0,
        first_line=first_line,
        last_line=max(first_line, last_line),
        aliases=tuple(_text(node) for node in match.get("alias", ())),
    )


def _add(found: dict[int, Definition], one: Definition) -> None:
    """Keep one definition per signature: the widest, which has the decorators, and of equals the first."""
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


def _outside(nodes: dict[int, Node], definitions: tuple[Definition, ...]) -> dict[int, Node]:
    """Return those nodes that stand in no definition."""
    ends = {one.start: one.end for one in definitions if not one.depth}
    starts = sorted(ends)
    outside: dict[int, Node] = {}
    for at, node in nodes.items():
        index = bisect_right(starts, at)
        if not index or ends[starts[index - 1]] <= at:
            outside[at] = node
    return outside


def _once(nodes: dict[int, Node]) -> tuple[str, ...]:
    """Return the nodes' texts in order of their places, each once."""
    return tuple(dict.fromkeys(_text(node) for _, node in sorted(nodes.items(), key=itemgetter(0))))


def _joined(nodes: dict[int, Node]) -> str:
    """Return the nodes' texts in order of their places, those on lines that touch as one paragraph."""
    pieces: list[str] = []
    row = 0
    for _, node in sorted(nodes.items(), key=itemgetter(0)):
        text = (node.text or b"").decode(errors="surrogatepass").rstrip()
        if pieces:
            pieces.append("\n" if node.start_point.row <= row + 1 else "\n\n")
        pieces.append(text)
        row = node.start_point.row + text.count("\n")
    return "".join(pieces)


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode(errors="surrogatepass").split())


def split_symbol(symbol: str) -> tuple[str, ...]:
    """Return the names in a symbol's path, written with ``.`` or ``::``."""
    return tuple(name for name in _QUALIFIER.split(symbol.strip()) if name)


def _without_arguments(name: str) -> str:
    """Return a qualified name without type arguments, and a conversion operator's without its parameters."""
    if "<" not in name and "(" not in name:
        return name
    at = _OPERATOR.search(name)
    head, operator = (name[: at.start()], name[at.start() :]) if at else (name, "")
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    return head + _CONVERSION.sub(r"\1", operator)
