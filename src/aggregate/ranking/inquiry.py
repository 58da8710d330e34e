"""A question, and the inquiry that puts it to a corpus: what all evidences look up, looked up once."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import fsum, log
from typing import Final, NamedTuple

from aggregate.base.request import Missing, Pick
from aggregate.ranking.evidence import PieceKey, rarity, saturation
from aggregate.ranking.files.analysis import Analysis, Corpus, FileFacts
from aggregate.ranking.paths import PathKind, PathTable, kinds_of
from aggregate.ranking.terms import term_list


class NamedPlace(NamedTuple):
    """A place in a file that the task's text names, as a traceback or a compiler does."""

    path: str  # as it is written there, absolute or relative, with ``/``
    line: int = 0  # 1-based, ``0`` where none is named
    symbol: str = ""  # the function that is named with it, ``""`` for none


@dataclass(frozen=True, slots=True)
class TaskText:
    """A task's text, read."""

    terms: Mapping[str, int] = field(default_factory=dict)
    subject: tuple[str, ...] = ()
    # The roots of the first line's words with how much it is about each, 1 or less.
    about: Mapping[str, float] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    asks: bool = False  # whether somebody asks where something is, rather than tells what to change
    sole: str = ""  # the name that is all that the task says
    # As written, with how surely each is one.
    names: Mapping[str, float] = field(default_factory=dict)
    places: tuple[NamedPlace, ...] = ()  # places that it names, the most telling first
    text: str = ""
    change_words: tuple[str, ...] = ()


class ChangedLines(NamedTuple):
    """Lines of a file as it is now that changed since a revision."""

    path: str
    first: int = 0  # 1-based; ``0`` where all of the file is new
    last: int = 0


class Commit(NamedTuple):
    """A commit of the project's history, as evidence needs it."""

    terms: frozenset[str]
    paths: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()  # for those commits that were looked at closely
    change_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """All that a ranking is asked by."""

    task: TaskText = field(default_factory=TaskText)
    focus: Sequence[tuple[str, int, int]] = ()  # lines ``0`` for whole files
    symbols: Sequence[str] = ()
    changes: Sequence[ChangedLines] = ()
    commits: Sequence[Commit] = ()  # the history, the newest first
    missing: Sequence[Missing] = ()
    is_overview: bool = False  # whether what the project says of itself goes before all
    picks: Sequence[Pick] = ()  # of a second look

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, so that structure alone decides."""
        return not (self.task.terms or self.task.names or self.task.places) and not (
            self.focus or self.symbols or self.changes or self.picks
        )


# Commits that count as like the task; measured with the weights of ``ranking.weights``.
MOST_SIMILAR: Final = 100
# Those of them whose definitions are looked at: git has to compare the files of each.
MOST_READ: Final = 40
_B: Final = 0.75  # BM25's usual share of the length: a long message speaks of many things


class SimilarCommit(NamedTuple):
    """A past commit that a task resembles."""

    place: int  # in the history, ``0`` for the newest
    score: float  # BM25 of the words of its message's first line, above ``0``
    share: float  # what the words in common are worth of all that are asked for


def similar_commits(
    commits: Sequence[Commit], words: Iterable[str], most: int = MOST_READ
) -> list[SimilarCommit]:
    """Return the commits whose first lines resemble a task's most, the most alike first, of equal ones the newer."""
    asked = frozenset(words)
    shared = [commit.change_words & asked for commit in commits]
    frequency = Counter(word for words_of_commit in shared for word in words_of_commit)
    if not frequency:
        return []
    total = len(commits)
    worth = {word: rarity(total, frequency[word]) for word in asked}
    most_worth = fsum(worth.values())
    average = sum(len(commit.change_words) for commit in commits) / total
    scored: list[tuple[float, int, float]] = []
    for place, matched in enumerate(shared):
        if matched:
            length = len(commits[place].change_words) / average
            weight = saturation(1, length=length, b=_B)
            # Summed exactly, since the order of a set is another in each process.
            told = fsum(map(worth.__getitem__, matched))
            scored.append((-weight * told, place, told / most_worth))
    scored.sort()
    return [SimilarCommit(place, -score, share) for score, place, share in scored[:most]]


# Last characters of a term that the word it stands for may have otherwise: ``y`` for ``ies``.
_CHANGED = 1
# Letters of terms that are looked for as they are: what is left of them otherwise would be in most names.
_SHORT = 3


