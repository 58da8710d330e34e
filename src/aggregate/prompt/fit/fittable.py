"""A file as a fit sees it: its definitions and pieces, and how likely the task touches each."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from aggregate.ranking import DefinedName, Piece


@dataclass(frozen=True, slots=True)
class Fittable:
    """A file that may be shown.

    Attributes:
        number: What it is called by.
        score: How likely the task touches it.
        definitions: In order of their lines, outer before inner.
        pieces: In order of their lines.
        chances: How likely the task touches each piece.
        is_prose: Whether its definitions are headings, which are kept where a section is shown.
    """

    number: int
    score: float
    definitions: Sequence[DefinedName] = ()
    pieces: Sequence[Piece] = ()
    chances: Sequence[float] = ()
    is_prose: bool = False


class BestFirst:
    """Pieces or definitions, the best of all files first.

    Only the best of each file lie in the heap. The others of a file are sorted when its best is taken: of thousands of
    files some dozen get so far.

    Args:
        files: For each file what its pieces or definitions are worth: the less, the better.
    """

    def __init__(self, files: Sequence[Sequence[float]]) -> None:
        self._files = files
        self._places: dict[int, list[int]] = {}
        bests = ((min(values), number) for number, values in enumerate(files) if values)
        self._heap = [(best, number, files[number].index(best)) for best, number in bests]
        heapify(self._heap)

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return bool(self._heap)

    def pop(self) -> tuple[int, int]:
        """Remove the best; return the place of its file and its own in it, of equal ones the first."""
        _, number, place = self._heap[0]
        values = self._files[number]
        if number not in self._places:
            order = sorted(range(len(values)), key=values.__getitem__)  # stable
            self._places[number] = order[
                :0:-1
            ]  # without the first, which is the best, the next one last
        places = self._places[number]
        if places:
            following = places.pop()
            heapreplace(self._heap, (values[following], number, following))
        else:
            heappop(self._heap)
        return number, place
