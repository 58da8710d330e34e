"""One evidence: how much a kind of observation speaks for each file and for each piece."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aggregate.base.values import Missing

PieceKey = tuple[int, int]
"""The number of a file in the corpus, and the place of a piece in it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one kind of observation says, each value scaled to the best in the project: ``0`` to ``1``.

    Attributes:
        kind: Its name in the audit and in the table of weights.
        files: For files, by number; absent ones have ``0``. It counts for each of their pieces.
        pieces: For single pieces.
        matched: For files: what matched, in words for the audit.
        missing: Why there is none of it, ``None`` where there can be.
    """

    kind: str
    files: Mapping[int, float] = field(default_factory=dict)
    pieces: Mapping[PieceKey, float] = field(default_factory=dict)
    matched: Mapping[int, str] = field(default_factory=dict)
    missing: Missing | None = None
