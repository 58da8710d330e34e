"""What a prompt with a budget shows whatever it costs (rule B-4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from aggregate.base.values import Place
from aggregate.prompt.candidates import Candidates
from aggregate.prompt.fit.lines import ALL_LINES, Run
from aggregate.prompt.fit.steps import signature_run
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
    """Files and places that are shown whatever they cost.

    Attributes:
        whole: Paths of files that are shown in full.
        places: The places that the user points at, by the paths of their files.
        doubts: A sentence for each place that is none of the prompt's files.
    """

    whole: frozenset[str]
    places: dict[str, tuple[Place, ...]]
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request, files: Sequence[ResolvedFile]) -> Self:
        """Return the pins of a request among its files."""
        forced = (
            file.path
            for file in files
            if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
        )
        whole = set(forced)
        places: dict[str, tuple[Place, ...]] = {}
        doubts: list[str] = []
        focus = request.task.focus if request.task else ()
        named = {place.path for place in focus}
        wanted = (*focus, *(Place(path) for path in request.focus_files if path not in named))
        index = FocusIndex((file.path, file.item.path) for file in files if wanted)
        for place in wanted:
            paths = [files[number].path for number in index.places(place.path)]
            # Of a Tier 3 prompt's focus files the prompt itself tells.
            if not paths and place.path not in request.focus_files:
                doubts.append(unknown_focus(place.path, [file.path for file in files]))
            for path in paths:
                if place.first:
                    places[path] = (*places.get(path, ()), place)
                else:
                    whole.add(path)
        return cls(frozenset(whole), places, tuple(doubts))

    def runs(self, candidates: Candidates) -> dict[int, tuple[Run, ...]]:
        """Return the lines that are shown whatever they cost, by the numbers of their files."""
        runs: dict[int, tuple[Run, ...]] = {}
        if not self.whole and not self.places:
            return runs
        for number, candidate in sorted(candidates.by_number.items()):
            path = candidate.file.path
            if path in self.whole:
                runs[number] = (ALL_LINES,)
            elif places := self.places.get(path):
                definitions = candidates.analysis(number).definitions
                runs[number] = tuple(runs_around(places, definitions))
        return runs


def runs_around(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
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
            definition = definitions[number]
            yield signature_run(definition)
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
