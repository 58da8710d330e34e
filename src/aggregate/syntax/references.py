"""From a source text to the names that it uses and may define elsewhere, by its language's query.

A query names them by captures: ``@reference.<kind>`` for a name, and in the same match ``@reference.scope`` for what
stands before it or, of an import, for the module that it is taken from. ``@reference.member`` is an import whose module
is that of the ``@reference.within`` around it, of which ``@reference.scope`` in that match is the module, or a part of
it where one stands in another. ``@reference.defined`` is a name that would be a reference, and is defined there.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

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
    "reference.import": 1,
    _MEMBER: 1,
    "reference.inherit": 3,
    "reference.call": 5,
    "reference.type": 7,
    "reference.attribute": 9,
}
"""Which capture counts where several patterns match one name, the lowest; one less with a scope."""
_LAST_OF_IMPORTS = 1
_PARTS: Final = frozenset({"reference.type", "reference.attribute"})
"""What a part of a module's name looks like in an import."""
_KINDS: Final = {capture: capture.removeprefix("reference.") for capture in _RANKS}
_TIMES_AS_LONG = 3
"""A text may have so many times more references than definitions: the densest take 3 seconds for a megabyte."""
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
        start: First byte of the name in the text as UTF-8, or of the path that it is the last part of.
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
    references, blocks = _read_own(source, language, _deadline(len(source)))
    if blocks:
        references += _embedded(source, blocks)
        references.sort(key=_place)
    return tuple(references)


def _embedded(source: bytes, blocks: list[Block]) -> Iterator[SyntaxReference]:
    """Yield the references of parts in other languages; one that takes too long to be read has none."""
    for block in blocks:
        prepare_query(block.language, _WANTED)
    # All of them together have as long as one text of their size.
    deadline = _deadline(sum(block.end - block.start for block in blocks))
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


def _deadline(size: int) -> Deadline:
    return Deadline(_TIMES_AS_LONG * size)


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
    """A statement of which all names are taken from one module, or a part of such a one.

    Attributes:
        start: Its first byte.
        end: The byte behind its last one.
        name: Of the module, ``""`` where each name has its own.
        joint: What stands between that and a further part of the name, if anything can.
    """

    start: int
    end: int
    name: str = ""
    joint: str = ""


_Name: TypeAlias = tuple[int, str, Node, Node | None]
"""A name that was captured: its rank, the capture, the name and its scope. A ``NamedTuple`` takes longer."""


