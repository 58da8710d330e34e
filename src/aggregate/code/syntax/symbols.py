"""Read a text's definitions, and code embedded in it, by the query of its language.

A query captures a part in another language as ``@embedded.<language>``, and in the same match as ``@embedded.tag``
the tag before the part, whose attributes may name another language. Each part is parsed separately, so that its syntax
errors do not affect the rest of the file. Parts within parts are not parsed.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tree_sitter import Node

from aggregate.base.errors import DeadlineError
from aggregate.code.syntax import parsing
from aggregate.code.syntax.definitions import (
    Definition,
    Module,
    nest,
    split_symbol,
    with_sections,
    without_arguments,
)
from aggregate.code.syntax.languages import Language, LanguageKind, language_named
from aggregate.code.syntax.parsing import Deadline, query_of

_Read = TypeVar("_Read")
_CAPTURES = "embedded."
_TAG = "embedded.tag"
_ATTRIBUTES = tuple(
    re.compile(rb"""\s(?i:%s)\s*+=\s*+["']?([^\s"'>]+)""" % name) for name in (b"lang", b"type")
)
_TAG_BYTES = 2_000
# Languages by attribute value, alone or after ``text/`` and the like; others, such as template languages, have no
# grammar here.
_LANGUAGES = {
    "css": "css", "importmap": "json", "postcss": "css", "speculationrules": "json",
    "ts": "typescript", "tsx": "tsx", "typescript": "typescript",
    **dict.fromkeys(("babel", "ecmascript", "javascript", "js", "jsx", "module"), "javascript"),
}  # fmt: skip
# Most parts read of a file: pages have a few, and each is a row of the outline.
_MOST_BLOCKS = 500


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a file in another language, as a range of bytes."""

    start: int
    end: int
    language: Language


@dataclass(slots=True)
class EmbeddedCaptures:
    """Embedded languages captured by a query, by first byte and end."""

    names: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, captured: Mapping[str, list[Node]]) -> None:
        tags = captured.get(_TAG)
        if not tags:
            return
        # ``""`` is a language without a grammar, ``None`` a tag without a language.
        language: str | None = None
        text = (tags[0].text or b"")[:_TAG_BYTES]
        if match := next(filter(None, (attribute.search(text) for attribute in _ATTRIBUTES)), None):
            value = match[1].decode(errors="replace").lower().rpartition("/")[2]
            language = _LANGUAGES.get(value, "json" if value.endswith("json") else "")
        for capture, nodes in captured.items():
            if capture.startswith(_CAPTURES) and capture != _TAG:
                name = capture.removeprefix(_CAPTURES) if language is None else language
                self.names.update(((node.start_byte, node.end_byte), name) for node in nodes)

    def blocks(self) -> list[Block]:
        places = sorted(self.names)[:_MOST_BLOCKS]
        languages = ((place, language_named(self.names[place])) for place in places)
        return [Block(*place, language) for place, language in languages if language]


def read_blocks(
    source: bytes,
    blocks: Sequence[Block],
    read: Callable[[bytes, Language, Deadline], _Read],
    *,
    wanted: frozenset[str],
    times: int = 1,
) -> Iterator[tuple[Block, _Read]]:
    """Yield the embedded parts, each with its result of ``read``.

    Parts that take too long are skipped.
    """
    for block in blocks:
        query_of(block.language, wanted)  # compile it before the deadline starts
    # All parts together get the time of one text of their size.
    deadline = Deadline(times * sum(block.end - block.start for block in blocks))
    for block in blocks:
        try:
            result = read(source[block.start : block.end], block.language, deadline)
        except DeadlineError:
            continue
        yield block, result


def with_embedded(module: Module, parts: Iterable[tuple[Block, Module]]) -> Module:
    """Insert the definitions of embedded parts into the surrounding ones."""
    inner = {block.start: (block, part) for block, part in parts}
    definitions: list[Definition] = []
    for definition in module.definitions:
        definitions.append(definition)
        if definition.header_end in inner:
            block, part = inner[definition.header_end]
            definitions += _moved(part.definitions, definition, block, module.source)
    modules = [module, *(part for _, part in inner.values())]
    return replace(
        module,
        definitions=tuple(definitions),
        imports=tuple(dict.fromkeys(text for m in modules for text in m.imports)),
        constants=tuple(dict.fromkeys(text for m in modules for text in m.constants)),
    )


def _moved(
    definitions: Iterable[Definition], outer: Definition, block: Block, source: bytes
) -> Iterator[Definition]:
    by = block.start
    lines = outer.first_line - 1 + source.count(b"\n", outer.start, block.start)
    for definition in definitions:
        yield definition._replace(
            path=outer.path + definition.path,
            start=definition.start + by,
            end=definition.end + by,
            header_end=definition.header_end + by,
            depth=definition.depth + outer.depth + 1,
            first_line=definition.first_line + lines,
            last_line=definition.last_line + lines,
            remarks=tuple((start + by, end + by) for start, end in definition.remarks),
            is_embedded_code=block.language.kind is LanguageKind.CODE,
        )


_DEFINITION = "definition."
_LEVEL = "level."
# Larger lists and mappings count their comments too; separating these takes longer than the rest of the view.
_MOST_ITEMS_READ = 10_000
# Comments at the beginning of a file to search for its documentation; licence notices have dozens.
_MOST_COMMENTS = 1_000
# Comment marks of all languages, fixed columns included: a signature without one has no comments.
_COMMENT_MARK = re.compile(rb"[#%;!'\"]|//|/\*|--|\(\*|\{-|<!|^[cC*=]", re.MULTILINE)
TEXTS = ("import", "constant", "constant.member", "package")


@dataclass(slots=True)
class DefinitionCaptures:
    """The captures of a query that describe a definition."""

    text: bytes
    is_damaged: bool
    # By the end of their signature, which several patterns may match; the others by first byte.
    definitions: dict[int, Definition] = field(default_factory=dict)
    texts: dict[str, dict[int, str]] = field(default_factory=lambda: {name: {} for name in TEXTS})
    docs: dict[int, Node] = field(default_factory=dict)
    bodies: set[tuple[int, int]] = field(default_factory=set)
    exempt: set[tuple[int, int]] = field(default_factory=set)
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)

    def add(self, match: dict[str, list[Node]]) -> None:
        self.embedded.add(match)
        self.bodies.update(parsing.body_spans(self.text, match, is_damaged=self.is_damaged))
        for capture, nodes in match.items():
            if capture.startswith(_DEFINITION):
                kind = capture.removeprefix(_DEFINITION)
                _add(self.definitions, _definition(kind, nodes, match, self.text))
            elif capture == "keep":
                for node in nodes:
                    start = node.start_byte
                    self.exempt.add((start, parsing.trimmed_end(self.text, start, node.end_byte)))
            elif capture in self.texts:
                for node in nodes:
                    self.texts[capture][node.start_byte] = _words(self.text, node)
            elif capture == "doc.module":
                self.docs[nodes[0].start_byte] = nodes[0]
            elif capture == "doc.leading":
                self.docs.update((comment.start_byte, comment) for comment in _run_of(nodes[0]))


def _definition(
    kind: str, nodes: list[Node], match: dict[str, list[Node]], text: bytes
) -> Definition:
    """Return the definition that a match describes, not yet within outer definitions."""
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
    remarks = tuple(_remarks(last, header_end)) if may_have_remarks else ()
    levels = [int(name.removeprefix(_LEVEL)) for name in match if name.startswith(_LEVEL)]
    items = _items(match["items"][0]) if "items" in match else None
    aliases = tuple([_words(text, node) for node in match.get("alias", ())])
    level = levels[0] if levels else 0
    place = (start, end, header_end, 0, first_line, last_line)
    return Definition(kind, tuple(path), *place, level, items, remarks, aliases)


def _remarks(node: Node, end: int) -> Iterator[tuple[int, int]]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type.endswith("comment"):
            yield node.start_byte, node.end_byte
        else:
            stack += [child for child in node.named_children[::-1] if child.start_byte < end]


def _run_of(first: Node) -> Iterator[Node]:
    # The query ``(comment)+`` takes quadratic time.
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
    # Exclude comments only where that is quick.
    if node.named_child_count > _MOST_ITEMS_READ:
        return node.named_child_count
    return sum(not child.is_extra and not child.is_error for child in node.named_children)


def _add(definitions: dict[int, Definition], new: Definition) -> None:
    # One definition per signature: the widest, which has the decorators; of equally wide ones the one with a name.
    # Names declared together, as in ``int *f(int), g(int);``, are one definition with aliases.
    previous = definitions.get(new.header_end)
    if previous is None or (new.start, not new.path) < (previous.start, not previous.path):
        definitions[new.header_end] = new
    elif new[2:4] == previous[2:4] and new.kind == previous.kind and new.path != previous.path:
        aliases = dict.fromkeys((*previous.aliases, *new.path[-1:], *new.aliases))
        others = tuple(name for name in aliases if name not in previous.path)
        definitions[new.header_end] = previous._replace(aliases=others)


def _words(text: bytes, node: Node) -> str:
    words = text[node.start_byte : node.end_byte].decode(errors="surrogatepass")
    return words if words.isidentifier() else " ".join(words.split())


_NOTICE = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved", re.IGNORECASE)
# Characters searched for a copyright notice; documentation may mention a licence later.
_NOTICE_WITHIN = 400
_NAMING = {"definition", "level", "name", "title", "alias", "receiver", "items"}
_OF_DEFINITIONS = frozenset(
    {*_NAMING, "body", "body.first", "body.until", "members", "header", "keep", "embedded"}
)
_OF_THE_FILE = frozenset({"doc.module", "doc.leading", *TEXTS})


def read_module(text: str, language: Language) -> Module:
    """Return the definitions of a text; syntax errors only affect the code around them."""
    return parsing.computed_once(
        ("module", language.name, text),
        lambda: _read(text, language, _OF_DEFINITIONS | _OF_THE_FILE),
    )


def read_definitions(text: str, language: Language) -> Module:
    """Return a text's definitions without imports, constants and documentation, faster than ``read_module``."""
    return _read(text, language, _OF_DEFINITIONS)


