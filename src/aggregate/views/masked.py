"""The symbols that the user picked, in full or by signature."""

from collections.abc import Mapping

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.definitions import Definition, Module
from aggregate.syntax.languages import language_of
from aggregate.syntax.modules import read_module
from aggregate.syntax.names import split_symbol
from aggregate.text.lines import line_count
from aggregate.views.skeleton import skeleton

_Block = tuple[str, tuple[int, int] | None]
"""A block of the view and the lines of the file behind it."""


def masked(request: ViewRequest) -> View:
    """Return the picked definitions and signatures, in the mask's order, parted by a blank line (rules M-35, M-X15).

    A symbol is a name or a path of names (``Class.method``, ``ns::Class::method``) and stands for all its overloads.
    ``def`` shows a definition whole, ``sig`` its signature, ``hide`` nothing; a symbol that does not exist leaves a
    visible error line. An empty mask means the skeleton.
    """
    if not request.mask:
        return skeleton(request)
    language = language_of(request.path, request.text)
    module = read_module(request.text, language) if language else None
    blocks: list[str] = []
    spans: list[Span] = []
    problems: list[str] = []
    line = 1
    for text, source in _blocks(request.mask, module, request.path):
        blocks.append(text)
        lines = line_count(text)
        if source is not None:
            spans.append(Span(line, line + lines - 1, *source))
        else:
            problems.append(text)
        line += lines + 1
    return View("\n\n".join(blocks), tuple(spans), language.fence if language else "text", tuple(problems))


def _blocks(mask: Mapping[str, str], module: Module | None, path: str) -> list[_Block]:
    """Return the blocks of the view."""
    blocks: list[_Block] = []
    for symbol, shown in mask.items():
        found = find_symbol(module, symbol) if module else []
        if module is None or not found:
            blocks.append((f"ERROR: symbol not found: {symbol} in {path}", None))
        elif shown not in ("def", "sig", "hide"):
            blocks.append((f'ERROR: unknown mask "{shown}" for {symbol} in {path}: use def, sig or hide', None))
        elif shown != "hide":
            blocks += (_block(module, one, whole=shown == "def") for one in found)
    return blocks


def _block(module: Module, one: Definition, *, whole: bool) -> _Block:
    text = module.whole(one).rstrip() if whole else module.header(one)
    return text, (one.first_line, one.first_line + text.count("\n"))


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
