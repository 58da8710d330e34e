"""Small files to fit, and what a fit shows of them as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregate import View
from aggregate.code.views import focused
from aggregate.prompt.fit.fit import FileLines, Fit
from aggregate.prompt.fit.steps import Fittable, StepOrder
from aggregate.ranking import DefinedName, Piece

FRAME = 8
"""Tokens around a file in these tests."""


def words(text: str) -> int:
    """Count a token for each word and each line break, as a tokenizer of which a reader can do the sums."""
    return len(text.split()) + text.count("\n")


@dataclass(frozen=True)
class Source:
    """A file with its pieces and how likely each is."""

    text: str
    pieces: tuple[tuple[int, int, float], ...]
    definitions: tuple[DefinedName, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its lines with their ends."""
        return self.text.splitlines(keepends=True)

    def fittable(self, number: int) -> Fittable:
        """Return it as fitting orders it."""
        pieces = [
            Piece(
                first, last, self._innermost(first), 0, len("".join(self.lines[first - 1 : last]))
            )
            for first, last, _ in self.pieces
        ]
        chances = [chance for *_, chance in self.pieces]
        return Fittable(number, self.definitions, pieces, chances)

    def _innermost(self, line: int) -> int:
        around = [
            place
            for place, definition in enumerate(self.definitions)
            if definition.first <= line <= definition.last
        ]
        return around[-1] if around else -1


def new_fit(
    sources: Sequence[Source], *, signatures: float = 0.12, count: Callable[[str], int] = words
) -> Fit:
    """Return a fit of these files, numbered from 0, in which nothing is shown."""
    ranked = sorted(
        (source.fittable(number) for number, source in enumerate(sources)),
        key=lambda file: (-sum(file.chances), file.number),
    )

    def open_file(number: int) -> FileLines:
        return FileLines(sources[number].lines, lambda run: (run,), FRAME)

    return Fit(StepOrder([ranked], signatures), open_file, count)


def shown_text(source: Source, fit: Fit, number: int) -> str:
    """Return what a fit shows of a file."""
    state = fit.shown[number]
    return focused(View(source.text), source.lines, state.runs()).text
