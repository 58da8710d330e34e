"""Values of nearly all pieces, kept by file: a fraction of a dictionary's time and memory."""

from collections.abc import Iterator, Mapping, Sequence

from aggregate.ranking.evidence import PieceKey


class PieceValues(Mapping[PieceKey, float]):
    """What an evidence says about pieces, as any other mapping of them; absent ones have 0.

    Args:
        rows: For each file a value for each of its pieces.
    """

    def __init__(self, rows: Mapping[int, Sequence[float]]) -> None:
        self.rows = rows

    def __getitem__(self, key: PieceKey) -> float:
        file, place = key
        row = self.rows[file]
        if not 0 <= place < len(row) or not row[place]:
            raise KeyError(key)
        return row[place]

    def __iter__(self) -> Iterator[PieceKey]:
        for file, row in self.rows.items():
            for place, value in enumerate(row):
                if value:
                    yield file, place

    def __len__(self) -> int:
        return sum(1 for row in self.rows.values() for value in row if value)

    def scaled(self) -> "PieceValues":
        """Return the values divided by the greatest of them; none where nothing is above 0."""
        best = max((max(row, default=0.0) for row in self.rows.values()), default=0.0)
        if best <= 0:
            return PieceValues({})
        return PieceValues({file: [v / best for v in row] for file, row in self.rows.items()})
