"""Parse texts and run queries in bounded time."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import groupby
from pkgutil import get_data
from time import monotonic, thread_time
from typing import Final, TypeVar

from tree_sitter import Language as Grammar, Node, Parser, Query, QueryCursor, Tree

from aggregate.base.errors import DeadlineError
from aggregate.code.syntax.languages import Language, LanguageKind
from aggregate.code.syntax.preprocessor import without
from aggregate.code.syntax.unbalanced import balanced, body_end, bracket_query

_CAPTURE = re.compile(r"@([\w.]+)")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[(\[]|[)\]][?*+]?|[^\s"()\[\];]+')
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)
_FAMILIES = ("definition", "level", "embedded", "reference")
# Capture families searched in the whole text, function bodies included, regardless of ``@scope``.
_ANYWHERE = frozenset({"reference"})


@cache
def grammar_of(language: Language) -> Grammar:
    grammar: object = getattr(import_module(language.module), language.function)()
    if isinstance(grammar, int):  # some wheels return a bare address, which is deprecated
        import ctypes  # rarely needed and slow to load

        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        grammar = new_capsule(grammar, b"tree_sitter.Language", None)
    return Grammar(grammar)


@cache
def query_of(language: Language, wanted: frozenset[str]) -> tuple[Query, bool, bool]:
    """Return the query for some captures, and two flags.

    The first flag says that it searches scope by scope, the second that it has private captures.
    """
    captures: set[str] = set()
    patterns: list[str] = []
    for pattern in _patterns(_query_text(language.name)):
        names = set(_CAPTURE.findall(pattern))
        if any(_is_wanted(name, wanted) for name in names):
            captures |= names
            patterns.append(pattern)
    query = Query(grammar_of(language), "\n".join(patterns))
    for name in captures:
        if not _is_wanted(name, wanted) and name[0] != "_":
            query.disable_capture(name)
    return query, "scope" in captures, any(name[0] == "_" for name in captures)


def _patterns(text: str) -> Iterator[str]:
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
    # ``importlib.resources`` takes 10 ms to import.
    data = get_data("aggregate.code.syntax", f"queries/{name}.scm")
    if data is None:
        raise FileNotFoundError(f"aggregate/code/syntax/queries/{name}.scm")
    text = data.decode()
    return "".join(_query_text(inherited) for inherited in _INHERITS.findall(text)) + text


def _is_wanted(name: str, wanted: frozenset[str]) -> bool:
    family, _, member = name.partition(".")
    return (
        name in wanted
        or (family == "scope" and not wanted & _ANYWHERE)
        or bool(member and family in _FAMILIES and family in wanted)
    )


_Result = TypeVar("_Result")
_shared = threading.local()


@contextmanager
def shared_parse() -> Iterator[None]:
    """Keep the results of ``computed_once`` in this thread while the block runs."""
    outer = getattr(_shared, "results", None)
    _shared.results = {} if outer is None else outer
    try:
        yield
    finally:
        _shared.results = outer


def computed_once(key: Hashable, compute: Callable[[], _Result]) -> _Result:
    """Return the result of ``compute``; inside a ``shared_parse`` block it is computed once per ``key``."""
    results: dict[Hashable, _Result | DeadlineError] | None = getattr(_shared, "results", None)
    if results is None:
        return compute()
    if key not in results:
        try:
            results[key] = compute()
        except DeadlineError as error:
            results[key] = error
    result = results[key]
    if isinstance(result, DeadlineError):
        raise result
    return result


# Six times the time of the densest programs, for slower machines.
_SECONDS: Final = 2.4
_SECONDS_PER_BYTE: Final = 2.7e-6
# The parser reports its progress every hundred steps. Programs have 5 to 20 reports per kilobyte, the densest
# minified ones 25, long lists of digits 50. Larger counts are not programs, and may take quadratic or cubic time, even
# within one step without a report.
_REPORTS: Final = 100
_REPORTS_PER_BYTE: Final = 0.08


class Deadline:
    """The CPU time that parsing one text may take."""

    __slots__ = ("_earliest", "_latest", "_reports")

    def __init__(self, size: int) -> None:
        seconds = _SECONDS + size * _SECONDS_PER_BYTE
        self._earliest, self._latest = monotonic() + seconds, thread_time() + seconds
        self._reports = _REPORTS + int(size * _REPORTS_PER_BYTE)

    def report(self, *_: object) -> bool:
        """Count a call of the parser's progress callback; return whether parsing must stop."""
        self._reports -= 1
        # Reading the clock each time would take a tenth of the parser's time.
        return self._reports < 0 or (not self._reports % 8 and self._has_passed())

    def check(self) -> None:
        if self._has_passed():
            raise DeadlineError

    def _has_passed(self) -> bool:
        # The first clock is quicker to read.
        return monotonic() >= self._earliest and thread_time() >= self._latest


