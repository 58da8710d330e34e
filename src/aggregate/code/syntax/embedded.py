"""Parts of a file that are written in another language: scripts and styles in markup.

A query names them by captures: ``@embedded.<language>`` for such a part, and in the same match ``@embedded.tag`` for
the tag before it, of which an attribute may name another language. A part is read by itself, so that an error in it
costs nothing else, and one level deep.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tree_sitter import Node

from aggregate.base.errors import DeadlineError
from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.languages import Language, LanguageKind, language_named
from aggregate.code.syntax.parsing import Deadline, query_of

_Read = TypeVar("_Read")
_CAPTURES = "embedded."
_TAG = "embedded.tag"
_ATTRIBUTES = tuple(
    re.compile(rb"""\s(?i:%s)\s*+=\s*+["']?([^\s"'>]+)""" % name) for name in (b"lang", b"type")
)
_TAG_BYTES = 2_000
# What attributes call a language, alone or behind ``text/`` and the like; others, such as those of templates, have no
# grammar here.
_LANGUAGES = {
    "css": "css", "importmap": "json", "postcss": "css", "speculationrules": "json",
    "ts": "typescript", "tsx": "tsx", "typescript": "typescript",
    **dict.fromkeys(("babel", "ecmascript", "javascript", "js", "jsx", "module"), "javascript"),
}  # fmt: skip
# Parts of one file that are read: pages have a few, and an outline of markup has as many rows.
_MOST_BLOCKS = 500


@dataclass(frozen=True, slots=True)
class Block:
    """A run of bytes in another language."""

    start: int
    end: int
    language: Language


@dataclass(slots=True)
class EmbeddedCaptures:
    """What a query found of embedded languages: their names, by first byte and end."""

    names: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, captured: Mapping[str, list[Node]]) -> None:
        tags = captured.get(_TAG)
        if not tags:
            return
        # ``""`` is a language without a grammar, ``None`` that the tag names none.
        named: str | None = None
        text = (tags[0].text or b"")[:_TAG_BYTES]
        if match := next(filter(None, (attribute.search(text) for attribute in _ATTRIBUTES)), None):
            value = match[1].decode(errors="replace").lower().rpartition("/")[2]
            named = _LANGUAGES.get(value, "json" if value.endswith("json") else "")
        for capture, nodes in captured.items():
            if capture.startswith(_CAPTURES) and capture != _TAG:
                name = capture.removeprefix(_CAPTURES) if named is None else named
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
    """Yield the parts with what is read of each; one that takes too long is left out."""
    for block in blocks:
        query_of(block.language, wanted)  # compiling it is not to take a text's time
    # All of them together have as long as one text of their size.
    deadline = Deadline(times * sum(block.end - block.start for block in blocks))
    for block in blocks:
        try:
            found = read(source[block.start : block.end], block.language, deadline)
        except DeadlineError:
            continue
        yield block, found


def with_embedded(module: Module, parts: Iterable[tuple[Block, Module]]) -> Module:
    """Return a module with what its parts define, inside the definitions of which they are the content."""
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
        imports=tuple(dict.fromkeys(text for each in modules for text in each.imports)),
        constants=tuple(dict.fromkeys(text for each in modules for text in each.constants)),
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
