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
_OF_BODIES = frozenset({"body", "keep", "lead", "doc"})
_local = threading.local()


def parse(source: bytes, language: Language) -> Tree:
    """Return the syntax tree of ``source``.

    Keep the bytes with it: its offsets are bytes of them, and the text in its nodes lacks macros.
    """
    parsers: dict[str, Parser] = _local.__dict__.setdefault("parsers", {})
    parser = parsers.get(language.name)
    if parser is None:
        parser = parsers[language.name] = Parser(_grammar(language))
    return parser.parse(_without_macros(source, language.macros) if language.macros else source)


def _without_macros(source: bytes, macros: str) -> bytes:
    """Return ``source`` with its macros blanked, each byte with one, so that all offsets hold."""
    blanked = bytearray(source)
    for match in re.finditer(macros.encode(), source):
        if match.lastindex:
            start, end = match.span(match.lastindex)
            blanked[start:end] = b" " * (end - start)
    return bytes(blanked)


def matches(tree: Tree, language: Language, wanted: frozenset[str]) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches of those patterns of the language's query that hold a capture in ``wanted``.

    ``"definition"`` wants all ``@definition.<kind>``.

    A query with ``@scope`` captures is run on one level of the tree at a time and goes down only into the nodes
    captured so: function bodies are never walked, which makes it five times as fast as one run over the whole tree.
    What is captured as ``@scope.deep``, such as what a variable is set to, is searched to the bottom, but only for
    bodies and not for definitions. A query without scopes is run once over everything.
    Captures whose names begin with ``_`` serve predicates only.
    """
    query, aside = _query(language, wanted)
    if "scope" not in aside:
        yield from _search(query, aside, tree.root_node)
        return
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        cursor = QueryCursor(query)
        cursor.set_max_start_depth(1)
        for _, match in cursor.matches(node):
            stack += (inner for inner in match.pop("scope", ()) if inner != node)
            for inner in match.pop("scope.deep", ()):
                yield from _search(*_query(language, wanted & _OF_BODIES), inner)
            for name in aside:
                match.pop(name, None)
            if match:
                yield match


def _search(query: Query, aside: tuple[str, ...], node: Node) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches in all of ``node``, without the captures that are no results."""
    for _, match in QueryCursor(query).matches(node):
        for name in aside:
            match.pop(name, None)
        if match:
            yield match


@cache
def _grammar(language: Language) -> Grammar:
    return Grammar(getattr(import_module(language.module), language.function)())


@cache
def _query(language: Language, wanted: frozenset[str]) -> tuple[Query, tuple[str, ...]]:
    """Return the language's query, cut down to ``wanted``, and its captures that are no results."""
    text = files("aggregate.syntax").joinpath("queries", f"{language.name}.scm").read_text(encoding="utf-8")
    query = Query(_grammar(language), text)
    kept: set[str] = set()
    for pattern in range(query.pattern_count):
        names = set(_CAPTURE.findall(text, query.start_byte_for_pattern(pattern), query.end_byte_for_pattern(pattern)))
        if any(_is_wanted(name, wanted) for name in names):
            kept |= names
        else:
            query.disable_pattern(pattern)
    for name in kept:
        if not (_is_wanted(name, wanted) or name.startswith("_")):
            query.disable_capture(name)
    return query, tuple(sorted(name for name in kept if name.startswith(("scope", "_"))))


def _is_wanted(name: str, wanted: frozenset[str]) -> bool:
    return name in wanted or name.startswith("scope") or ("definition" in wanted and name.startswith("definition."))