_OF_BODIES = frozenset({"body", "body.first", "body.until", "statement", "keep", "lead", "doc"})
# Smaller texts are parsed without progress reports, which cost 2 % of a parse and a copy of ``_CHUNK`` for each
# predicate: hostile ones end within a second. Reports come between the parser's steps, so a hanging step is not ended.
_WATCHED_FROM = 8_000
# Bytes read at once by the parser, and copied again by each predicate of a query.
_CHUNK = 4096
# Longest run of children that take a query quadratic time, half a second. Nodes with a longer run, or with shorter
# ones of the same total cost, are not searched.
_LONGEST_RUN = 5_000
_SQUARE = {"rust": "attribute_item", "yaml": "document"}
# Levels of a piece of a deep tree; programs are rarely deeper. Trees with fewer nodes are searched whole, in a tenth
# of a second at most.
_LEVELS = 100
_FEW_NODES = 10_000


def parse_source(
    source: bytes,
    language: Language,
    macros: Mapping[int, int] | None = None,
    *,
    deadline: Deadline | None = None,
) -> Tree:
    """Return the syntax tree of ``source``.

    ``macros`` is the result of ``macros_by_end``, if known. The tree's offsets count the bytes of ``source``; the
    text of its nodes lacks macros.
    """
    return computed_once(
        ("tree", language.name, source), lambda: _parse(source, language, macros, deadline)
    )


def _parse(
    source: bytes, language: Language, macros: Mapping[int, int] | None, deadline: Deadline | None
) -> Tree:
    parser = Parser(grammar_of(language))
    text = without_macros(source, macros_by_end(source, language) if macros is None else macros)
    if language.disguise is not None:
        text = language.disguise(text)
    tree = _parsed(text, parser, deadline)
    root = tree.root_node
    has_brackets = language.blocks or b"{" in text or b"}" in text
    if language.kind is not LanguageKind.CODE or not root.has_error or not has_brackets:
        return tree
    if _is_unreadable(root, language):
        return tree
    query = bracket_query(grammar_of(language), language.blocks)
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    for match in _all_matches(query, root, deadline or Deadline(len(text))):
        for name, captured in match.items():
            nodes[name] += captured
    mended = balanced(text, source, nodes)
    return tree if mended == text else _parsed(mended, parser, None)


def _parsed(text: bytes, parser: Parser, deadline: Deadline | None) -> Tree:
    if len(text) < _WATCHED_FROM:
        return parser.parse(text)
    report = (deadline or Deadline(len(text))).report
    try:
        return parser.parse(
            lambda offset, _: text[offset : offset + _CHUNK], progress_callback=report
        )
    except ValueError:
        raise DeadlineError from None


def macros_by_end(source: bytes, language: Language) -> dict[int, int]:
    """Return the macros to hide from the parser.

    The keys are the ends of the macros, the values their starts.
    """
    hidden = language.hidden
    if hidden is None:
        return {}
    return computed_once(
        ("macros", language.name, source), lambda: {end: start for start, end in hidden(source)}
    )


def without_macros(source: bytes, macros: Mapping[int, int]) -> bytes:
    """Return ``source`` for the parser, with spaces instead of ``macros`` and of zero bytes."""
    text = without(source, ((start, end) for end, start in macros.items())) if macros else source
    # Bash's scanner takes quadratic time for runs of zeros.
    return text.replace(b"\0", b" ")


