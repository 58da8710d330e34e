"""Code embedded in a file: scripts and styles in markup.

A query captures an embedded part as ``@embedded.<language>``, and in the same match as ``@embedded.tag`` the tag
before the part, whose attributes may name another language. Each part is parsed separately, so that syntax errors in
the part do not affect the rest of the file. Parts within parts are not parsed.
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
