"""Definitions in the order of a text, one inside of another."""

from dataclasses import replace

from aggregate.code.syntax.definitions import Definition

_MOST_NAMES = 100
"""Names of a path, the inner ones: in a text that nests ten thousand levels all of them would take gigabytes."""


def with_sections(definitions: list[Definition], source: bytes) -> list[Definition]:
    """Return the definitions, each heading reaching to the next of its level or above or to its container's end."""
    if not any(definition.level for definition in definitions):
        return definitions
    ends: dict[int, int] = {}
    # The end of each, and the headings open in it.
    containers: list[tuple[int, list[int]]] = [(len(source), [])]
    for index, definition in enumerate(definitions):
        while containers[-1][0] <= definition.start:
            end, headings = containers.pop()
            ends.update(dict.fromkeys(headings, end))
        headings = containers[-1][1]
        if not definition.level:
            containers.append((definition.end, []))
            continue
        while headings and definitions[headings[-1]].level >= definition.level:
            ends[headings.pop()] = definition.start
        headings.append(index)
    for end, headings in containers:
        ends.update(dict.fromkeys(headings, end))
    return [
        _section(definition, ends[index], source) if definition.level else definition
        for index, definition in enumerate(definitions)
    ]


def _section(heading: Definition, end: int, source: bytes) -> Definition:
    """Return a heading's definition that ends at ``end``, without the blank lines there."""
    while end > heading.start and source[end - 1] in b" \t\r\n":
        end -= 1
    last_line = heading.first_line + source.count(b"\n", heading.start, end)
    return replace(heading, end=end, header_end=min(heading.header_end, end), last_line=last_line)


def nest(definitions: list[Definition], bodies: list[tuple[int, int]]) -> tuple[Definition, ...]:
    """Return the definitions outside of bodies, each with its full path and depth."""
    nested: list[Definition] = []
    around: list[Definition] = []
    upcoming = iter(bodies)
    body = next(upcoming, None)
    bodies_end = 0
    for definition in definitions:
        while body and body[0] <= definition.start:
            bodies_end = max(bodies_end, body[1])
            body = next(upcoming, None)
        if definition.start < bodies_end:
            continue
        while around and around[-1].end <= definition.start:
            around.pop()
        if around and (around[-1].start, around[-1].path[-1:]) == (
            definition.start,
            definition.path,
        ):
            continue  # the head of a definition, which some grammars take for a declaration
        outer = around[-1].path if around else ()
        placed = definition
        if around or len(definition.path) > _MOST_NAMES:
            placed = definition.placed((outer + definition.path)[-_MOST_NAMES:], len(around))
        nested.append(placed)
        around.append(placed)
    return tuple(nested)