@dataclass(slots=True)
class _Captured:
    """What the query found.

    Attributes:
        text: The bytes that were parsed.
        names: By their first byte, of those that begin there the one with the lowest rank.
        defined: First bytes of names that are defined.
        modules: Statements that members are looked up in.
        embedded: Parts in other languages.
    """

    text: bytes
    names: dict[int, _Name] = field(default_factory=dict)
    defined: set[int] = field(default_factory=set)
    modules: set[_Module] = field(default_factory=set)
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)

    def add(self, match: dict[str, list[Node]]) -> None:
        """Add the nodes of one match; this runs for each reference of a project."""
        names = self.names
        scopes = match.get("reference.scope")
        scope = scopes[0] if scopes else None
        for capture, (node, *_) in match.items():
            rank = _RANKS.get(capture)
            if rank is not None:
                if scopes:
                    rank -= 1
                start = node.start_byte
                if start not in names or rank < names[start][0]:
                    names[start] = rank, capture, node, scope
            elif capture == "reference.defined":
                self.defined.add(node.start_byte)
            elif capture == "reference.within":
                self.modules.add(self._module(node, scope))
            elif capture == "embedded.tag":
                self.embedded.add(match)

    def references(self) -> list[SyntaxReference]:
        """Return the references in order, each import with its module."""
        references: list[SyntaxReference | None] = []
        around = _Around(self.modules)
        for start in sorted(self.names.keys() - self.defined):
            rank, capture, node, scope = self.names[start]
            if self.modules:
                around.move_to(start)
            module = around.module
            if rank > _LAST_OF_IMPORTS:
                if module is None or capture not in _PARTS:
                    references.append(self._use(start, _KINDS[capture], node, scope))
            elif capture != _MEMBER:
                references.append(self._import(start, _Module(start, start), node, scope))
            elif module is not None:
                references.append(self._import(start, module, node, scope))
        return [reference for reference in references if reference is not None]

    def _use(
        self, start: int, kind: str, node: Node, before: Node | None
    ) -> SyntaxReference | None:
        """Return what uses a name, or ``None`` for one that nothing could be called."""
        name = self._words(start, node.end_byte, _LONGEST_NAME)
        if not name.isidentifier():
            name = name.rstrip("/").rpartition("/")[2]  # a program is called by its path
            if not _NAME.fullmatch(name):
                return None
        scope = ""
        if before is not None:
            scope = self._words(before.start_byte, before.end_byte, _LONGEST_SCOPE)
            if not scope.isidentifier() and not _PLAIN.fullmatch(scope):
                scope = ""
        return SyntaxReference(name, kind, start, node.start_point.row + 1, scope)

    def _import(
        self, start: int, module: _Module, node: Node, taken_from: Node | None
    ) -> SyntaxReference | None:
        """Return an import with its module, or ``None`` for a name that nothing could be called."""
        written = self._words(start, node.end_byte, _LONGEST_NAME).strip(_QUOTES)
        name = _last_part(written)
        if not _NAME.fullmatch(name):
            return None
        scope = module.name or written
        if taken_from is not None:
            own = self._words(taken_from.start_byte, taken_from.end_byte, _LONGEST_NAME)
            scope = module.name + module.joint + own.strip(_QUOTES)
        if len(scope) > _LONGEST_NAME:
            scope = ""
        return SyntaxReference(name, "import", start, node.start_point.row + 1, scope)

    def _words(self, start: int, end: int, longest: int) -> str:
        """Return a part of the text, ``""`` where it is longer than ``longest`` bytes."""
        return self.text[start:end].decode(errors="surrogatepass") if end - start <= longest else ""

    def _module(self, node: Node, scope: Node | None) -> _Module:
        """Return a statement with its module, and with what joins that to a name where such may follow."""
        if scope is None:
            return _Module(node.start_byte, node.end_byte)
        name = self._words(scope.start_byte, scope.end_byte, _LONGEST_NAME)
        joint = _JOINT.match(self.text, scope.end_byte)
        return _Module(node.start_byte, node.end_byte, name, joint[1].decode() if joint else "")


class _Around:
    """The modules around a place that goes through a text from its beginning to its end.

    Args:
        modules: All of the text; one may stand in another, and has the names of those around it before its own.
    """

    __slots__ = ("_around", "_waiting")

    def __init__(self, modules: Iterable[_Module]) -> None:
        self._waiting = sorted(modules, key=lambda module: (-module.start, module.end, module.name))
        self._around: list[_Module] = []

    def move_to(self, place: int) -> None:
        """Go on to the byte ``place``."""
        while self._waiting and self._waiting[-1].start <= place:
            module = self._waiting.pop()
            self._leave(module.start)
            outer = self.module
            if outer is not None:
                module = _inside(outer, module)
            self._around.append(module)
        self._leave(place)

    def _leave(self, place: int) -> None:
        while self._around and self._around[-1].end <= place:
            self._around.pop()

    @property
    def module(self) -> _Module | None:
        """The innermost module around the place, with the names of all around it; ``None`` for no module."""
        return self._around[-1] if self._around else None


def _inside(outer: _Module, module: _Module) -> _Module:
    """Return a module with the name of the one around it before its own."""
    if not module.name:
        return module._replace(name=outer.name, joint=outer.joint)
    # Cut where it is too long to be told anyway: else deep nesting would take the square of its depth.
    return module._replace(name=(outer.name + outer.joint + module.name)[: _LONGEST_NAME + 1])


def _last_part(path: str) -> str:
    """Return the last part of a path, before a version that it ends with."""
    if "/" not in path:
        return path
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1] if parts else ""


def _place(reference: SyntaxReference) -> int:
    return reference.start