def query_matches(
    tree: Tree, language: Language, wanted: frozenset[str], deadline: Deadline
) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches of all patterns with a capture in ``wanted``.

    ``"definition"`` wants all ``@definition.<kind>``, ``"level"`` all ``@level.<number>``.

    A query with ``@scope`` captures runs on one level of the tree at a time and descends only into these captures:
    skipping function bodies makes it five times as fast. ``@scope.deep``, such as a variable's value, is searched to
    the bottom, but only for bodies and not for definitions. A query without scopes runs once over the whole tree.

    Captures with a leading ``_`` serve the query's own predicates and are not yielded.
    """
    query, scoped, private = query_of(language, wanted)
    stack = [tree.root_node]
    while stack and not scoped:
        node = stack.pop()
        if _is_unreadable(node, language):
            raise DeadlineError
        if node.child_count < _LONGEST_RUN:
            stack += [child for child in node.children if child.has_error]
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if _is_unreadable(node, language):
            if node.is_error:
                continue
            raise DeadlineError
        deadline.check()
        for match in (
            _matches(query, node, depth=1) if scoped else _all_matches(query, node, deadline)
        ):
            deadline.check()
            if scoped:
                for inner in match.pop("scope", ()):
                    if inner != node:
                        stack.append(inner)
                for inner in match.pop("scope.deep", ()):
                    of_bodies, _, _ = query_of(language, wanted & _OF_BODIES)
                    for deep in _all_matches(of_bodies, inner, deadline):
                        if bodies := {name: deep[name] for name in deep if name in _OF_BODIES}:
                            yield bodies
            if private:
                match = {name: nodes for name, nodes in match.items() if name[0] != "_"}  # noqa: PLW2901
            if match:
                yield match


def body_spans(
    source: bytes, match: dict[str, list[Node]], *, is_damaged: bool
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of bodies: ``@body`` nodes, or from ``@body.first`` to ``@body.until``."""
    spans = [(node, node.end_byte) for node in match.get("body", ())]
    if "body.first" in match:
        spans.append((match["body.first"][0], match["body.until"][0].start_byte))
    for node, end in spans:
        start = node.start_byte
        head = (node.parent or node).start_byte
        last = body_end(source, start, end, head) if is_damaged else end
        yield start, trimmed_end(source, start, last)


def trimmed_end(source: bytes, start: int, end: int) -> int:
    """Return the end of a body without the white space and comments at its end."""
    if source[end - 1 : end].isspace():
        return start + len(source[start:end].rstrip())
    return end


def _all_matches(query: Query, node: Node, deadline: Deadline) -> Iterator[dict[str, list[Node]]]:
    # At each node a cursor checks all unfinished matches around it, in time that grows with the depth of the tree. A
    # deep tree is therefore searched in pieces, and matches at their edges come twice.
    if node.descendant_count < _FEW_NODES:
        yield from _matches(query, node)
        return
    waiting = [node]
    while waiting:
        node = waiting.pop()
        deadline.check()
        yield from _matches(query, node, depth=_LEVELS)
        level = [node]
        for remaining in range(_LEVELS, 0, -1):  # only where the tree may be as deep
            level = [
                child
                for outer in level
                if outer.descendant_count > remaining
                for child in outer.children
            ]
        waiting += level


def _matches(query: Query, node: Node, depth: int | None = None) -> Iterator[dict[str, list[Node]]]:
    cursor = QueryCursor(query)
    if depth is not None:
        cursor.set_max_start_depth(depth)
    return (match for _, match in cursor.matches(node))


def _is_unreadable(node: Node, language: Language) -> bool:
    # Quadratic cases: a cursor looks behind each unrecognised token for the next named node, and behind each attribute
    # of Rust for its item; each document of YAML is a level below the previous one. (As of tree-sitter 0.26.1 a
    # cursor's ``progress_callback`` reads freed memory.)
    if node.child_count < _LONGEST_RUN:
        return False
    if node.is_error:
        runs = groupby(node.children, lambda child: not child.is_named)
    elif language.name in _SQUARE:
        runs = groupby(node.children, lambda child: child.type == _SQUARE[language.name])
    else:
        return False
    lengths = [len(list(run)) for is_run, run in runs if is_run]
    return sum(length**2 for length in lengths) > _LONGEST_RUN**2