def _read(text: str, language: Language, wanted: frozenset[str]) -> Module:
    source = text.encode(errors="surrogatepass")
    parsing.query_of(language, wanted)  # compile it before the deadline starts
    module, embedded = _read_own(source, language, wanted, parsing.Deadline(len(source)))
    blocks = embedded.blocks()
    if not blocks:
        return module
    parts = read_blocks(
        source,
        blocks,
        lambda part, inner, deadline: _read_own(part, inner, wanted, deadline)[0],
        wanted=wanted,
    )
    return with_embedded(module, parts)


def _read_own(
    source: bytes, language: Language, wanted: frozenset[str], deadline: parsing.Deadline
) -> tuple[Module, EmbeddedCaptures]:
    macros = parsing.macros_by_end(source, language)
    parsed = parsing.without_macros(source, macros)
    tree = parsing.parse_source(source, language, macros, deadline=deadline)
    captured = DefinitionCaptures(parsed, tree.root_node.has_error)
    for match in parsing.query_matches(tree, language, wanted, deadline):
        captured.add(match)
    items = list(captured.definitions.values())
    if macros:
        conditions = sorted(
            (start, end) for end, start in macros.items() if source.startswith(b"#", start)
        )
        items = [_without_macros(item, source, macros, conditions) for item in items]
    items.sort(key=lambda definition: (definition.start, -definition.end, definition.header_end))
    definitions = nest(with_sections(items, source), sorted(captured.bodies - captured.exempt))
    texts = captured.texts
    # Definitions at the top in order, behind one without bytes.
    starts, ends = zip((0, 0), *(d[2:4] for d in definitions if not d.depth), strict=True)
    constants = texts["constant"].items()
    outside = {at: text for at, text in constants if ends[bisect_right(starts, at) - 1] <= at}
    module = Module(
        source,
        definitions,
        imports=_once(texts["import"]),
        constants=_once(outside | texts["constant.member"]),
        doc=_doc(captured.docs, source, parsed),
        package=tuple(name for text in texts["package"].values() for name in split_symbol(text)),
    )
    return module, captured.embedded


