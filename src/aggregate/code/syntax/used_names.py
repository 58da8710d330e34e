"""Find names in a text that other files may define."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from tree_sitter import Node

from aggregate.code.syntax import parsing
from aggregate.code.syntax.languages import Language
from aggregate.code.syntax.symbols import Block, EmbeddedCaptures, read_blocks

_MEMBER: Final = "reference.member"
_MODULE: Final = "reference.module"
_IMPORTS: Final = frozenset({"reference.import", _MEMBER, _MODULE})
_RANKS: Final = {
    **dict.fromkeys(_IMPORTS, 1),
    "reference.inherit": 3,
    "reference.call": 5,
    "reference.type": 7,
    "reference.attribute": 9,
}  # the lowest capture wins if several patterns match a name; a scope subtracts one
_KINDS: Final = {capture: capture.removeprefix("reference.") for capture in _RANKS}
_PARTS: Final = frozenset({"reference.type", "reference.attribute"})
# Bytes of a scope; longer ones are not paths of names.
_LONGEST_SCOPE = 60
# Bytes of a name or imported module; only generated programs have longer ones.
_LONGEST_NAME = 200
_SCOPE = re.compile(r"[\w$@!?]+(?>(?:(?:\.|::|->|\?\.|\\|:)[\w$@]+)*)")
_NAME = re.compile(r"[^\s()\[\]{}<>\"'`,;|]++")
_QUOTES = "\"'`<>"
_VERSION = re.compile(r"v[0-9]{1,4}")
_JOINT = re.compile(rb"\s*+(::|\\|\.)")


class SyntaxReference(NamedTuple):
    """A use of a name in a text."""

    name: str
    kind: str
    start: int  # first byte of the name or its path
    line: int
    scope: str  # path of names before the name, at most 60 bytes


class _Module(NamedTuple):
    """An import statement, or a part, with its module."""

    start: int = 0
    end: int = 0
    name: str = ""  # of the module, ``""`` if each name has its own
    joint: str = ""  # separator between the module and a further part of the name, if any


_NO_MODULE = _Module()
# Rank, capture, name and scope of a name. A ``NamedTuple`` is slower, and most names pass here.
_Captured: TypeAlias = tuple[int, str, Node, Node | None]


@dataclass(slots=True)
class ReferenceCaptures:
    """Captures of a query that describe uses of a name."""

    text: bytes
    names: dict[int, _Captured] = field(default_factory=dict)
    defined: set[int] = field(default_factory=set)
    modules: set[_Module] = field(default_factory=set)  # of import statements
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)

    def add(self, match: dict[str, list[Node]]) -> None:
        names = self.names
        scopes = match.get("reference.scope")
        scope = scopes[0] if scopes else None
        for capture, nodes in match.items():
            rank = _RANKS.get(capture)
            node = nodes[0]
            if rank is not None:
                if scopes:
                    rank -= 1
                start = node.start_byte
                if start not in names or rank < names[start][0]:
                    names[start] = rank, capture, node, scope
            elif capture == "reference.defined":
                self.defined.add(node.start_byte)
            elif capture == "reference.within":
                name = joint = ""
                if scope is not None:
                    name = self._words(scope, _LONGEST_NAME).strip(_QUOTES)
                    between = _JOINT.match(self.text, scope.end_byte)
                    joint = between[1].decode() if between else ""
                self.modules.add(_Module(node.start_byte, node.end_byte, name, joint))
            elif capture == "embedded.tag":
                self.embedded.add(match)

    def references(self) -> list[SyntaxReference]:
        references: list[SyntaxReference] = []
        around = _Around(self.modules) if self.modules else None
        for start in sorted(self.names.keys() - self.defined):
            _, capture, node, scope = self.names[start]
            module = around.module_at(start) if around else None
            if capture in _IMPORTS:
                reference = self._import(capture, module, node, scope)
            elif module is None or capture not in _PARTS:
                reference = self._use(_KINDS[capture], start, node, scope)
            else:
                continue
            if reference is not None:
                references.append(reference)
        return references

    def _use(
        self, kind: str, start: int, node: Node, before: Node | None
    ) -> SyntaxReference | None:
        name = self._words(node, _LONGEST_NAME)
        scope = self._words(before, _LONGEST_SCOPE) if before else ""
        if not name.isidentifier():
            path, name = _last_name(name, kind)
            scope = scope or (path if len(path) <= _LONGEST_SCOPE else "")
            if not _NAME.fullmatch(name):
                return None
        if scope and not scope.isidentifier() and not _SCOPE.fullmatch(scope):
            scope = ""
        return SyntaxReference(name, kind, start, node.start_point.row + 1, scope)

    def _import(
        self, capture: str, module: _Module | None, node: Node, taken_from: Node | None
    ) -> SyntaxReference | None:
        if capture != _MEMBER:
            module = _NO_MODULE
        elif module is None:
            return None
        written = self._words(node, _LONGEST_NAME).strip(_QUOTES)
        if capture == _MODULE:
            _, name = _last_name(written, "import")
        elif "/" not in written:
            name = written
        else:
            parts = [part for part in written.split("/") if part]
            if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
                parts.pop()
            name = parts[-1] if parts else ""
        if not _NAME.fullmatch(name):
            return None
        scope = module.name or written
        if taken_from is not None:
            member = self._words(taken_from, _LONGEST_NAME).strip(_QUOTES)
            scope = module.name + module.joint + member
        if len(scope) > _LONGEST_NAME:
            scope = ""
        return SyntaxReference(name, "import", node.start_byte, node.start_point.row + 1, scope)

    def _words(self, node: Node, longest: int) -> str:
        start, end = node.start_byte, node.end_byte
        return self.text[start:end].decode(errors="surrogatepass") if end - start <= longest else ""


class _Around:
    """The import statements around a position that moves forward through a text."""

    __slots__ = ("_around", "_waiting")

    def __init__(self, modules: Iterable[_Module]) -> None:
        self._waiting = sorted(modules, key=lambda module: (-module.start, module.end, module.name))
        self._around: list[_Module] = []

    def module_at(self, position: int) -> _Module | None:
        """Move to ``position``; return the innermost import there."""
        while self._waiting and self._waiting[-1].start <= position:
            module = self._waiting.pop()
            outer = self._left_for(module.start)
            if outer and module.name:
                # Too long names are dropped later: cut them here, or deep nesting takes quadratic time.
                name = (outer.name + outer.joint + module.name)[: _LONGEST_NAME + 1]
                module = module._replace(name=name)
            elif outer:
                module = module._replace(name=outer.name, joint=outer.joint)
            self._around.append(module)
        return self._left_for(position)

    def _left_for(self, position: int) -> _Module | None:
        while self._around and self._around[-1].end <= position:
            self._around.pop()
        return self._around[-1] if self._around else None


def _last_name(written: str, kind: str) -> tuple[str, str]:
    """Split a dotted name into its path and last part."""
    if "/" in written:
        return "", written.rstrip("/").rpartition("/")[2]
    joint = "::" if "::" in written or kind == "call" else "."
    path, _, name = written.rpartition(joint)
    return path, name


_WANTED: Final = frozenset({"reference", "embedded"})
# Times as long as for definitions: the densest texts need 3 seconds for a megabyte.
_TIMES_AS_LONG = 3


def read_references(text: str, language: Language) -> tuple[SyntaxReference, ...]:
    """Return the names that a text uses, each once, in order."""
    if not parsing.query_of(language, _WANTED)[0].pattern_count:
        return ()
    source = text.encode(errors="surrogatepass")
    references, blocks = _read_own(source, language, parsing.Deadline(_TIMES_AS_LONG * len(source)))
    blocks = [
        block for block in blocks if parsing.query_of(block.language, _WANTED)[0].pattern_count
    ]
    lines, counted = 0, 0
    for block, (inner, _) in read_blocks(
        source, blocks, _read_own, wanted=_WANTED, times=_TIMES_AS_LONG
    ):
        lines += source.count(b"\n", counted, block.start)
        counted = block.start
        references += (
            reference._replace(start=reference.start + counted, line=reference.line + lines)
            for reference in inner
        )
    if blocks:
        references.sort(key=lambda reference: reference.start)
    return tuple(references)


def _read_own(
    source: bytes, language: Language, deadline: parsing.Deadline
) -> tuple[list[SyntaxReference], list[Block]]:
    macros = parsing.macros_by_end(source, language)
    tree = parsing.parse_source(source, language, macros)
    captured = ReferenceCaptures(parsing.without_macros(source, macros))
    for match in parsing.query_matches(tree, language, _WANTED, deadline):
        captured.add(match)
    return captured.references(), captured.embedded.blocks()
