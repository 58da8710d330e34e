"""A question about a corpus, with look-ups for all evidence."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import fsum, log
from typing import Final, NamedTuple

from aggregate.base.task_budget import ChangedLines, Missing, Pick
from aggregate.ranking.evidence import PieceKey, rarity, saturation
from aggregate.ranking.files.analysis import Analysis, Corpus, FileFacts
from aggregate.ranking.paths import PathKind, PathTable
from aggregate.ranking.terms import term_list


class Location(NamedTuple):
    """A code location in the task's text, such as a traceback's frame."""

    path: str  # as written, absolute or relative, with ``/``
    line: int = 0  # 1-based, ``0`` if unknown
    symbol: str = ""  # the function, ``""`` if unknown


@dataclass(frozen=True, slots=True)
class TaskText:
    """The words, names and code locations of a task's text."""

    terms: Mapping[str, int] = field(default_factory=dict)
    subject: tuple[str, ...] = ()
    # Weights (at most 1) by the roots of the first line's words.
    topic: Mapping[str, float] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    is_question: bool = False  # asks where something is, does not request a change
    sole: str = ""  # the name if the task is nothing but a name
    # Certainty by identifier, as written.
    names: Mapping[str, float] = field(default_factory=dict)
    # Modules by the names that an example imports.
    imported: Mapping[str, str] = field(default_factory=dict)
    quotes: tuple[tuple[str, ...], ...] = ()  # terms of quoted lines of code
    locations: tuple[Location, ...] = ()  # the most specific first
    text: str = ""
    change_words: tuple[str, ...] = ()


class Commit(NamedTuple):
    """A commit: its message, changed files and changed definitions."""

    terms: frozenset[str]
    paths: tuple[str, ...]
    names: tuple[
        tuple[str, str], ...
    ] = ()  # changed (path, definition); only read for some commits
    change_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """The input of a ranking, apart from the files.

    The question has the task's text, the places and symbols named by the user, changes and commits.
    """

    task: TaskText = field(default_factory=TaskText)
    focus: Sequence[tuple[str, int, int]] = ()  # path, first and last line; ``0`` for whole files
    symbols: Sequence[str] = ()
    changes: Sequence[ChangedLines] = ()
    commits: Sequence[Commit] = ()  # the history, the newest first
    missing: Sequence[Missing] = ()
    is_overview: bool = False  # README and guides first
    picks: Sequence[Pick] = ()  # chosen by a model from the shortlist

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked, so that only structure decides the ranking."""
        task = self.task
        has_task = task.terms or task.names or task.locations
        return not (has_task or self.focus or self.symbols or self.changes or self.picks)


MOST_SIMILAR: Final = 100  # commits; measured together with the weights
MOST_READ: Final = 40  # similar commits whose definitions git looks up by a diff
_B: Final = 0.75  # BM25's usual length normalization: a long message has many subjects


class SimilarCommit(NamedTuple):
    """A commit whose message resembles the task."""

    age: int  # in commits, ``0`` for the newest
    score: float  # BM25 of its message's first line, above ``0``
    share: float  # rarity of the shared words / rarity of all the task's words


def similar_commits(
    commits: Sequence[Commit], words: Iterable[str], most: int = MOST_READ
) -> list[SimilarCommit]:
    """Return the ``most`` commits whose messages resemble the task most, newer ones first among equals."""
    task_words = frozenset(words)
    shared = [commit.change_words & task_words for commit in commits]
    frequency = Counter(word for words_of_commit in shared for word in words_of_commit)
    if not frequency:
        return []
    total = len(commits)
    rarities = {word: rarity(total, frequency[word]) for word in task_words}
    all_rarity = fsum(rarities.values())
    average = sum(len(commit.change_words) for commit in commits) / total
    scored: list[tuple[float, int, float]] = []
    for index, matched in enumerate(shared):
        if matched:
            length = len(commits[index].change_words) / average
            weight = saturation(1, length=length, b=_B)
            # Exact sum: the order of a set differs between processes.
            shared_rarity = fsum(map(rarities.__getitem__, matched))
            scored.append((-weight * shared_rarity, index, shared_rarity / all_rarity))
    scored.sort()
    return [SimilarCommit(index, -score, share) for score, index, share in scored[:most]]


# Last characters of a term that may differ in the word itself: ``y`` for ``ies``.
_CHANGED = 1
_SHORT = 3  # letters of a term searched for whole; most names contain its prefix


class TermMatcher:
    """Finds which terms of the task occur in a name."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        prefixes = sorted(
            {term[:-_CHANGED] if len(term) > _SHORT else term for term in self._terms}
        )
        self._prefix = re.compile("|".join(map(re.escape, prefixes)) or r"(?!)")
        self._terms_by_name: dict[str, tuple[str, ...]] = {}

    def matched(self, name: str) -> tuple[str, ...]:
        if name not in self._terms_by_name:
            # A search takes a tenth of splitting the name, and most names contain no term.
            is_empty = name.isascii() and not self._prefix.search(name.lower())
            terms = () if is_empty else self._terms.intersection(term_list(name))
            self._terms_by_name[name] = tuple(sorted(terms))
        return self._terms_by_name[name]


MOST_TERMS = 200  # of a task; one of 200 KB has thousands, and the rare repeated ones decide
_MOST_LOOKED_UP = 600  # terms whose files are counted to find the strongest


class QueryTerm(NamedTuple):
    """A term of the task with its weight."""

    term: str
    weight: float  # by its frequency in the task: 1 for one occurrence, slowly more
    files: Mapping[int, int]  # occurrences by file
    file_rarity: float
    piece_rarity: float
    in_subject: bool


