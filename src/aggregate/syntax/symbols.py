"""From a source text to what it defines, by its language's query."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from tree_sitter import Node

from aggregate.syntax.deadline import Deadline
from aggregate.syntax.definitions import Definition, Module
from aggregate.syntax.languages import Language
from aggregate.syntax.parsing import macros_by_end, parse_source, query_matches
from aggregate.syntax.symbol_names import split_symbol, without_arguments

_DEFINITION = "definition."
_LEVEL = "level."
_NOTICE = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved", re.IGNORECASE)
_NOTICE_WITHIN = 400
_NEVER = sys.maxsize
_MOST_ITEMS_READ = 10_000
_MOST_NAMES = 100
"""Names of a path, the inner ones: in a text that nests ten thousand levels all of them would take gigabytes."""
_MOST_COMMENTS = 1_000
"""Comments at the beginning of a file that are searched for what documents it; notices of licences have dozens."""
_NAMING = {"definition", "level", "name", "title", "alias", "receiver", "items"}
_TEXTS = ("import", "constant", "constant.member", "package")
_WANTED = frozenset({*_NAMING, "body", "members", "keep", "doc.module", "doc.leading", *_TEXTS})


def read_module(text: str, language: Language) -> Module:
    """Parse ``text`` and return what it defines; a syntax error costs only what stands in it.

    Raises:
        DeadlineError: It takes far longer than any program of this size does.
    """
    source = text.encode(errors="surrogatepass")
    found: dict[int, Definition] = {}
    texts: dict[str, dict[int, str]] = {name: {} for name in _TEXTS}
    docs: dict[int, Node] = {}
    bodies: set[tuple[int, int]] = set()
    kept: set[tuple[int, int]] = set()
    deadline = Deadline(len(source))
    macros = macros_by_end(source, language)
    tree = parse_source(source, language, macros, deadline=deadline)
    for match in query_matches(tree, language, _WANTED, deadline):
        bodies.update((node.start_byte, node.end_byte) for node in match.get("body", ()))
        kept.update((node.start_byte, node.end_byte) for node in match.get("keep", ()))
        for capture, nodes in match.items():
            if capture.startswith(_DEFINITION):
                _add(found, _definition(capture.removeprefix(_DEFINITION), nodes, match))
            elif capture in texts:
                texts[capture].update((node.start_byte, _text(node)) for node in nodes)
            elif capture == "doc.module":
                docs.update((node.start_byte, node) for node in nodes)
            elif capture == "doc.leading":
                docs.update((comment.start_byte, comment) for node in nodes for comment in _run_of(node))
    if macros:
        conditions = sorted((start, end) for end, start in macros.items() if source.startswith(b"#", start))
        found = {at: _without_conditions(_with_macros(one, source, macros), conditions) for at, one in found.items()}
    ordered = _reach(sorted(found.values(), key=lambda one: (one.start, -one.end, one.header_end)), source)
    definitions = _nest(ordered, sorted(bodies - kept))
    return Module(
        source,
        definitions,
        imports=_once(texts["import"]),
        constants=_once(_outside(texts["constant"], definitions) | texts["constant.member"]),
        doc=_doc(docs, source),
        package=tuple(name for text in texts["package"].values() for name in split_symbol(text)),
    )


def _definition(kind: str, nodes: list[Node], match: dict[str, list[Node]]) -> Definition:
    """Return the definition that ``nodes`` make up together, with its own names only and no depth yet.

    ``@name`` is a name or a path of names, ``@title`` one name whatever stands in it, ``@items`` the node whose
    children are counted.
    """
    parts = [_text(part) for part in (*match.get("receiver", ()), *match.get("name", ())[:1])]
    parts = [name for part in parts for name in split_symbol(without_arguments(part))]
    parts += [_text(part) for part in match.get("title", ())[:1]]
    begin, node = nodes[0], nodes[-1]
    opening = min((n.start_byte for n in (*match.get("body", ()), *match.get("members", ()))), default=node.end_byte)
    first, last = begin.start_point.row + 1, node.end_point.row + (node.end_point.column > 0)
    level = next((int(name.removeprefix(_LEVEL)) for name in match if name.startswith(_LEVEL)), 0)
    items = next((_items(one) for one in match.get("items", ())), None)
    remarks = tuple(_remarks(node, opening)) if first < last and opening < node.end_byte else ()
    aliases = tuple(_text(one) for one in match.get("alias", ()))
    place = (begin.start_byte, node.end_byte, opening, 0, first, max(first, last))
    return Definition(kind, tuple(parts), *place, level, items, remarks, aliases)


def _with_macros(one: Definition, source: bytes, macros: dict[int, int]) -> Definition:
    """Return a definition that begins with the macros directly before it on its line."""
    start = one.start
    while (begin := macros.get(_end_before(source, start))) is not None:
        start = begin
    return one if start == one.start else replace(one, start=start)


def _without_conditions(one: Definition, conditions: list[tuple[int, int]]) -> Definition:
    """Return a definition whose signature lacks the ``conditions`` in it, as it lacks comments."""
    inside = conditions[bisect_left(conditions, (one.start, 0)) : bisect_left(conditions, (one.header_end, 0))]
    if not inside:
        return one
    remarks = [remark for remark in one.remarks if not any(a <= remark[0] < b for a, b in inside)]
    return replace(one, remarks=tuple(sorted([*remarks, *inside])))


def _end_before(source: bytes, position: int) -> int:
    """Return where the last byte before ``position`` on its line that is no white space ends."""
    while position and source[position - 1] in b" \t":
        position -= 1
    return position


def _remarks(node: Node, end: int) -> Iterator[tuple[int, int]]:
    """Yield where comments stand in ``node`` before the byte ``end``, in order."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type.endswith("comment"):
            yield node.start_byte, node.end_byte
        else:
            children = takewhile(lambda child: child.start_byte < end, node.named_children)
            waiting += reversed(list(children))


