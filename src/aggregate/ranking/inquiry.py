"""A question put to a corpus: what all evidences look up, looked up once."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregate.ranking.corpus import Corpus, FileFacts
from aggregate.ranking.evidence import PieceKey
from aggregate.ranking.file_analysis import FileAnalysis
from aggregate.ranking.path_kinds import PathKind, kinds_of
from aggregate.ranking.path_table import PathTable
from aggregate.ranking.query_terms import QueryTerm, query_terms
from aggregate.ranking.question import Question
from aggregate.ranking.remembered_corpus import RememberedCorpus
from aggregate.ranking.scaling import strongest_terms
from aggregate.ranking.similar_commits import SimilarCommit, similar_commits
from aggregate.ranking.term_matching import TermMatcher
from aggregate.ranking.terms import term_list

Candidates = Mapping[int, FileAnalysis]
"""The analyses of the files whose pieces are scored, by the files' numbers, in the order of the corpus."""

_WORD = re.compile(r"\w{2,40}")
_MOST_TEXT = 20_000
"""Characters of a task in which words are looked for to tell what matched; behind them the term itself is told."""


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
        words: For each term the task's own word, to tell what matched.
        path_terms: For files whose paths hold terms of the task, in how many parts of the path each stands.
    """

    corpus: Corpus
    question: Question
    terms: Sequence[QueryTerm]
    matcher: TermMatcher
    paths: PathTable
    kinds: Sequence[PathKind]
    similar: Sequence[SimilarCommit]
    words: Mapping[str, str]
    path_terms: Mapping[int, Mapping[str, int]]

    @classmethod
    def of(cls, corpus: Corpus, question: Question) -> "Inquiry":
        """Look up what evidences need of ``corpus`` to answer ``question``."""
        corpus = RememberedCorpus(corpus)
        terms = query_terms(corpus, question.task)
        wanted = [*(term.term for term in terms), *question.task.scopes]
        matcher = TermMatcher(wanted)
        return cls(
            corpus,
            question,
            terms,
            matcher,
            PathTable(corpus.files),
            kinds_of(corpus.files),
            similar_commits(question.commits, question.task.change_words),
            _words(question.task.text, frozenset(wanted)),
            _path_terms(corpus.files, matcher) if wanted else {},
        )

    @property
    def files(self) -> Sequence[FileFacts]:
        """The candidates' facts."""
        return self.corpus.files

    def told(self, worth: Mapping[str, float]) -> str:
        """Return the terms that add most in the task's words."""
        return strongest_terms({self.words.get(term, term): worth[term] for term in worth})

    def load(self, files: Sequence[int]) -> Candidates:
        """Load the analyses of some files."""
        numbers = sorted(set(files))
        return dict(zip(numbers, self.corpus.analyses(numbers), strict=True))


def _path_terms(
    files: Sequence[FileFacts], matcher: TermMatcher
) -> Mapping[int, Mapping[str, int]]:
    """Return the terms in the files' paths; each folder is looked at once."""
    by_folder: dict[str, Mapping[str, int]] = {"": {}}
    held: dict[int, Mapping[str, int]] = {}
    parts = [facts.path.rpartition("/") for facts in files]
    in_names = matcher.matched_in([name for _, _, name in parts])
    for file, ((folder, _, name), in_name) in enumerate(zip(parts, in_names, strict=True)):
        if folder not in by_folder:
            by_folder[folder] = _counted(folder.split("/"), matcher)
        counts = _counted([*folder.split("/"), name], matcher) if in_name else by_folder[folder]
        if counts:
            held[file] = counts
    return held


def _counted(parts: Sequence[str], matcher: TermMatcher) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for part in parts:
        for term in matcher.matched(part):
            counts[term] = counts.get(term, 0) + 1
    return counts


def _words(text: str, wanted: frozenset[str]) -> Mapping[str, str]:
    """Return the first word of a text for each term that is wanted; terms of parts of words are left out."""
    words: dict[str, str] = {}
    for match in _WORD.finditer(text[:_MOST_TEXT]):
        for term in term_list(match[0])[:1]:
            if term in wanted:
                words.setdefault(term, match[0].lower())
    return words


def pieces_of(analysis: FileAnalysis, definition: int, *, inner: bool = False) -> Sequence[int]:
    """Return the places of the pieces of a definition; with ``inner`` also of the definitions in it.

    A definition of a line or two has no pieces of its own: then they are those that its lines stand in.
    """
    pieces = analysis.pieces
    if definition < 0:
        return [place for place, piece in enumerate(pieces) if piece.definition < 0]
    named = analysis.definitions[definition]
    over = pieces_over(analysis, named.first, named.last)
    if inner:
        within = [place for place in over if pieces[place].definition >= definition]
        return within or over
    return [place for place in over if pieces[place].definition == definition] or over


def pieces_over(analysis: FileAnalysis, begin: int, end: int) -> Sequence[int]:
    """Return the places of the pieces that hold a line from ``begin`` to ``end``."""
    start = bisect_left(analysis.pieces, begin, key=lambda piece: piece.last)
    stop = bisect_right(analysis.pieces, end, key=lambda piece: piece.first)
    return range(start, stop)


def keys(file: int, places: Sequence[int]) -> Sequence[PieceKey]:
    """Return the keys of some pieces of a file."""
    return [(file, place) for place in places]