class TermMatcher:
    """Find a task's terms in the names of files, folders and definitions."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        prefixes = sorted(
            {term[:-_CHANGED] if len(term) > _SHORT else term for term in self._terms}
        )
        self._may_hold = re.compile("|".join(map(re.escape, prefixes)) or r"(?!)")
        self._known: dict[str, tuple[str, ...]] = {}

    def matched(self, name: str) -> tuple[str, ...]:
        if name not in self._known:
            # A search costs a tenth of taking the name apart, and most names hold nothing.
            is_empty = name.isascii() and not self._may_hold.search(name.lower())
            held = () if is_empty else self._terms.intersection(term_list(name))
            self._known[name] = tuple(sorted(held))
        return self._known[name]


# Terms of a task that are asked for: a task of 200 KB has thousands, and the rare ones that it repeats decide.
MOST_TERMS = 200
_MOST_LOOKED_UP = 600  # terms whose files are counted to find the strongest; each costs a look-up


class QueryTerm(NamedTuple):
    """A term of the task."""

    term: str
    weight: float  # how much the task speaks of it: 1 for once, slowly more
    files: Mapping[int, int]  # how often it occurs in each that holds it
    file_rarity: float
    piece_rarity: float
    in_subject: bool


def query_terms(corpus: Corpus, task: TaskText) -> tuple[QueryTerm, ...]:
    subject = frozenset(task.subject)
    total_pieces = sum(facts.pieces for facts in corpus.files)
    counts = {**dict.fromkeys(task.subject, 1), **task.terms}
    most_told = [(term, counts[term]) for term in dict.fromkeys((*task.terms, *task.subject))]
    if len(most_told) > _MOST_LOOKED_UP:
        order = sorted(
            range(len(most_told)), key=lambda i: (most_told[i][0] not in subject, -most_told[i][1])
        )
        most_told = [most_told[i] for i in sorted(order[:_MOST_LOOKED_UP])]
    corpus.look_up([term for term, _ in most_told])
    looked_up: list[QueryTerm] = []
    for term, count in most_told:
        files = corpus.files_with(term)
        weight = 1 + log(max(count, 1))
        file_rarity = rarity(len(corpus.files), len(files))
        piece_rarity = rarity(total_pieces, pieces_holding(corpus, files))
        looked_up.append(QueryTerm(term, weight, files, file_rarity, piece_rarity, term in subject))
    if len(looked_up) <= MOST_TERMS:
        return tuple(looked_up)
    # Terms that occur at all, those of the first line, then the rarest.
    strength = [(bool(t.files), t.in_subject, t.weight * t.piece_rarity) for t in looked_up]
    strongest = nlargest(MOST_TERMS, range(len(looked_up)), key=strength.__getitem__)
    return tuple(looked_up[i] for i in sorted(strongest))


def pieces_holding(corpus: Corpus, files: Mapping[int, int]) -> int:
    """Return in about how many pieces a term is that so many times occurs in some files: mostly once in each."""
    facts = corpus.files
    return sum(min(count, facts[file].pieces) for file, count in files.items())


Candidates = Mapping[int, Analysis]

_WORD = re.compile(r"\w{2,40}")
_TERMS_TOLD = 3  # terms that the audit names for a file: enough to see why, few enough for a line
# Characters of a task in which words are looked for to tell what matched; behind them the term itself is told.
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A corpus, a question, and what follows from both."""

    corpus: Corpus
    question: Question
    terms: Sequence[QueryTerm]
    matcher: TermMatcher
    paths: PathTable
    kinds: Sequence[PathKind]
    similar: Sequence[SimilarCommit]
    words: Mapping[str, str]  # for each term the task's own word, to tell what matched
    path_terms: Mapping[int, Mapping[str, int]]  # by file, in how many parts of its path each is

    @classmethod
    def of(cls, corpus: Corpus, question: Question) -> "Inquiry":
        terms = query_terms(corpus, question.task)
        wanted = frozenset(term.term for term in terms)
        matcher = TermMatcher(wanted)
        return cls(
            corpus,
            question,
            terms,
            matcher,
            PathTable(corpus.files),
            kinds_of(corpus.files),
            similar_commits(question.commits, question.task.change_words, MOST_SIMILAR),
            _words(question.task.text, wanted),
            _path_terms(corpus.files, matcher) if wanted else {},
        )

    @property
    def files(self) -> Sequence[FileFacts]:
        return self.corpus.files

    def told(self, worth: Mapping[str, float]) -> str:
        words = {self.words.get(term, term): worth[term] for term in worth}
        strongest = sorted((-value, word) for word, value in words.items())
        return ", ".join(word for _, word in strongest[:_TERMS_TOLD])

    def load(self, files: Sequence[int], *, with_references: bool = False) -> Candidates:
        numbers = sorted(set(files))
        loaded = self.corpus.analyses(numbers, with_references=with_references)
        return dict(zip(numbers, loaded, strict=True))


def _path_terms(
    files: Sequence[FileFacts], matcher: TermMatcher
) -> Mapping[int, Mapping[str, int]]:
    by_folder: dict[str, Mapping[str, int]] = {"": {}}
    held: dict[int, Mapping[str, int]] = {}
    for file, facts in enumerate(files):
        folder, _, name = facts.path.rpartition("/")
        if folder not in by_folder:
            by_folder[folder] = _counted(folder.split("/"), matcher)
        in_name = matcher.matched(name)
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
    # Terms of parts of words are left out.
    words: dict[str, str] = {}
    for match in _WORD.finditer(text[:_MOST_TEXT]):
        for term in term_list(match[0])[:1]:
            if term in wanted:
                words.setdefault(term, match[0].lower())
    return words


def pieces_of(analysis: Analysis, definition: int, *, inner: bool = False) -> Sequence[int]:
    """Return the places of the pieces of a definition; with ``inner`` also of the definitions in it."""
    pieces = analysis.pieces
    if definition < 0:
        return [place for place, piece in enumerate(pieces) if piece.definition < 0]
    named = analysis.definitions[definition]
    over = pieces_over(analysis, named.first, named.last)
    if inner:
        within = [place for place in over if pieces[place].definition >= definition]
        return within or over
    return [place for place in over if pieces[place].definition == definition] or over


def pieces_over(analysis: Analysis, begin: int, end: int) -> Sequence[int]:
    """Return the places of the pieces that hold a line from ``begin`` to ``end``."""
    start = bisect_left(analysis.pieces, begin, key=lambda piece: piece.last)
    stop = bisect_right(analysis.pieces, end, key=lambda piece: piece.first)
    return range(start, stop)


def keys(file: int, places: Sequence[int]) -> Sequence[PieceKey]:
    return [(file, place) for place in places]
