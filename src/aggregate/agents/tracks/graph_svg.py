"""A picture of a track's tickets: columns by what they wait for, boxes by how they ended, as SVG.

The layout follows from the tickets alone, so that the same run gives the same bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from aggregate.agents.tracks.fan_out import parent_of
from aggregate.agents.tracks.report import ReportLine
from aggregate.base.text import cut
from aggregate.base.values import RunStatus
from aggregate.prompt.sections import one_line

_WIDTH: Final = 190
_HEIGHT: Final = 34
"""Of a box, in pixels: two lines of text."""
_BETWEEN_COLUMNS: Final = 70
_BETWEEN_ROWS: Final = 12
_MARGIN: Final = 16
_MOST_ROWS: Final = 40
"""Boxes below each other before a column is broken into several: more do not fit onto a screen."""
_ID_CHARACTERS: Final = 24
_TITLE_CHARACTERS: Final = 30
"""What fits into a box at the sizes of the fonts below."""
_SWEEPS: Final = 4
"""How often columns are ordered by their neighbours; more hardly changes anything."""
_MOST_EDGES: Final = 4_000
"""Lines that are drawn: of more nobody could follow any, and a browser takes seconds for them."""
_COLOURS: Final = {
    "done": "#d3f0d3",
    "failed": "#f6cccc",
    "timed out": "#f6cccc",
    "left out": "#eeeeee",
    "not run": "#ffffff",
    "under way": "#fdf0c4",
    "waits for approval": "#d6e4f7",
}
_STYLE: Final = (
    "text{font-family:sans-serif;font-size:12px;fill:#222}.t{font-size:10px;fill:#555}"
    "rect{stroke:#777;stroke-width:1}path{fill:none;stroke:#999;stroke-width:1}"
    "@media (prefers-color-scheme:dark){svg{background:#fff}}"
)
_Place = tuple[int, int]
"""Of a box: its column and its row, from 0."""


def graph_svg(
    lines: Sequence[ReportLine],
    waits_for: Mapping[str, Sequence[str]],
    states: Mapping[str, str] | None = None,
) -> str:
    """Return the picture of tickets and what they wait for.

    Args:
        lines: One for each ticket, in order; the children of a ticket stand behind it as one box.
        waits_for: The tickets that each waits for.
        states: How far tickets are that have not ended, by id; else the lines say it.
    """
    children: dict[str, list[ReportLine]] = {}
    tickets: dict[str, ReportLine] = {}
    for line in lines:
        parent = parent_of(line.ticket.id)
        if parent == line.ticket.id:
            tickets[parent] = line
        else:
            children.setdefault(parent, []).append(line)
    edges = {
        ticket_id: [needed for needed in waits_for.get(ticket_id, ()) if needed in tickets]
        for ticket_id in tickets
    }
    places = _places(edges)
    columns = max((column for column, _ in places.values()), default=0) + 1
    rows = max((row for _, row in places.values()), default=0) + 1
    width = 2 * _MARGIN + columns * _WIDTH + (columns - 1) * _BETWEEN_COLUMNS
    height = 2 * _MARGIN + rows * _HEIGHT + (rows - 1) * _BETWEEN_ROWS
    boxes = [
        _box(
            line,
            places[ticket_id],
            (states or {}).get(ticket_id) or line.state,
            children.get(ticket_id, ()),
        )
        for ticket_id, line in tickets.items()
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
            *_edges(edges, places),
            *boxes,
            "</svg>\n",
        ]
    )


def _places(edges: Mapping[str, Sequence[str]]) -> dict[str, _Place]:
    """Return where each ticket stands: right of all that it waits for, near to them, and below each other."""
    layers: dict[int, list[str]] = {}
    depths = _depths(edges)
    for ticket_id in edges:
        layers.setdefault(depths[ticket_id], []).append(ticket_id)
    _order(layers, edges)
    places: dict[str, _Place] = {}
    column = 0
    for depth in sorted(layers):
        layer = layers[depth]
        # A long layer becomes several columns of about the same height.
        parts = -(-len(layer) // _MOST_ROWS)
        rows = -(-len(layer) // parts)
        for i, ticket_id in enumerate(layer):
            places[ticket_id] = (column + i // rows, i % rows)
        column += parts
    return places


def _depths(edges: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return how many tickets stand before each on the longest way to it; without recursion, for a way may be long."""
    depths: dict[str, int] = {}
    for start in edges:
        pending = [start]
        while pending:
            ticket_id = pending[-1]
            missing = [needed for needed in edges[ticket_id] if needed not in depths]
            if missing:
                pending.extend(missing)
                continue
            depths[ticket_id] = max((depths[needed] + 1 for needed in edges[ticket_id]), default=0)
            pending.pop()
    return depths


