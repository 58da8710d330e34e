"""A question put to a corpus: what all evidences look up, looked up once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregate.ranking.corpus import Corpus, FileFacts
from aggregate.ranking.evidence import PieceKey
from aggregate.ranking.file_analysis import FileAnalysis
from aggregate.ranking.path_kinds import PathKind, kind_of
from aggregate.ranking.path_table import PathTable
from aggregate.ranking.query_terms import QueryTerm, query_terms
from aggregate.ranking.question import Question
from aggregate.ranking.similar_commits import SimilarCommit, similar_commits
from aggregate.ranking.term_matching import TermMatcher

Candidates = Mapping[int, FileAnalysis]
"""The analyses of the files whose pieces are scored, by the files' numbers, in the order of the corpus."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A corpus, a question, and what follows from both.

    Attributes:
        corpus: The candidates.
        question: What is asked.
        terms: The strongest terms of the task.
        matcher: Finds them in names.
        paths: Look-ups of the files' paths.
        kinds: What each file is for.
        similar: The past changes that the task resembles.
    """

    corpus: Corpus
    question: Question
    terms: Sequence[QueryTerm]
    matcher: TermMatcher
    paths: PathTable
    kinds: Sequence[PathKind]
    similar: Sequence[SimilarCommit]

    @classmethod
    def of(cls, corpus: Corpus, question: Question) -> "Inquiry":
        """Look up what evidences need of ``corpus`` to answer ``question``."""
        terms = query_terms(corpus, question.task)
        wanted = [*(term.term for term in terms), *question.task.scopes]
        kinds = [kind_of(facts.path, is_generated=facts.is_generated) for facts in corpus.files]
        return cls(
            corpus,
            question,
            terms,
            TermMatcher(wanted),
            PathTable(corpus.files),
            kinds,
            similar_commits(question.commits, question.task.terms),
        )

    @property
    def files(self) -> Sequence[FileFacts]:
        """The candidates' facts."""
        return self.corpus.files

    def load(self, files: Sequence[int]) -> Candidates:
        """Load the analyses of some files."""
        numbers = sorted(set(files))
        return dict(zip(numbers, self.corpus.analyses(numbers), strict=True))


def pieces_of(analysis: FileAnalysis, definition: int, *, inner: bool = False) -> Sequence[int]:
    """Return the places of the pieces of a definition; with ``inner`` also of the definitions in it.

    A definition of a line or two has no pieces of its own: then they are those that its lines stand in.
    """
    wanted = {definition}
    if inner:
        for place, defined in enumerate(analysis.definitions):
            if defined.outer in wanted:  # outer ones come before inner ones
                wanted.add(place)
    own = [place for place, piece in enumerate(analysis.pieces) if piece.definition in wanted]
    if own or definition < 0:
        return own
    named = analysis.definitions[definition]
    return pieces_over(analysis, named.first, named.last)


def pieces_over(analysis: FileAnalysis, begin: int, end: int) -> Sequence[int]:
    """Return the places of the pieces that hold a line from ``begin`` to ``end``."""
    return [
        place
        for place, piece in enumerate(analysis.pieces)
        if piece.first <= end and piece.last >= begin
    ]


def keys(file: int, places: Sequence[int]) -> Sequence[PieceKey]:
    """Return the keys of some pieces of a file."""
    return [(file, place) for place in places]
