"""The symbols that the user picked, in full or by signature."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.definitions import Definition, Module
from aggregate.syntax.languages import language_of
from aggregate.syntax.symbol_names import split_symbol
from aggregate.syntax.symbols import read_module
from aggregate.views.enclosing import Piece, footer, gap, opened
from aggregate.views.skeleton import skeleton


@dataclass(slots=True)
class _MaskedBlock:
    """A definition in the view.

    Attributes:
        text: Its lines, without what stands inside.
        definition: Where it is in the file.
        inside: The members shown below a container's header.
    """

    text: str
    definition: Definition
    inside: list["_MaskedBlock"] = field(default_factory=list)


def masked(request: ViewRequest) -> View:
    """Return the picked definitions and signatures, in the mask's order, parted by a blank line (rules M-35, M-X15).

    A symbol is a name or a path of names (``Class.method``, ``ns::Class::method``) and stands for all its overloads.
    ``def`` shows a definition whole, ``sig`` its signature, ``hide`` nothing; a symbol that does not exist leaves a
    visible error line. A member stands in what it is a member of: below its header and above the line that closes it,
    with a mark wherever something of it is left out. Members of one container share it, at the place of the first of
    them. An empty mask means the skeleton.
    """
    if not request.mask:
        return skeleton(request)
    language = language_of(request.path, request.text)
    module = read_module(request.text, language) if language else None
    lines: list[str] = []
    spans: list[Span] = []
    blocks = _blocks(request.mask, module, request.path)
    for piece in _pieces(blocks, module, language.elision if language else ""):
        text = piece.text.split("\n")
        if piece.first_line:
            first, last = piece.first_line, piece.first_line + len(text) - 1
            spans.append(Span(len(lines) + 1, len(lines) + len(text), first, last))
        lines += text
    problems = [block.text for block in blocks if isinstance(block, Piece)]
    return View("\n".join(lines), tuple(spans), language.fence if language else "text", tuple(problems))


def _pieces(blocks: Sequence[_MaskedBlock | Piece], module: Module | None, mark: str) -> list[Piece]:
    """Return the lines of the view in order; containers may be nested as deep as they like."""
    pieces: list[Piece] = []
    waiting: list[_MaskedBlock | Piece] = [part for block in reversed(blocks) for part in (block, Piece(""))][:-1]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Piece):
            pieces.append(part)
            continue
        pieces.append(Piece(part.text, part.definition.first_line))
        if part.inside and module:
            waiting += reversed(_body(part, module, mark))
    return pieces


def _body(block: _MaskedBlock, module: Module, mark: str) -> list[_MaskedBlock | Piece]:
    """Return what stands below a container's header: its members, marks between them, and the line that closes it."""
    parts: list[_MaskedBlock | Piece] = []
    container = block.definition
    position, indent = opened(module, container).end, ""
    for inner in block.inside:
        member = inner.definition
        indent = inner.text[: len(inner.text) - len(inner.text.lstrip(" \t"))]
        parts += gap(module, position, member.start, f"{indent}{mark}", is_first=not parts)
        parts.append(inner)
        position = member.end
    return [*parts, *footer(module, container, position, f"{indent}{mark}")]


def _blocks(mask: Mapping[str, str], module: Module | None, path: str) -> list[_MaskedBlock | Piece]:
    """Return the blocks of the view, members inside the blocks of their containers, and messages between them."""
    blocks: list[_MaskedBlock | Piece] = []
    containers = _containers(module) if module else {}
    headers: dict[Definition, _MaskedBlock] = {}
    named = _by_name(module.definitions) if module else {}
    for symbol, shown in mask.items():
        found = _find(module, symbol, named) if module else []
        if module is None or not found:
            blocks.append(Piece(f"ERROR: symbol not found: {symbol} in {path}"))
        elif shown not in ("def", "sig", "hide"):
            blocks.append(Piece(f'ERROR: unknown mask "{shown}" for {symbol} in {path}: use def, sig or hide'))
        elif shown != "hide":
            for one in found:
                text = module.whole(one).rstrip() if shown == "def" else module.header(one)
                outermost = _put(module, _MaskedBlock(text, one), containers, headers)
                blocks += [outermost] if outermost else []
    return blocks


def _containers(module: Module) -> dict[Definition, Definition]:
    """Return what each definition stands in directly."""
    containers: dict[Definition, Definition] = {}
    around: list[Definition] = []
    for one in module.definitions:
        del around[one.depth :]
        if around:
            containers[one] = around[-1]
        around.append(one)
    return containers


def _put(
    module: Module,
    block: _MaskedBlock,
    containers: Mapping[Definition, Definition],
    headers: dict[Definition, _MaskedBlock],
) -> _MaskedBlock | None:
    """Put a block into that of its container, made in ``headers``; return the outermost one that is new."""
    container = containers.get(block.definition)
    while container is not None:
        if container in headers:
            headers[container].inside.append(block)
            return None
        block = headers[container] = _MaskedBlock(opened(module, container).text, container, [block])
        container = containers.get(container)
    return block


def find_symbol(module: Module, symbol: str) -> list[Definition]:
    """Return the definitions that ``symbol`` names, in order of the file: overloads and re-openings are all meant.

    A symbol is one name as it stands in the file, or a path of names of which the first ones may be left out; it may
    begin with the file's package. The name of a class does not mean its constructors too.
    """
    return _find(module, symbol, _by_name(module.definitions))


def _by_name(definitions: Iterable[Definition]) -> Mapping[str, list[Definition]]:
    """Return the definitions by their own names and aliases, so that a long mask is not searched again and again."""
    named: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in definitions:
        for name in dict.fromkeys((*one.path[-1:], *one.aliases)):
            named[name].append(one)
    return named


def _find(module: Module, symbol: str, named: Mapping[str, list[Definition]]) -> list[Definition]:
    parts = split_symbol(symbol)
    candidates = dict.fromkeys(one for name in {symbol, *parts[-1:]} for one in named.get(name, ()))
    found = [one for one in candidates if one.path[-1:] == (symbol,) or _is_named(one, parts, module.package)]
    paths = {one.path for one in found}
    return sorted((one for one in found if one.path[:-1] not in paths), key=lambda one: (one.start, one.depth))


def _is_named(one: Definition, parts: tuple[str, ...], package: tuple[str, ...]) -> bool:
    """Return whether ``parts`` are the last names of a definition's path, by its own name or an alias."""
    outer = package + one.path[:-1]
    return any((*outer, name)[-len(parts) :] == parts for name in (*one.path[-1:], *one.aliases))
