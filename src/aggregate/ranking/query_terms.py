"""The terms of a task, the strongest of a long one, with where they occur in the project."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from math import log
from typing import NamedTuple

from aggregate.ranking.bm25 import rarity
from aggregate.ranking.corpus import Corpus, TermInFile
from aggregate.ranking.question import TaskText

MOST_TERMS = 200
"""Terms of a task that are asked for: a task of 200 KB has thousands, and the rare ones that it repeats decide."""
_MOST_LOOKED_UP = 600
"""Terms whose files are counted to find the strongest; each costs a look-up."""


class QueryTerm(NamedTuple):
    """A term of the task.

    Attributes:
        term: As ``ranking.terms`` has it.
        weight: How much the task speaks of it: 1 for once, slowly more.
        files: The files whose text holds it.
        file_rarity: Its inverse document frequency among the files.
        piece_rarity: Its inverse document frequency among the pieces.
        in_subject: Whether the task's first line holds it.
    """

    term: str
    weight: float
    files: Mapping[int, TermInFile]
    file_rarity: float
    piece_rarity: float
    in_subject: bool


def query_terms(corpus: Corpus, task: TaskText) -> tuple[QueryTerm, ...]:
    """Return the strongest terms of a task, in its own order."""
    subject = frozenset(task.subject)
    total_pieces = sum(facts.pieces for facts in corpus.files)
    most_told = _most_told(task)
    # The joined words too, which ``ranking.mentions`` asks for: each pass reads the tables of the whole project.
    corpus.look_up([*(term for term, _ in most_told), *task.joined])
    looked_up = [
        _look_up(corpus, term, count, in_subject=term in subject, total_pieces=total_pieces)
        for term, count in most_told
    ]
    if len(looked_up) <= MOST_TERMS:
        return tuple(looked_up)
    strongest = nlargest(MOST_TERMS, range(len(looked_up)), key=lambda i: _strength(looked_up[i]))
    return tuple(looked_up[i] for i in sorted(strongest))


def _most_told(task: TaskText) -> Sequence[tuple[str, int]]:
    """Return those terms that the task speaks of first and most."""
    counts = dict(task.terms)
    for term in task.subject:
        counts.setdefault(term, 1)
    terms = list(counts.items())
    if len(terms) <= _MOST_LOOKED_UP:
        return terms
    subject = frozenset(task.subject)
    most = nlargest(
        _MOST_LOOKED_UP, range(len(terms)), key=lambda i: (terms[i][0] in subject, terms[i][1], -i)
    )
    return [terms[i] for i in sorted(most)]


def _look_up(
    corpus: Corpus, term: str, count: int, *, in_subject: bool, total_pieces: int
) -> QueryTerm:
    files = corpus.files_with(term)
    in_pieces = sum(held.pieces for held in files.values())
    return QueryTerm(
        term,
        1 + log(max(count, 1)),
        files,
        rarity(len(corpus.files), len(files)),
        rarity(total_pieces, in_pieces),
        in_subject,
    )


def _strength(term: QueryTerm) -> tuple[bool, bool, float]:
    """Return by what terms are chosen: those that occur at all, those of the first line, then the rarest."""
    return bool(term.files), term.in_subject, term.weight * term.piece_rarity