def query_terms(corpus: Corpus, task: TaskText) -> tuple[QueryTerm, ...]:
    subject = frozenset(task.subject)
    total_pieces = sum(facts.pieces for facts in corpus.files)
    counts = {**dict.fromkeys(task.subject, 1), **task.terms}
    terms = list(dict.fromkeys((*task.terms, *task.subject)))
    if len(terms) > _MOST_LOOKED_UP:
        order = sorted(
            range(len(terms)), key=lambda i: (terms[i] not in subject, -counts[terms[i]])
        )
        terms = [terms[i] for i in sorted(order[:_MOST_LOOKED_UP])]
    corpus.look_up(terms)
    queries: list[QueryTerm] = []
    for term in terms:
        files = corpus.files_with(term)
        weight = 1 + log(max(counts[term], 1))
        file_rarity = rarity(len(corpus.files), len(files))
        # Estimated from how often the term occurs in each file.
        holding = sum(min(count, corpus.files[file].pieces) for file, count in files.items())
        piece_rarity = rarity(total_pieces, holding)
        queries.append(QueryTerm(term, weight, files, file_rarity, piece_rarity, term in subject))
    if len(queries) <= MOST_TERMS:
        return tuple(queries)
    # Terms that occur at all, those of the first line, then the rarest.
    strength = [(bool(q.files), q.in_subject, q.weight * q.piece_rarity) for q in queries]
    strongest = nlargest(MOST_TERMS, range(len(queries)), key=strength.__getitem__)
    return tuple(queries[i] for i in sorted(strongest))


Candidates = Mapping[int, Analysis]

_WORD = re.compile(r"\w{2,40}")
_TERMS_SHOWN = 3  # per file in the audit: enough to see why, few enough for a line
# Characters of a task searched for its own spelling of terms; later words show as terms.
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question about a corpus, with values that several kinds of evidence need."""

    corpus: Corpus
    files: Sequence[FileFacts]
    question: Question
    terms: Sequence[QueryTerm]
    matcher: TermMatcher
    paths: PathTable
    kinds: Sequence[PathKind]
    similar: Sequence[SimilarCommit]
    words: Mapping[str, str]  # the task's spelling by term, for the audit
    path_terms: Mapping[int, Mapping[str, int]]  # by file: path parts with each term

    @classmethod
    def of(cls, corpus: Corpus, question: Question) -> "Inquiry":
        terms = query_terms(corpus, question.task)
        wanted = frozenset(term.term for term in terms)
        matcher, paths = TermMatcher(wanted), PathTable(corpus.files)
        return cls(
            corpus,
            corpus.files,
            question,
            terms,
            matcher,
            paths,
            paths.kinds,
            similar_commits(question.commits, question.task.change_words, MOST_SIMILAR),
            _words(question.task.text, wanted),
            _path_terms(corpus.files, matcher) if wanted else {},
        )

    def changed_in(self, commit: Commit) -> Sequence[int]:
        """Return the files that a commit changed."""
        numbers = self.paths.numbers
        return [numbers[path] for path in commit.paths if path in numbers]

    def strongest_words(self, gains: Mapping[str, float]) -> str:
        """Return the words of the task that add most to a score, separated by commas."""
        words = {self.words.get(term, term): gain for term, gain in gains.items()}
        strongest = sorted((-gain, word) for word, gain in words.items())
        return ", ".join(word for _, word in strongest[:_TERMS_SHOWN])

    def load(self, files: Sequence[int], *, with_references: bool = False) -> Candidates:
        numbers = sorted(set(files))
        loaded = self.corpus.analyses(numbers, with_references=with_references)
        return dict(zip(numbers, loaded, strict=True))


def _path_terms(
    files: Sequence[FileFacts], matcher: TermMatcher
) -> Mapping[int, Mapping[str, int]]:
    by_folder: dict[str, Mapping[str, int]] = {"": {}}
    by_file: dict[int, Mapping[str, int]] = {}
    for file, facts in enumerate(files):
        folder, _, name = facts.path.rpartition("/")
        if folder not in by_folder:
            by_folder[folder] = _count_terms(folder.split("/"), matcher)
        counts = by_folder[folder]
        if matcher.matched(name):
            counts = _count_terms([*folder.split("/"), name], matcher)
        if counts:
            by_file[file] = counts
    return by_file


def _count_terms(parts: Sequence[str], matcher: TermMatcher) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for part in parts:
        for term in matcher.matched(part):
            counts[term] = counts.get(term, 0) + 1
    return counts


def _words(text: str, wanted: frozenset[str]) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for match in _WORD.finditer(text[:_MOST_TEXT]):
        for term in term_list(match[0])[:1]:  # without the terms of its parts
            if term in wanted:
                words.setdefault(term, match[0].lower())
    return words


def pieces_of(analysis: Analysis, definition: int, *, inner: bool = False) -> Sequence[int]:
    """Return the pieces of a definition, as indices; with ``inner`` also those of nested definitions."""
    pieces = analysis.pieces
    if definition < 0:
        return [index for index, piece in enumerate(pieces) if piece.definition < 0]
    lines = analysis.definitions[definition]
    overlapping = pieces_over(analysis, lines.first, lines.last)
    if inner:
        nested = [index for index in overlapping if pieces[index].definition >= definition]
        return nested or overlapping
    return [index for index in overlapping if pieces[index].definition == definition] or overlapping


def pieces_over(analysis: Analysis, begin: int, end: int) -> Sequence[int]:
    """Return the pieces that have lines from ``begin`` to ``end``, as indices."""
    start = bisect_left(analysis.pieces, begin, key=lambda piece: piece.last)
    stop = bisect_right(analysis.pieces, end, key=lambda piece: piece.first)
    return range(start, stop)


def keys(file: int, pieces: Sequence[int]) -> Sequence[PieceKey]:
    return [(file, piece) for piece in pieces]
