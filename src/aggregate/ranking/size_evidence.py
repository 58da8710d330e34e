"""How long files and pieces are, and whether a piece is a function's: what is independent of the question."""

from functools import lru_cache
from math import log1p

from aggregate.ranking.evidence import Evidence
from aggregate.ranking.inquiry import Candidates, Inquiry
from aggregate.ranking.piece_values import PieceValues

_CHARACTERS_PER_TOKEN = 4
"""Of source text, about, in the vocabulary o200k."""
_LARGE_FILE = log1p(30_000)
"""The size, in the logarithm of tokens, that counts 1: the largest source file of most projects. A constant, since a
single generated file would change what all others weigh."""
_LARGE_PIECE = log1p(400)
"""The same for a piece: some 25 lines of 16 tokens."""
_MOST = 1.5
"""The most that a size counts: a file of 100 MB is hardly less likely than one of 10."""
_FUNCTIONS = frozenset(
    """
    callback constructor destructor function macro method operator procedure subroutine test
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
"""Kinds of definitions whose bodies are statements."""


def file_sizes(inquiry: Inquiry) -> Evidence:
    """Return the logarithms of the files' tokens."""
    values = {
        file: min(_MOST, log1p(facts.characters / _CHARACTERS_PER_TOKEN) / _LARGE_FILE)
        for file, facts in enumerate(inquiry.files)
    }
    return Evidence("file size", files=values)


def piece_shapes(candidates: Candidates) -> tuple[Evidence, Evidence, Evidence]:
    """Return the logarithms of the pieces' tokens, which are outside of definitions, and which are functions'."""
    sizes: dict[int, list[float]] = {}
    outside: dict[int, list[float]] = {}
    functions: dict[int, list[float]] = {}
    for file, analysis in candidates.items():
        # -1, which is no definition, is the last of these.
        in_function = [definition.kind in _FUNCTIONS for definition in analysis.definitions]
        in_function.append(False)
        pieces = analysis.pieces
        sizes[file] = [_piece_size(piece.characters) for piece in pieces]
        outside[file] = [1.0 if piece.definition < 0 else 0.0 for piece in pieces]
        functions[file] = [1.0 if in_function[piece.definition] else 0.0 for piece in pieces]
    return (
        Evidence("piece size", pieces=PieceValues(sizes)),
        Evidence("outside definitions", pieces=PieceValues(outside)),
        Evidence("function", pieces=PieceValues(functions)),
    )


@lru_cache(maxsize=4_096)  # most pieces are shorter than that
def _piece_size(characters: int) -> float:
    return min(_MOST, log1p(characters / _CHARACTERS_PER_TOKEN) / _LARGE_PIECE)
