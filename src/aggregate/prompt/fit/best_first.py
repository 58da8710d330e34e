"""Taking what is best out of many files, of which most are never asked for."""

from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace


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
