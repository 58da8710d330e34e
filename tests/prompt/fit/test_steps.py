"""The order in which lines enter a prompt."""

from itertools import product

from aggregate.prompt.fit.steps import Fittable, StepOrder
from aggregate.ranking import Piece

_CHANCES = (0.5, 0.0, 0.25, 0.5, 0.125)
"""Several are equal, so that the order of files and of lines decides."""


def _file(number: int, chances: tuple[float, ...]) -> Fittable:
    pieces = [Piece(line, line, -1, 0, 4) for line in range(1, len(chances) + 1)]
    return Fittable(number, pieces=pieces, chances=chances)


def test_pieces_enter_by_their_chances_then_by_file_and_line() -> None:
    """Pieces of equal length enter in the order of a sort of all of them, whatever file they stand in (rule B-6)."""
    files = [
        _file(number, chances) for number, chances in enumerate(product(_CHANCES, repeat=3), 1)
    ]
    files.insert(2, _file(0, ()))
    entered = [(step.file, step.runs[-1][0] + 1) for step in StepOrder([files], signatures=0)]
    pieces = [
        (-chance, place, line, file.number)
        for place, file in enumerate(files)
        for line, chance in enumerate(file.chances, 1)
    ]
    assert entered == [(number, line) for _, _, line, number in sorted(pieces)]


def test_what_tells_less_of_a_change_enters_later() -> None:
    """Of pieces that are as likely code comes first, then imports, comments, and a licence last (rule B-6)."""
    licence = Piece(1, 1, -1, 0, 40, comments=40, preamble=40)
    imports = Piece(2, 2, -1, 0, 40, preamble=40)
    comments = Piece(3, 3, -1, 0, 40, comments=40)
    half = Piece(4, 4, -1, 0, 40, comments=20)
    code = Piece(5, 5, -1, 0, 40)
    pieces = (licence, imports, comments, half, code)
    file = Fittable(1, pieces=pieces, chances=(0.2,) * len(pieces))
    entered = [step.runs[-1][0] + 1 for step in StepOrder([[file]], signatures=0)]
    assert entered == [5, 2, 4, 3, 1]
