"""What a prompt with a budget shows whatever it costs (rule B-4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aggregate.base.values import Place
from aggregate.prompt.fit.steps import ALL_LINES, Run, signature_run
from aggregate.prompt.focus import FOCUS_TIER, FocusIndex, unknown_focus
from aggregate.prompt.request import Request
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import DefinedName

_LONGEST = 60
"""Lines of a definition with others in it that is pinned as a whole; a place between the methods of a class of a
thousand lines does not mean them all."""
_CONTEXT = 12
"""Lines on each side of a place in a longer one."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Files that are shown whatever they cost: the places in each by its path, ``()`` for all of it.

    ``doubts`` holds a sentence for each place that is none of the prompt's files.
    """

    files: dict[str, tuple[Place, ...]]
    doubts: tuple[str, ...] = ()

    def runs(self, path: str, definitions: Sequence[DefinedName]) -> tuple[Run, ...]:
        """Return the lines of a pinned file that are shown."""
        return tuple(_runs_around(self.files[path], definitions)) or (ALL_LINES,)


def find_pins(request: Request, files: Sequence[ResolvedFile]) -> Pins:
    """Return the pins of a request among its files."""
    pinned: dict[str, tuple[Place, ...]] = {
        file.path: ()
        for file in files
        if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
    }
    doubts: list[str] = []
    focus = request.task.focus if request.task else ()
    named = {place.path for place in focus}
    wanted = (*focus, *(Place(path) for path in request.focus_files if path not in named))
    index = FocusIndex((file.path, file.item.path) for file in files if wanted)
    for place in wanted:
        paths = [files[number].path for number in index.find(place.path)]
        # Of a Tier 3 prompt's focus files the prompt itself tells.
        if not paths and place.path not in request.focus_files:
            doubts.append(unknown_focus(place.path, [file.path for file in files]))
        for path in paths:
            before = pinned.get(path)
            is_whole = not place.first or before == ()
            pinned[path] = () if is_whole else (*(before or ()), place)
    return Pins(pinned, tuple(doubts))


def _runs_around(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
    """Yield the lines of places and the innermost definitions around them, with the signatures they stand in."""
    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            yield signature_run(definitions[number])
            if number not in outer:
                yield _lines_around(place, number, definitions)


def _lines_around(place: Place, number: int, definitions: Sequence[DefinedName]) -> Run:
    """Return the lines of a definition around a place in it, all unless it is long and holds others."""
    definition = definitions[number]
    inner = [other for other in definitions if other.outer == number]
    if not inner or definition.last - definition.first < _LONGEST:
        return definition.first, definition.last
    before = (other.last + 1 for other in inner if other.last < place.first)
    behind = (other.first - 1 for other in inner if other.first > place.last)
    first = max(definition.first, place.first - _CONTEXT, *before)
    return first, min(definition.last, place.last + _CONTEXT, *behind)