def _run_of(first: Node) -> Iterator[Node]:
    """Yield a comment and those that follow it directly.

    A query could take them all, by ``(comment)+``, in time that grows with the square of their number.
    """
    if first.parent is None:
        return
    cursor = first.parent.walk()
    following = cursor.goto_first_child()
    while following and cursor.node is not None and cursor.node.start_byte < first.start_byte:
        following = cursor.goto_next_sibling()
    for _ in range(_MOST_COMMENTS):
        if not following or cursor.node is None or cursor.node.type != first.type:
            return
        yield cursor.node
        following = cursor.goto_next_sibling()


def _items(node: Node) -> int:
    """Return how many children a list or mapping has; comments are told apart only where that is quick."""
    if node.named_child_count > _MOST_ITEMS_READ:
        return node.named_child_count
    return sum(not child.is_extra and not child.is_error for child in node.named_children)


def _doc(docs: dict[int, Node], source: bytes) -> str:
    """Return the first run of touching comments, or what else documents the file, that is no notice of copyright."""
    runs: list[list[str]] = []
    row = -2
    for start, node in sorted(docs.items()):
        if not start and source.startswith(b"#!"):
            continue
        if not runs or node.start_point.row > row + 1:
            runs.append([])
        text = (node.text or b"").decode(errors="surrogatepass").rstrip()
        runs[-1].append(text)
        row = node.start_point.row + text.count("\n")
    texts = ["\n".join(run) for run in runs]
    return next((text for text in texts if not _NOTICE.search(text[:_NOTICE_WITHIN])), "")


def _reach(definitions: list[Definition], source: bytes) -> list[Definition]:
    """Return the definitions, each heading reaching to the next of its level or above or to its container's end."""
    if not any(one.level for one in definitions):
        return definitions
    ends: dict[int, int] = {}
    frames: list[tuple[int, list[int]]] = [(len(source), [])]  # each container's end and the headings open in it
    for index, one in enumerate(definitions):
        while frames[-1][0] <= one.start:
            end, headings = frames.pop()
            ends.update(dict.fromkeys(headings, end))
        headings = frames[-1][1]
        if not one.level:
            frames.append((one.end, []))
            continue
        while headings and definitions[headings[-1]].level >= one.level:
            ends[headings.pop()] = one.start
        headings.append(index)
    for end, headings in frames:
        ends.update(dict.fromkeys(headings, end))
    return [_reaching(one, ends[index], source) if one.level else one for index, one in enumerate(definitions)]


def _reaching(one: Definition, end: int, source: bytes) -> Definition:
    """Return a heading's definition that ends at ``end``, without the blank lines there."""
    while end > one.start and source[end - 1] in b" \t\r\n":
        end -= 1
    last = one.first_line + source.count(b"\n", one.start, end)
    return replace(one, end=end, header_end=min(one.header_end, end), last_line=last)


def _add(found: dict[int, Definition], one: Definition) -> None:
    """Keep one definition per signature: the widest, which has the decorators; of two as wide, the one with a name.

    Names that are declared together, as in ``int *f(int), g(int);``, are one definition with aliases.
    """
    known = found.get(one.header_end)
    if known is None or (one.start, not one.path) < (known.start, not known.path):
        found[one.header_end] = one
    elif (one.kind, one.start, one.end) == (known.kind, known.start, known.end) and one.path != known.path:
        others = dict.fromkeys((*known.aliases, *one.path[-1:], *one.aliases))
        found[one.header_end] = replace(known, aliases=tuple(name for name in others if name not in known.path))


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
        if around and (around[-1].start, around[-1].path[-1:]) == (one.start, one.path):
            continue  # the head of a definition, which some grammars take for a declaration
        outer = around[-1].path if around else ()
        full = replace(one, path=(outer + one.path)[-_MOST_NAMES:], depth=len(around))
        nested.append(full)
        around.append(full)
    return tuple(nested)


def _outside(texts: dict[int, str], definitions: tuple[Definition, ...]) -> dict[int, str]:
    """Return those texts that stand in no definition."""
    ends = {one.start: one.end for one in definitions if not one.depth}
    starts = sorted(ends)
    outside: dict[int, str] = {}
    for at, text in texts.items():
        index = bisect_right(starts, at)
        if not index or ends[starts[index - 1]] <= at:
            outside[at] = text
    return outside


def _once(texts: dict[int, str]) -> tuple[str, ...]:
    """Return the texts in order of their places, each once."""
    return tuple(dict.fromkeys(text for _, text in sorted(texts.items())))


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode(errors="surrogatepass").split())
