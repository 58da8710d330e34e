"""From a source text to the names that it uses and may define elsewhere, by its language's query.

A query names them by captures: ``@reference.<kind>`` for a name, and in the same match ``@reference.scope`` for what
stands before it or, of an import, for the module that it is taken from. ``@reference.member`` is an import whose module
is that of the ``@reference.within`` around it, of which ``@reference.scope`` in that match is the module, or a part of
it where one stands in another. ``@reference.defined`` is a name that would be a reference, and is defined there.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tree_sitter import Node

from aggregate.errors import DeadlineError
from aggregate.syntax.compiled_queries import prepare_query
from aggregate.syntax.deadline import Deadline
from aggregate.syntax.embedded import Block, EmbeddedCaptures
from aggregate.syntax.languages import Language
from aggregate.syntax.parsing import macros_by_end, parse_source, query_matches, without_macros

_WANTED: Final = frozenset({"reference", "embedded"})
_MEMBER: Final = "reference.member"
_RANKS: Final = {
    "reference.import": ("import", 0),
    _MEMBER: ("import", 0),
    "reference.inherit": ("inherit", 1),
    "reference.call": ("call", 2),
    "reference.type": ("type", 3),
    "reference.attribute": ("attribute", 4),
}
"""For each capture of a name the kind of the reference, and which counts where several patterns match one name."""
_LONGEST_SCOPE = 60
"""Bytes of what stands before a name: a longer one is no path of names that anything could be found by."""
_LONGEST_NAME = 200
"""Bytes of a name, or of the module of an import; only generated programs have longer ones."""
_PLAIN = re.compile(r"[\w$@!?]+(?:(?:\.|::|->|\?\.|\\|:)[\w$@]+)*+")
_NAME = re.compile(r"[^\s()\[\]{}<>\"'`,;|]++")
_QUOTES = "\"'`<>"
_VERSION = re.compile(r"v[0-9]{1,4}")
_JOINT = re.compile(rb"\s*+(::|\\|\.)")


class SyntaxReference(NamedTuple):
    """A name that a text uses.

    Attributes:
        name: The last part, such as ``area`` of ``shape.area()``; of a file that is imported its own name.
        kind: ``call``, ``type``, ``import``, ``inherit`` or ``attribute``.
        start: First byte of the name in the text as UTF-8.
        line: The line of that byte, 1-based.
        scope: What stands before the name where that is a path of names of at most 60 bytes; of an import the module
            that the name is taken from, or that is imported, as written. ``""`` for nothing.
    """

    name: str
    kind: str
    start: int
    line: int
    scope: str


def read_references(text: str, language: Language) -> tuple[SyntaxReference, ...]:
    """Return what ``text`` refers to, in order; of a name that several patterns match the most telling.

    Names are as written and resolved nowhere, so built-in ones and those of local variables are among them. In
    ``shared_parse`` the text is parsed once for its definitions and references. A syntax error costs only what stands
    in it; a language without such patterns has no references.

    Raises:
        DeadlineError: It takes far longer than any program of this size does.
    """
    prepare_query(language, _WANTED)
    source = text.encode(errors="surrogatepass")
    references, blocks = _read_own(source, language, Deadline(len(source)))
    if blocks:
        references += _embedded(source, blocks)
        references.sort(key=_place)
    return tuple(references)


def _embedded(source: bytes, blocks: list[Block]) -> Iterator[SyntaxReference]:
    """Yield the references of parts in other languages; one that takes too long to be read has none."""
    for block in blocks:
        prepare_query(block.language, _WANTED)
    # All of them together have as long as one text of their size.
    deadline = Deadline(sum(block.end - block.start for block in blocks))
    line, counted = 0, 0
    for block in blocks:
        line += source.count(b"\n", counted, block.start)
        counted = block.start
        try:
            inner, _ = _read_own(source[block.start : block.end], block.language, deadline)
        except DeadlineError:
            continue
        for reference in inner:
            yield reference._replace(
                start=reference.start + block.start, line=reference.line + line
            )


def _read_own(
    source: bytes, language: Language, deadline: Deadline
) -> tuple[list[SyntaxReference], list[Block]]:
    """Return what a text refers to, and its parts in other languages, which are not read yet."""
    parsed = without_macros(source, macros_by_end(source, language))
    tree = parse_source(parsed, language, {}, deadline=deadline)
    captured = _Captured(parsed)
    for match in query_matches(tree, language, _WANTED, deadline):
        captured.add(match)
    return captured.references(), captured.embedded.blocks()


class _Module(NamedTuple):
    """A statement of which all names are taken from one module, or a part of such a one."""

    start: int
    end: int
    name: str


@dataclass(slots=True)
class _Captured:
    """What the query found.

    Attributes:
        text: The bytes that were parsed.
        names: By the first byte of a name: its rank, whether it is a member, and the reference.
        defined: First bytes of names that are defined.
        modules: Statements that members are looked up in.
    """

    text: bytes
    names: dict[int, tuple[int, bool, SyntaxReference]] = field(default_factory=dict)
    defined: set[int] = field(default_factory=set)
    modules: set[_Module] = field(default_factory=set)
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)

    def add(self, match: dict[str, list[Node]]) -> None:
        """Add the nodes of one match; this runs for each reference of a project."""
        scopes = match.get("reference.scope")
        for capture, nodes in match.items():
            ranked = _RANKS.get(capture)
            if ranked is not None:
                kind, rank = ranked
                for node in nodes:
                    self._add_name(node, kind, rank, scopes, is_member=capture == _MEMBER)
            elif capture == "reference.within":
                self.modules.add(self._module(nodes[0], scopes))
            elif capture == "reference.defined":
                self.defined.update([node.start_byte for node in nodes])
            elif capture == "embedded.tag":
                self.embedded.add(match)

    def _add_name(
        self, node: Node, kind: str, rank: int, scopes: list[Node] | None, *, is_member: bool
    ) -> None:
        start, end = node.start_byte, node.end_byte
        known = self.names.get(start)
        if known is not None and (known[0] < rank or (known[0] == rank and known[2].scope)):
            return
        name = self._words(start, end, _LONGEST_NAME)
        if kind == "import":
            name = name.strip(_QUOTES)
            scope = self._scope(scopes, _LONGEST_NAME).strip(_QUOTES) if scopes else ""
            if not scope and not is_member:
                scope = name
            if "/" in name:
                name = _last_part(name)
        else:
            scope = self._plain_scope(scopes) if scopes else ""
            if "/" in name:
                name = name.rstrip("/").rpartition("/")[2]
        if name.isidentifier() or _NAME.fullmatch(name):
            line = node.start_point.row + 1
            self.names[start] = rank, is_member, SyntaxReference(name, kind, start, line, scope)

    def _words(self, start: int, end: int, longest: int) -> str:
        """Return a part of the text, ``""`` where it is longer than ``longest`` bytes."""
        return self.text[start:end].decode(errors="surrogatepass") if end - start <= longest else ""

    def _scope(self, scopes: list[Node], longest: int) -> str:
        return self._words(scopes[0].start_byte, scopes[0].end_byte, longest)

    def _plain_scope(self, scopes: list[Node]) -> str:
        """Return what stands before a name if that is a path of names."""
        scope = self._scope(scopes, _LONGEST_SCOPE)
        return scope if scope.isidentifier() or _PLAIN.fullmatch(scope) else ""

    def _module(self, node: Node, scopes: list[Node] | None) -> _Module:
        """Return a statement with its module, and with what joins that to a name where such may follow."""
        if not scopes:
            return _Module(node.start_byte, node.end_byte, "")
        joint = _JOINT.match(self.text, scopes[0].end_byte)
        name = self._scope(scopes, _LONGEST_NAME) + (joint[1].decode() if joint else "")
        return _Module(node.start_byte, node.end_byte, name)

    def references(self) -> list[SyntaxReference]:
        """Return the references in order, each import with its module."""
        named = [self.names[start] for start in sorted(self.names) if start not in self.defined]
        if not self.modules:
            return [reference for _, is_member, reference in named if not is_member]
        return list(_with_modules(named, self.modules))


def _with_modules(
    named: Iterable[tuple[int, bool, SyntaxReference]], modules: Iterable[_Module]
) -> Iterator[SyntaxReference]:
    """Yield references with the modules around them, without members that stand in none."""
    waiting = sorted(modules, key=lambda module: (-module.start, module.end))
    around: list[_Module] = []
    for _, is_member, reference in named:
        while waiting and waiting[-1].start <= reference.start:
            module = waiting.pop()
            while around and around[-1].end <= module.start:
                around.pop()
            outer = around[-1].name if around else ""
            name = (outer + module.name)[: _LONGEST_NAME + 1]
            around.append(module._replace(name=name))
        while around and around[-1].end <= reference.start:
            around.pop()
        if is_member and around:
            yield reference._replace(scope=_joined(around[-1].name, reference))
        elif not is_member and not (around and reference.kind == "attribute"):
            yield reference


def _joined(module: str, member: SyntaxReference) -> str:
    """Return the module that a member is taken from; one by itself is taken from one of its own name."""
    scope = module + member.scope if member.scope else module.rstrip(":\\.") or member.name
    return scope if len(scope) <= _LONGEST_NAME else ""


def _last_part(path: str) -> str:
    """Return the last part of a path, before a version that it ends with."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1] if parts else ""


def _place(reference: SyntaxReference) -> int:
    return reference.start
