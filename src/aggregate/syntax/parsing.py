"""Grammars, parsers and compiled queries, loaded once per process and only when first used.

tree-sitter parsers are not safe to share between threads, so each thread has its own.
"""

import re
import threading
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from aggregate.syntax.languages import Language

_CAPTURE = re.compile(r"@([\w.]+)")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[(\[]|[)\]][?*+]?|[^\s"()\[\];]+')
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)
_OF_BODIES = frozenset({"body", "keep", "lead", "doc"})
_FAMILIES = ("definition", "level")
_local = threading.local()


def parse(source: bytes, language: Language) -> Tree:
    """Return the syntax tree of ``source``.

    Keep the bytes with it: its offsets are bytes of them, and the text of its nodes lacks macros.
    """
    parsers: dict[str, Parser] = _local.__dict__.setdefault("parsers", {})
    parser = parsers.get(language.name)
    if parser is None:
        parser = parsers[language.name] = Parser(_grammar(language))
    blanked = bytearray(source)
    for end, start in macros_by_end(source, language).items():
        blanked[start:end] = b" " * (end - start)
    return parser.parse(bytes(blanked))


def macros_by_end(source: bytes, language: Language) -> dict[int, int]:
    """Return where the macros begin that the parser does not see, by where they end."""
    if language.macros is None:
        return {}
    found = language.macros.finditer(source)
    return {match.end(match.lastindex): match.start(match.lastindex) for match in found if match.lastindex}


def matches(tree: Tree, language: Language, wanted: frozenset[str]) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches of those patterns of the language's query that hold a capture in ``wanted``.

    ``"definition"`` wants all ``@definition.<kind>``, ``"level"`` all ``@level.<number>``.

    A query with ``@scope`` captures is run on one level of the tree at a time and goes down only into the nodes
    captured so: function bodies are never walked, which makes it five times as fast as one run over the whole tree.
    What is captured as ``@scope.deep``, such as what a variable is set to, is searched to the bottom, but only for
    bodies and not for definitions. A query without scopes is run once over everything.

    Captures whose names begin with ``_`` are for the query's own predicates and are not yielded.
    """
    query, scoped, private = _query(language, wanted)
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        cursor = QueryCursor(query)
        if scoped:
            cursor.set_max_start_depth(1)
        for _, match in cursor.matches(node):
            for inner in match.pop("scope", ()):
                if inner != node:
                    stack.append(inner)
            for inner in match.pop("scope.deep", ()):
                yield from _bodies(inner, language, wanted)
            if private:
                match = {name: nodes for name, nodes in match.items() if name[0] != "_"}  # noqa: PLW2901
            if match:
                yield match


def _bodies(node: Node, language: Language, wanted: frozenset[str]) -> Iterator[dict[str, list[Node]]]:
    """Yield those matches in all of ``node`` that are about bodies."""
    query, _, _ = _query(language, wanted & _OF_BODIES)
    for _, match in QueryCursor(query).matches(node):
        found = {name: nodes for name, nodes in match.items() if name in _OF_BODIES}
        if found:
            yield found


@cache
def _grammar(language: Language) -> Grammar:
    return Grammar(getattr(import_module(language.module), language.function)())


@cache
def _query(language: Language, wanted: frozenset[str]) -> tuple[Query, bool, bool]:
    """Return the language's query, cut down to ``wanted``, and whether it names scopes and private captures.

    Only the wanted patterns are compiled: a hundred patterns over a large grammar take a quarter of a second.
    """
    kept: set[str] = set()
    patterns: list[str] = []
    for pattern in _patterns(_query_text(language.name)):
        names = set(_CAPTURE.findall(pattern))
        if any(_is_wanted(name, wanted) for name in names):
            kept |= names
            patterns.append(pattern)
    query = Query(_grammar(language), "\n".join(patterns))
    for name in kept:
        if not _is_wanted(name, wanted) and name[0] != "_":
            query.disable_capture(name)
    return query, "scope" in kept, any(name[0] == "_" for name in kept)


def _patterns(text: str) -> Iterator[str]:
    """Yield the patterns of a query's text, each with its captures and without comments."""
    pieces: list[str] = []
    depth = 0
    for piece in _PIECE.findall(text):
        if piece in ("(", "["):
            if not depth and pieces:
                yield " ".join(pieces)
                pieces = []
            depth += 1
        depth -= piece[0] in ")]"
        if piece[0] != ";":
            pieces.append(piece)
    if pieces:
        yield " ".join(pieces)


def _query_text(name: str) -> str:
    """Return a query file's text, behind those that its lines ``; inherits: <name>`` name."""
    text = files("aggregate.syntax").joinpath("queries", f"{name}.scm").read_text(encoding="utf-8")
    return "".join(_query_text(inherited) for inherited in _INHERITS.findall(text)) + text


def _is_wanted(name: str, wanted: frozenset[str]) -> bool:
    family, _, member = name.partition(".")
    return name in wanted or family == "scope" or bool(member and family in _FAMILIES and family in wanted)
