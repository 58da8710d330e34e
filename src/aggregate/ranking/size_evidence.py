"""How long files and pieces are, and whether a piece is a function's: what is independent of the question."""

from math import log1p

from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.inquiry import Candidates, Inquiry

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
    sizes: dict[PieceKey, float] = {}
    outside: dict[PieceKey, float] = {}
    functions: dict[PieceKey, float] = {}
    for file, analysis in candidates.items():
        in_function = [definition.kind in _FUNCTIONS for definition in analysis.definitions]
        for place, piece in enumerate(analysis.pieces):
            tokens = piece.characters / _CHARACTERS_PER_TOKEN
            sizes[(file, place)] = min(_MOST, log1p(tokens) / _LARGE_PIECE)
            if piece.definition < 0:
                outside[(file, place)] = 1.0
            elif in_function[piece.definition]:
                functions[(file, place)] = 1.0
    return (
        Evidence("piece size", pieces=sizes),
        Evidence("outside definitions", pieces=outside),
        Evidence("function", pieces=functions),
    )