def _order(layers: dict[int, list[str]], edges: Mapping[str, Sequence[str]]) -> None:
    """Order each layer by the middle of its neighbours, forth and back, so that fewer lines cross."""
    followers: dict[str, list[str]] = {ticket_id: [] for ticket_id in edges}
    for ticket_id, needed in edges.items():
        for each in needed:
            followers[each].append(ticket_id)
    position = {each: i for layer in layers.values() for i, each in enumerate(layer)}
    for sweep in range(_SWEEPS):
        neighbours = followers if sweep % 2 else edges
        for depth in sorted(layers, reverse=bool(sweep % 2)):
            centre = {each: _middle(each, neighbours[each], position) for each in layers[depth]}
            layers[depth].sort(key=lambda each: (centre[each], position[each]))
            position.update((each, i) for i, each in enumerate(layers[depth]))


def _middle(ticket_id: str, near: Sequence[str], position: Mapping[str, int]) -> float:
    return sum(position[each] for each in near) / len(near) if near else position[ticket_id]


def _edges(edges: Mapping[str, Sequence[str]], places: Mapping[str, _Place]) -> list[str]:
    drawn = [(needed, ticket_id) for ticket_id in edges for needed in edges[ticket_id]]
    return [_edge(places[start], places[end]) for start, end in drawn[:_MOST_EDGES]]


def _edge(start: _Place, end: _Place) -> str:
    left, top = _corner(start)
    right, bottom = _corner(end)
    x, y = left + _WIDTH, top + _HEIGHT // 2
    to_y = bottom + _HEIGHT // 2
    bend = _BETWEEN_COLUMNS // 2
    return f'<path d="M{x} {y}C{x + bend} {y} {right - bend} {to_y} {right} {to_y}"/>'


def _box(line: ReportLine, place: _Place, state: str, children: Sequence[ReportLine]) -> str:
    x, y = _corner(place)
    ticket = line.ticket
    fill = _COLOURS.get(state, "#ffffff")
    words = one_line(ticket.title)
    if children:
        done = sum(child.status is RunStatus.SUCCESS for child in children)
        words = f"{done:,} of {len(children):,} children done"
    told = f"{ticket.id}: {state}" + (f" ({one_line(ticket.title)})" if ticket.title else "")
    label = escape(_plain(cut(ticket.id, _ID_CHARACTERS)))
    below = escape(_plain(cut(words, _TITLE_CHARACTERS) or state))
    return (
        f"<g><title>{escape(_plain(told))}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill={quoteattr(fill)}/>'
        f'<text x="{x + 8}" y="{y + 14}">{label}</text>'
        f'<text class="t" x="{x + 8}" y="{y + 27}">{below}</text></g>'
    )


def _corner(place: _Place) -> _Place:
    column, row = place
    x = _MARGIN + column * (_WIDTH + _BETWEEN_COLUMNS)
    return x, _MARGIN + row * (_HEIGHT + _BETWEEN_ROWS)


def _plain(text: str) -> str:
    """Return ``text`` with a question mark for each character that XML cannot hold."""
    return "".join(each if each.isprintable() else "?" for each in text)
