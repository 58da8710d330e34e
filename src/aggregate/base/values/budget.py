"""How many tokens a prompt may have, and how its sections share them."""

from dataclasses import dataclass
from enum import StrEnum


class FileOrder(StrEnum):
    """In which order a prompt with a budget shows its files (rule B-8)."""

    CONFIGURED = "configured"
    EDGES = "edges"


@dataclass(frozen=True, slots=True)
class Budget:
    """A maximum for the whole prompt (rule B-1).

    Attributes:
        tokens: The most o200k tokens of the markdown.
        history: The part of what pins leave that the discussion may take at most.
        results: The part of what pins leave that sub-agents' results may take at most.
        order: The order of the files.
    """

    tokens: int
    history: float = 0.2
    results: float = 0.2
    order: FileOrder = FileOrder.CONFIGURED
