"""What a prompt with a budget shows whatever it costs (rule B-4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from aggregate.budget.lines import ALL_LINES, Run
from aggregate.budget.steps import signature_run
from aggregate.compose.candidates import Candidates
from aggregate.compose.focus import FOCUS_TIER, FocusIndex
from aggregate.compose.request import Request
from aggregate.compose.selection import ResolvedFile
from aggregate.models.task import Place
from aggregate.ranking.file_analysis import DefinedName


@dataclass(frozen=True, slots=True)
class Pins:
    """Files and places that are shown whatever they cost.

    Attributes:
        whole: Paths of files that are shown in full.
        places: The places that the user points at, by the paths of their files.
        unknown: What the user points at that is no candidate.
    """

    whole: frozenset[str]
    places: dict[str, tuple[Place, ...]]
    unknown: tuple[str, ...] = ()

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
        unknown: list[str] = []
        focus = request.task.focus if request.task else ()
        named = {place.path for place in focus}
        wanted = (*focus, *(Place(path) for path in request.focus_files if path not in named))
        index = FocusIndex((file.path, file.item.path) for file in files if wanted)
        for place in wanted:
            paths = [files[number].path for number in index.places(place.path)]
            # Of a Tier 3 prompt's focus files the prompt itself tells.
            if not paths and place.path not in request.focus_files:
                unknown.append(place.path)
            for path in paths:
                if place.first:
                    places[path] = (*places.get(path, ()), place)
                else:
                    whole.add(path)
        return cls(frozenset(whole), places, tuple(unknown))

    @property
    def doubts(self) -> tuple[str, ...]:
        """A sentence for each place that is none of the prompt's files."""
        return tuple(
            f"focus {path}: no file of the project matches it; name it under [files] paths too"
            for path in self.unknown
        )

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
                yield definition.first, definition.last
