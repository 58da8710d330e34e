"""A line chart as SVG, written by hand: a few lines over a few dozen steps need no library."""

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10

_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 180, 48, 48
_COLOURS = ("#1a7f5a", "#c2571a", "#4a5a8a", "#8a3a7a")
_STEPS = 5


def line_chart(title: str, lines: Mapping[str, Sequence[float]], *, across: str, up: str) -> str:
    """Return an SVG of some lines with their names at their ends.

    Args:
        title: Above the chart.
        lines: Values for steps 1, 2, …, by name; all of one length.
        across: What the steps are.
        up: What the values are.
    """
    steps = max(len(values) for values in lines.values())
    top = _round_up(max(max(values) for values in lines.values()))

    def x(step: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (step - 1) / max(steps - 1, 1)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top

    parts = [
        _text(_LEFT, 26, title, size=15),
        _text(_LEFT, _HEIGHT - 10, across),
        _text(8, _TOP - 10, up),
    ]
    for number in range(_STEPS + 1):
        value = top * number / _STEPS
        height = y(value)
        parts.append(f'<path d="M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, height + 4, f"{value:g}", anchor="end"))
    for step in (1, *range(10, steps + 1, 10)):
        parts.append(_text(x(step), _HEIGHT - _BOTTOM + 18, str(step), anchor="middle"))
    places = _places([y(values[-1]) for values in lines.values()])
    for (name, values), colour, place in zip(lines.items(), _COLOURS, places, strict=False):
        points = " ".join(
            f"{x(step):.1f},{y(value):.1f}" for step, value in enumerate(values, start=1)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(
            _text(_WIDTH - _RIGHT + 8, place + 4, f"{name}: {values[-1]:.2f}", colour=colour)
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">'
    return "\n".join(
        (head, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>', *parts, "</svg>\n")
    )


def _text(
    x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", colour: str = "#333"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'


def _places(heights: Sequence[float]) -> list[float]:
    """Return where the names of lines that end at ``heights`` stand without covering each other, in the same order."""
    places = dict.fromkeys(range(len(heights)), 0.0)
    below = float("inf")
    for number in sorted(places, key=lambda one: -heights[one]):
        below = min(heights[number], below - 16)
        places[number] = below
    return list(places.values())


def _round_up(value: float) -> float:
    """Return the next number of the form 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)