def _without_macros(
    definition: Definition, source: bytes, macros: dict[int, int], conditions: list[tuple[int, int]]
) -> Definition:
    start = definition.start
    while (macro := macros.get(_end_before(source, start))) is not None:
        start = macro
    inside = conditions[
        bisect_left(conditions, (start, 0)) : bisect_left(conditions, (definition.header_end, 0))
    ]
    remarks = [*inside]
    for remark in definition.remarks:
        if not any(first <= remark[0] < last for first, last in inside):
            remarks.append(remark)
    return definition._replace(start=start, remarks=tuple(sorted(remarks)))


def _end_before(source: bytes, position: int) -> int:
    while position and source[position - 1] in b" \t":
        position -= 1
    return position


def _doc(docs: dict[int, Node], source: bytes, parsed: bytes) -> str:
    # The first run of adjacent comments without a copyright notice.
    runs: list[list[str]] = []
    row = -2
    for start, node in sorted(docs.items()):
        if not start and source.startswith(b"#!"):
            continue
        if not runs or node.start_point.row > row + 1:
            runs.append([])
        text = parsed[start : node.end_byte].decode(errors="surrogatepass").rstrip()
        runs[-1].append(text)
        row = node.start_point.row + text.count("\n")
    texts = ["\n".join(run) for run in runs]
    return next((text for text in texts if not _NOTICE.search(text[:_NOTICE_WITHIN])), "")


def _once(texts: dict[int, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for _, text in sorted(texts.items())))
