"""The picked definitions, inside their classes and modules."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import heading_text
from aggregate.code.syntax import Definition, Module, language_of, read_module
from aggregate.code.syntax.definitions import split_symbol
from aggregate.code.views.outline import skeleton

_OPENING = re.compile(rb"\s*\{")
_NOTHING = b" \t\r\n;,:"
_BEHIND = re.compile(rb"[ \t]*[;,]")
_END = re.compile(rb"(?<![^\s;])end\Z")


class Piece(NamedTuple):
    """Consecutive lines of a view."""

    text: str
    first_line: int = 0


def opened(module: Module, container: Definition) -> tuple[str, int]:
    brace = _OPENING.match(module.source, container.header_end, container.end)
    if brace is None:
        return module.header(container), container.header_end
    return module.text(module.line_start(container.start), brace.end()), brace.end()


def gap(module: Module, position: int, start: int, mark: str, *, is_first: bool) -> list[Piece]:
    """Return the lines between two shown members.

    If lines are omitted, the result is a mark, else a blank line if the file has one.
    """
    between = module.source[position:start]
    if start < position or between.strip(_NOTHING):
        return [Piece(mark)]
    return [Piece("")] if between.count(b"\n") > 1 and not is_first else []


def footer(module: Module, container: Definition, position: int, mark: str) -> list[Piece]:
    """Return the end of a container: a line for omitted lines, and the closing line."""
    rest = module.source[position : container.end]
    closing = -1
    if _OPENING.match(module.source, container.header_end, container.end):
        closing = rest.rfind(b"}")
    if closing < 0 and (word := _END.search(rest)):
        closing = word.start()
    if closing < 0:
        return [Piece(mark)] if rest.strip(_NOTHING) else []
    left_out = [Piece(mark)] if rest[:closing].strip(_NOTHING) else []
    start = position + closing
    behind = _BEHIND.match(module.source, container.end)
    text = module.text(module.line_start(start), behind.end() if behind else container.end)
    line = container.last_line - module.source.count(b"\n", start, container.end)
    return [*left_out, Piece(text.partition("\n")[0].rstrip(), line)]


@dataclass(slots=True)
class _MaskedBlock:
    text: str
    definition: Definition
    inside: list["_MaskedBlock"] = field(default_factory=list)


def masked(request: ViewRequest, module: Module | None = None) -> View:
    """Return the picked definitions in the mask's order (rules M-35, M-X15).

    A symbol is a name or a path of names (``Class.method``, ``ns::Class::method``) and selects all its overloads.
    ``def`` shows a definition whole, ``sig`` its signature, ``hide`` nothing; an unknown symbol leaves an error line.
    Members are shown between the header and the closing line of their container, with marks for omitted parts. Members
    of one container share it, where the first of them is. An empty mask shows the skeleton.
    """
    if not request.mask:
        return skeleton(request)
    language = language_of(request.path, request.text)
    if module is None:
        module = read_module(request.text, language) if language else Module(b"", (), (), (), "")
    blocks = _blocks(request.mask, module, request.path)
    lines: list[str] = []
    spans: list[Span] = []
    for piece in _pieces(blocks, module, language.elision if language else ""):
        new_lines = piece.text.split("\n")
        if piece.first_line:
            last_line = piece.first_line + len(new_lines) - 1
            spans.append(
                Span(len(lines) + 1, len(lines) + len(new_lines), piece.first_line, last_line)
            )
        lines += new_lines
    problems = [block.text for block in blocks if isinstance(block, Piece)]
    return View(
        "\n".join(lines), tuple(spans), language.fence if language else "text", tuple(problems)
    )


def _pieces(blocks: Sequence[_MaskedBlock | Piece], module: Module, mark: str) -> list[Piece]:
    # Not recursive: containers may be nested to any depth.
    pieces: list[Piece] = []
    waiting: list[_MaskedBlock | Piece] = []  # in reverse order
    for block in reversed(blocks):
        if waiting:
            waiting.append(Piece(""))
        waiting.append(block)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Piece):
            pieces.append(part)
            continue
        container = part.definition
        pieces.append(Piece(part.text, container.first_line))
        if not part.inside:
            continue
        body: list[_MaskedBlock | Piece] = []
        _, position = opened(module, container)
        indent = ""
        for inner in part.inside:
            member = inner.definition
            indent = inner.text[: len(inner.text) - len(inner.text.lstrip(" \t"))]
            body += gap(module, position, member.start, f"{indent}{mark}", is_first=not body)
            body.append(inner)
            position = member.end
        waiting += reversed([*body, *footer(module, container, position, f"{indent}{mark}")])
    return pieces


def _blocks(mask: Mapping[str, str], module: Module, path: str) -> list[_MaskedBlock | Piece]:
    blocks: list[_MaskedBlock | Piece] = []
    containers: dict[Definition, Definition] = {}
    around: list[Definition] = []
    for definition in module.definitions:
        del around[definition.depth :]
        if around:
            containers[definition] = around[-1]
        around.append(definition)
    headers: dict[Definition, _MaskedBlock] = {}
    by_name = _by_name(module.definitions)
    for symbol, extent in mask.items():
        definitions = _find(module, symbol, by_name)
        problem = ""
        if not definitions:
            problem = f"symbol not found: {symbol} in {path}"
        elif extent not in ("def", "sig", "hide"):
            problem = f'unknown mask "{extent}" for {symbol} in {path}: use def, sig or hide'
        if problem:  # file names may hold any characters
            blocks.append(Piece(heading_text(f"ERROR: {problem}")))
        for definition in () if problem or extent == "hide" else definitions:
            is_whole = extent == "def"
            text = module.whole(definition).rstrip() if is_whole else module.header(definition)
            outermost = _put(module, _MaskedBlock(text, definition), containers, headers)
            if outermost:
                blocks.append(outermost)
    return blocks


def _put(
    module: Module,
    block: _MaskedBlock,
    containers: Mapping[Definition, Definition],
    headers: dict[Definition, _MaskedBlock],
) -> _MaskedBlock | None:
    # Add the block to its container, and return the outermost container if it is new.
    container = containers.get(block.definition)
    while container is not None:
        if container in headers:
            headers[container].inside.append(block)
            return None
        block = headers[container] = _MaskedBlock(opened(module, container)[0], container, [block])
        container = containers.get(container)
    return block


def find_symbol(module: Module, symbol: str) -> list[Definition]:
    """Return all definitions with the name ``symbol``, in the order of the file."""
    return _find(module, symbol, _by_name(module.definitions))


def _by_name(definitions: Iterable[Definition]) -> Mapping[str, list[Definition]]:
    # Built once: masks may be long.
    by_name: defaultdict[str, list[Definition]] = defaultdict(list)
    for definition in definitions:
        for name in dict.fromkeys((*definition.path[-1:], *definition.aliases)):
            by_name[name].append(definition)
    return by_name


def _find(module: Module, symbol: str, by_name: Mapping[str, list[Definition]]) -> list[Definition]:
    parts = split_symbol(symbol)
    keys = (symbol, *parts[-1:])
    candidates = dict.fromkeys(definition for name in keys for definition in by_name.get(name, ()))
    matches: list[Definition] = []
    for definition in candidates:
        outside = module.package + definition.path[:-1]
        names = (*definition.path[-1:], *definition.aliases)
        is_match = any((*outside, name)[-len(parts) :] == parts for name in names)
        if is_match or definition.path[-1:] == (symbol,):
            matches.append(definition)
    paths = {definition.path for definition in matches}
    outer = (definition for definition in matches if definition.path[:-1] not in paths)
    return sorted(outer, key=lambda definition: (definition.start, definition.depth))
