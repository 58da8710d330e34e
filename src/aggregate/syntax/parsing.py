"""Grammars, parsers and compiled queries, loaded once per process and only when first used.

tree-sitter parsers are not safe to share between threads, so each thread has its own.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from time import monotonic, thread_time

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from aggregate.errors import DeadlineError
from aggregate.syntax.languages import Language

_CAPTURE = re.compile(r"@([\w.]+)")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[(\[]|[)\]][?*+]?|[^\s"()\[\];]+')
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)
_OF_BODIES = frozenset({"body", "keep", "lead", "doc"})
_FAMILIES = ("definition", "level")

# Texts below this size are parsed without being asked how far that is, which costs 8 % of a parse: nearly all hostile
# ones end within a second there. Progress is asked between the parser's steps only, so a step that hangs is not ended.
_WATCHED_FROM = 50_000
# The parser's time grows with the square of some inputs, such as a million opening brackets. A program of a megabyte
# takes a third of a second, so that even a machine a tenth as fast stays far below. Time of this thread's own, so that
# other load on the machine changes nothing.
_SECONDS = 1.0
_SECONDS_PER_BYTE = 4e-6
# How much the parser reads at once. Each of the predicates of a query copies that much again.
_CHUNK = 4096
# A region of errors is not searched for definitions where it has more tokens than this, and less than a tenth as many
# named nodes.
_MOST_BARE_TOKENS = 5_000
_BARE = 10
_local = threading.local()


def parse_source(source: bytes, language: Language, macros: Mapping[int, int] | None = None) -> Tree:
    """Return the syntax tree of ``source``, without ``macros`` where the caller knows them by ``macros_by_end``.

    Keep the bytes with it: its offsets are bytes of them, and the text of its nodes lacks macros.

    Raises:
        DeadlineError: It takes seconds, as no program of this size does.
    """
    parsers: dict[str, Parser] = _local.__dict__.setdefault("parsers", {})
    parser = parsers.get(language.name)
    if parser is None:
        parser = parsers[language.name] = Parser(_grammar(language))
    blanked = bytearray(source)
    for end, start in (macros_by_end(source, language) if macros is None else macros).items():
        blanked[start:end] = b"\n".join(b" " * len(line) for line in source[start:end].split(b"\n"))
    text = bytes(blanked)
    if len(text) < _WATCHED_FROM:
        return parser.parse(text)
    try:
        return parser.parse(lambda offset, _: text[offset : offset + _CHUNK], progress_callback=_deadline(len(text)))
    except ValueError:
        parser.reset()  # else the next text would be read on from here
        raise DeadlineError from None


def _deadline(size: int) -> Callable[[int, bool], bool]:
    """Return what tells whether the time for a text of ``size`` bytes has passed since now."""
    seconds = _SECONDS + size * _SECONDS_PER_BYTE
    earliest, latest = monotonic() + seconds, thread_time() + seconds
    return lambda *_: monotonic() > earliest and thread_time() > latest  # the first is the quicker to ask


def macros_by_end(source: bytes, language: Language) -> dict[int, int]:
    """Return where the macros begin that the parser does not see, by where they end."""
    if language.macros is None:
        return {}
    return {
        match.end(group): match.start(group)
        for match in language.macros().finditer(source)
        if match.lastindex
        for group in range(1, match.lastindex + 1)
        if match.start(group) >= 0
    }


def query_matches(tree: Tree, language: Language, wanted: frozenset[str]) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches of those patterns of the language's query that hold a capture in ``wanted``.

    ``"definition"`` wants all ``@definition.<kind>``, ``"level"`` all ``@level.<number>``.

    A query with ``@scope`` captures is run on one level of the tree at a time and goes down only into the nodes
    captured so: function bodies are never walked, which makes it five times as fast as one run over the whole tree.
    What is captured as ``@scope.deep``, such as what a variable is set to, is searched to the bottom, but only for
    bodies and not for definitions. A query without scopes is run once over everything.

    Captures whose names begin with ``_`` are for the query's own predicates and are not yielded.
    """
    query, scoped, private = _query(language, wanted)
    if not scoped:
        _check_regions(tree)
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if _is_unreadable(node):
            continue
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


def _check_regions(tree: Tree) -> None:
    """Raise ``DeadlineError`` where a region anywhere in the tree is too long a run of tokens to be searched."""
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if _is_unreadable(node):
            raise DeadlineError
        if node.child_count < _MOST_BARE_TOKENS:
            stack += [child for child in node.children if child.has_error]


def _is_unreadable(node: Node) -> bool:
    """Tell whether a node is a long run of tokens among which next to nothing was recognised.

    A cursor asks of each token whether a named node follows and reads on to the next of these: the square of their
    number. (Its ``progress_callback`` cannot be used: it reads memory that is freed, as of tree-sitter 0.26.1.)
    """
    bare = node.child_count
    return node.is_error and bare > _MOST_BARE_TOKENS and node.named_child_count * _BARE < bare


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
