"""The result of a ranking: files in order, their pieces with probabilities, and the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aggregate.base.values import Missing, Reason


class RankedFile(NamedTuple):
    """A candidate with its score; there may be a hundred thousand.

    Attributes:
        file: Its number in the corpus.
        score: How likely the task touches it: the sum over its pieces; all files together have 1.
        pieces: How likely the task touches each of its pieces, by their places; empty where the file is so unlikely
            that its pieces were not looked at.
        reasons: Why, the strongest first.
    """

    file: int
    score: float
    pieces: Sequence[float] = ()
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates, the likeliest first; those that are equal in the order of the corpus.

    Attributes:
        files: Each candidate once.
        missing: Evidence that there was none of.
    """

    files: Sequence[RankedFile]
    missing: Sequence[Missing] = ()

    def by_number(self) -> Mapping[int, RankedFile]:
        """Return the files by their numbers in the corpus."""
        return {ranked.file: ranked for ranked in self.files}
