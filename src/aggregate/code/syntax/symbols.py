"""From a source text to what it defines, by its language's query."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace

from tree_sitter import Node

from aggregate.code.syntax.compiled_queries import prepare_query
from aggregate.code.syntax.deadline import Deadline
from aggregate.code.syntax.definition_captures import TEXTS, DefinitionCaptures
from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.embedded import EmbeddedCaptures, with_embedded
from aggregate.code.syntax.languages import Language
from aggregate.code.syntax.nesting import nest, with_sections
from aggregate.code.syntax.parsing import (
    macros_by_end,
    parse_source,
    query_matches,
    without_macros,
)
from aggregate.code.syntax.shared_parse import computed_once, is_shared, shared_parse
from aggregate.code.syntax.symbol_names import split_symbol

_NOTICE = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved", re.IGNORECASE)
_NOTICE_WITHIN = 400
"""Characters of a comment in which a notice says what it is; a text that documents a file may name a licence later."""
_NAMING = {"definition", "level", "name", "title", "alias", "receiver", "items"}
_OF_DEFINITIONS = frozenset(
    {*_NAMING, "body", "body.first", "body.until", "members", "header", "keep", "embedded"}
)
_OF_THE_FILE = frozenset({"doc.module", "doc.leading", *TEXTS})


def read_module(text: str, language: Language) -> Module:
    """Parse ``text`` and return what it defines; a syntax error costs only what stands in it.

    Raises:
        DeadlineError: It takes far longer than any program of this size does.
    """
    return computed_once(
        ("module", language.name, text),
        lambda: _read(text, language, _OF_DEFINITIONS | _OF_THE_FILE),
    )


def read_definitions(text: str, language: Language) -> Module:
    """Return what ``read_module`` does, which is quicker where nothing but the definitions is wanted.

    Where there are definitions, imports, constants, documentation and package may be left out.

    Raises:
        DeadlineError: As ``read_module``.
    """
    if is_shared():  # another view may want all, and reading that costs less than reading twice
        return read_module(text, language)
    with shared_parse():
        module = _read(text, language, _OF_DEFINITIONS)
        return module if module.definitions else _read(text, language, _OF_THE_FILE)


def _read(text: str, language: Language, wanted: frozenset[str]) -> Module:
    source = text.encode(errors="surrogatepass")
    prepare_query(language, wanted)
    module, embedded = _read_own(source, language, wanted, Deadline(len(source)))
    blocks = embedded.blocks()
    if not blocks:
        return module
    for block in blocks:
        prepare_query(block.language, wanted)
    # All of them together have as long as one text of their size.
    deadline = Deadline(sum(block.end - block.start for block in blocks))
    return with_embedded(
        module, blocks, lambda part, inner: _read_own(part, inner, wanted, deadline)[0]
    )


def _read_own(
    source: bytes, language: Language, wanted: frozenset[str], deadline: Deadline
) -> tuple[Module, EmbeddedCaptures]:
    """Return what a text defines, and its parts in other languages, which are not read yet."""
    macros = macros_by_end(source, language)
    parsed = without_macros(source, macros)
    tree = parse_source(parsed, language, {}, deadline=deadline)
    captured = DefinitionCaptures(parsed)
    for match in query_matches(tree, language, wanted, deadline):
        captured.add(match)
    found = list(captured.definitions.values())
    if macros:
        conditions = sorted(
            (start, end) for end, start in macros.items() if source.startswith(b"#", start)
        )
        found = [
            _without_conditions(_with_macros(each, source, macros), conditions) for each in found
        ]
    found.sort(key=lambda definition: (definition.start, -definition.end, definition.header_end))
    definitions = nest(with_sections(found, source), sorted(captured.bodies - captured.kept))
    texts = captured.texts
    module = Module(
        source,
        definitions,
        imports=_once(texts["import"]),
        constants=_once(_outside(texts["constant"], definitions) | texts["constant.member"]),
        doc=_doc(captured.docs, source, parsed),
        package=tuple(name for text in texts["package"].values() for name in split_symbol(text)),
    )
    return module, captured.embedded


def _with_macros(definition: Definition, source: bytes, macros: dict[int, int]) -> Definition:
    """Return a definition that begins with the macros directly before it on its line."""
    start = definition.start
    while (macro := macros.get(_end_before(source, start))) is not None:
        start = macro
    return definition if start == definition.start else replace(definition, start=start)


def _without_conditions(definition: Definition, conditions: list[tuple[int, int]]) -> Definition:
    """Return a definition whose signature lacks the ``conditions`` in it, as it lacks comments."""
    first = bisect_left(conditions, (definition.start, 0))
    inside = conditions[first : bisect_left(conditions, (definition.header_end, 0))]
    if not inside:
        return definition
    remarks = [
        remark
        for remark in definition.remarks
        if not any(start <= remark[0] < end for start, end in inside)
    ]
    return replace(definition, remarks=tuple(sorted([*remarks, *inside])))


def _end_before(source: bytes, position: int) -> int:
    """Return where the last byte before ``position`` on its line that is no white space ends."""
    while position and source[position - 1] in b" \t":
        position -= 1
    return position


def _doc(docs: dict[int, Node], source: bytes, parsed: bytes) -> str:
    """Return the first run of touching comments, or what else documents the file, that is no notice of copyright."""
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


def _outside(texts: dict[int, str], definitions: tuple[Definition, ...]) -> dict[int, str]:
    """Return those texts that stand in no definition."""
    ends = {definition.start: definition.end for definition in definitions if not definition.depth}
    starts = sorted(ends)
    outside: dict[int, str] = {}
    for position, text in texts.items():
        index = bisect_right(starts, position)
        if not index or ends[starts[index - 1]] <= position:
            outside[position] = text
    return outside


def _once(texts: dict[int, str]) -> tuple[str, ...]:
    """Return the texts in order of their places, each once."""
    return tuple(dict.fromkeys(text for _, text in sorted(texts.items())))
