"""The symbols that the user picked, in full or by signature."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.definitions import Definition, Module
from aggregate.syntax.languages import language_of
from aggregate.syntax.symbol_names import split_symbol
from aggregate.syntax.symbols import read_module
from aggregate.views.skeleton import skeleton

_LEFT_OUT = "..."


@dataclass(slots=True)
class _MaskedBlock:
    """A piece of the view.

    Attributes:
        text: Its lines, without what stands inside.
        lines: The lines of the file behind it; ``None`` for a message.
        left_out: The mark for what stands between a container's header and the first member shown, if anything.
        inside: The members shown below a container's header.
    """

    text: str
    lines: tuple[int, int] | None = None
    left_out: str = ""
    inside: list["_MaskedBlock"] = field(default_factory=list)


def masked(request: ViewRequest) -> View:
    """Return the picked definitions and signatures, in the mask's order, parted by a blank line (rules M-35, M-X15).

    A symbol is a name or a path of names (``Class.method``, ``ns::Class::method``) and stands for all its overloads.
    ``def`` shows a definition whole, ``sig`` its signature, ``hide`` nothing; a symbol that does not exist leaves a
    visible error line. A member stands below the header of what it is a member of; members of one container share that
    header, at the place of the first of them. An empty mask means the skeleton.
    """
    if not request.mask:
        return skeleton(request)
    language = language_of(request.path, request.text)
    module = read_module(request.text, language) if language else None
    lines: list[str] = []
    spans: list[Span] = []
    problems: list[str] = []
    # Each with what goes before it: a blank line between blocks, nothing below a header.
    waiting = [(block, i > 0) for i, block in enumerate(_blocks(request.mask, module, request.path))][::-1]
    while waiting:
        block, apart = waiting.pop()
        lines += [""] if apart else []
        text = block.text.split("\n")
        if block.lines is not None:
            spans.append(Span(len(lines) + 1, len(lines) + len(text), *block.lines))
        else:
            problems.append(block.text)
        lines += text
        lines += [block.left_out] if block.left_out else []
        waiting += [(inner, i > 0) for i, inner in enumerate(block.inside)][::-1]
    return View("\n".join(lines), tuple(spans), language.fence if language else "text", tuple(problems))


def _blocks(mask: Mapping[str, str], module: Module | None, path: str) -> list[_MaskedBlock]:
    """Return the blocks of the view, members inside the blocks of their containers."""
    blocks: list[_MaskedBlock] = []
    containers = _containers(module) if module else {}
    headers: dict[Definition, _MaskedBlock] = {}
    for symbol, shown in mask.items():
        found = find_symbol(module, symbol) if module else []
        if module is None or not found:
            blocks.append(_MaskedBlock(f"ERROR: symbol not found: {symbol} in {path}"))
        elif shown not in ("def", "sig", "hide"):
            blocks.append(_MaskedBlock(f'ERROR: unknown mask "{shown}" for {symbol} in {path}: use def, sig or hide'))
        elif shown != "hide":
            for one in found:
                around = _around(module, one, containers, blocks, headers)
                around.append(_block(module, one, whole=shown == "def"))
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


def _around(
    module: Module,
    one: Definition,
    containers: Mapping[Definition, Definition],
    blocks: list[_MaskedBlock],
    headers: dict[Definition, _MaskedBlock],
) -> list[_MaskedBlock]:
    """Return the blocks that a definition's own block belongs to, with the headers around it in ``headers``."""
    chain = [one]
    while (outer := containers.get(chain[-1])) is not None:
        chain.append(outer)
    for inner, container in reversed(list(pairwise(chain))):
        if container not in headers:
            headers[container] = _block(module, container, whole=False)
            headers[container].left_out = _left_out(module, container, inner)
            blocks.append(headers[container])
        blocks = headers[container].inside
    return blocks


def _left_out(module: Module, container: Definition, member: Definition) -> str:
    """Return the mark for what stands between a container's header and a member, ``""`` where nothing does."""
    between = module.text(container.header_end, member.start)
    indent = between[between.rfind("\n") + 1 :]
    return "" if not between.strip(" \t\r\n{:") else f"{indent if not indent.strip() else ''}{_LEFT_OUT}"


def _block(module: Module, one: Definition, *, whole: bool) -> _MaskedBlock:
    text = module.whole(one).rstrip() if whole else module.header(one)
    return _MaskedBlock(text, (one.first_line, one.first_line + text.count("\n")))


def find_symbol(module: Module, symbol: str) -> list[Definition]:
    """Return the definitions that ``symbol`` names, in order of the file: overloads and re-openings are all meant.

    A symbol is one name as it stands in the file, or a path of names of which the first ones may be left out; it may
    begin with the file's package. The name of a class does not mean its constructors too.
    """
    parts = split_symbol(symbol)
    found = [one for one in module.definitions if one.path[-1:] == (symbol,) or _is_named(one, parts, module.package)]
    paths = {one.path for one in found}
    return [one for one in found if one.path[:-1] not in paths]


def _is_named(one: Definition, parts: tuple[str, ...], package: tuple[str, ...]) -> bool:
    """Return whether ``parts`` are the last names of a definition's path, by its own name or an alias."""
    outer = package + one.path[:-1]
    return any((*outer, name)[-len(parts) :] == parts for name in (*one.path[-1:], *one.aliases))
