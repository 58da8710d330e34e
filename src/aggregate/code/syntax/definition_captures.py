"""What a language's query finds in a parsed text: definitions, texts, comments and parts in other languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from tree_sitter import Node

from aggregate.code.syntax.definitions import Definition
from aggregate.code.syntax.embedded import EmbeddedCaptures
from aggregate.code.syntax.parsing import unwrapped_body
from aggregate.code.syntax.symbol_names import split_symbol, without_arguments

_DEFINITION = "definition."
_LEVEL = "level."
_MOST_ITEMS_READ = 10_000
"""Children of a list or mapping up to which each is looked at; reading more takes longer than the rest of the view."""
_MOST_COMMENTS = 1_000
"""Comments at the beginning of a file that are searched for what documents it; notices of licences have dozens."""
# What begins a comment in one language or another, also those of fixed columns: a signature without it holds none.
_COMMENT_MARK = re.compile(rb"[#%;!'\"]|//|/\*|--|\(\*|\{-|<!|^[cC*=]", re.MULTILINE)
TEXTS = ("import", "constant", "constant.member", "package")
"""Captures of which nothing but the text is wanted."""


@dataclass(slots=True)
class DefinitionCaptures:
    """What the query found.

    Attributes:
        text: The bytes that were parsed.
        definitions: By where their signature ends, which tells apart those that several patterns match.
        texts: For each capture in ``TEXTS``, the texts by their first byte.
        docs: Comments and strings that may document the file, by their first byte.
        bodies: First byte and end of what no definition inside is told of, ``kept`` ones excepted.
        embedded: Parts in other languages.
    """

    text: bytes
    definitions: dict[int, Definition] = field(default_factory=dict)
    texts: dict[str, dict[int, str]] = field(default_factory=lambda: {name: {} for name in TEXTS})
    docs: dict[int, Node] = field(default_factory=dict)
    bodies: set[tuple[int, int]] = field(default_factory=set)
    kept: set[tuple[int, int]] = field(default_factory=set)
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)

    def add(self, match: dict[str, list[Node]]) -> None:
        """Add the nodes of one match."""
        self.embedded.add(match)
        if "body.first" in match:
            self.bodies.add(unwrapped_body(self.text, match))
        for capture, nodes in match.items():
            if capture.startswith(_DEFINITION):
                kind = capture.removeprefix(_DEFINITION)
                _add(self.definitions, _definition(kind, nodes, match, self.text))
            elif capture == "body":
                self.bodies.update([(node.start_byte, node.end_byte) for node in nodes])
            elif capture == "keep":
                self.kept.update([(node.start_byte, node.end_byte) for node in nodes])
            elif capture in self.texts:
                self.texts[capture].update(
                    [(node.start_byte, _words(self.text, node)) for node in nodes]
                )
            elif capture == "doc.module":
                self.docs.update([(node.start_byte, node) for node in nodes])
            elif capture == "doc.leading":
                self.docs.update(
                    (comment.start_byte, comment) for node in nodes for comment in _run_of(node)
                )


def _definition(
    kind: str, nodes: list[Node], match: dict[str, list[Node]], text: bytes
) -> Definition:
    """Return the definition that ``nodes`` make up together, with its own names only and no depth yet.

    ``@name`` is a name or a path of names, ``@title`` one name whatever stands in it, ``@items`` the node whose
    children are counted. This runs for each definition of a project.
    """
    path: list[str] = []
    for node in (*match.get("receiver", ()), *match.get("name", ())[:1]):
        name = _words(text, node)
        path += (name,) if name.isidentifier() else split_symbol(without_arguments(name))
    if "title" in match:
        path.append(_words(text, match["title"][0]))
    first, last = nodes[0], nodes[-1]
    start, end = first.start_byte, last.end_byte
    inside = (*match.get("body", ()), *match.get("body.first", ()), *match.get("members", ()))
    if inside:
        header_end = min([node.start_byte for node in inside])
    else:
        header_end = max([node.end_byte for node in match.get("header", ())], default=end)
    first_line = first.start_point.row + 1
    end_row, end_column = last.end_point
    last_line = max(first_line, end_row + (end_column > 0))
    may_have_remarks = (
        first_line < last_line
        and header_end < end
        and _COMMENT_MARK.search(text, last.start_byte, header_end)
    )
    return Definition(
        kind,
        tuple(path),
        start,
        end,
        header_end,
        depth=0,
        first_line=first_line,
        last_line=last_line,
        level=_level(match),
        items=_items(match["items"][0]) if "items" in match else None,
        remarks=tuple(_remarks(last, header_end)) if may_have_remarks else (),
        aliases=tuple([_words(text, node) for node in match.get("alias", ())]),
    )


def _level(match: dict[str, list[Node]]) -> int:
    for name in match:
        if name.startswith(_LEVEL):
            return int(name.removeprefix(_LEVEL))
    return 0


def _remarks(node: Node, end: int) -> Iterator[tuple[int, int]]:
    """Yield where comments stand in ``node`` before the byte ``end``, in order."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type.endswith("comment"):
            yield node.start_byte, node.end_byte
        else:
            stack += reversed(
                list(takewhile(lambda child: child.start_byte < end, node.named_children))
            )


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


def _add(definitions: dict[int, Definition], new: Definition) -> None:
    """Keep one definition per signature: the widest, which has the decorators; of two as wide, the one with a name.

    Names that are declared together, as in ``int *f(int), g(int);``, are one definition with aliases.
    """
    known = definitions.get(new.header_end)
    if known is None or (new.start, not new.path) < (known.start, not known.path):
        definitions[new.header_end] = new
    elif (new.kind, new.start, new.end) == (
        known.kind,
        known.start,
        known.end,
    ) and new.path != known.path:
        aliases = dict.fromkeys((*known.aliases, *new.path[-1:], *new.aliases))
        others = tuple(name for name in aliases if name not in known.path)
        definitions[new.header_end] = replace(known, aliases=others)


def _words(text: bytes, node: Node) -> str:
    """Return a node's text with one blank for each run of white space."""
    words = text[node.start_byte : node.end_byte].decode(errors="surrogatepass")
    return words if words.isidentifier() else " ".join(words.split())
