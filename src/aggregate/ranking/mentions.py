"""What a task names outright: files, definitions, identifiers, also as several words."""

import re
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from aggregate.ranking.evidence import Evidence, PieceKey, lift, rarity, scaled_evidence
from aggregate.ranking.files.analysis import Corpus
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of
from aggregate.ranking.paths import PathTable
from aggregate.ranking.terms import terms_in

_SEPARATORS = re.compile(r"[.#:/\\]+|->")
_LONGEST = 300
_MOST_PARTS = 6  # last parts of a name that are compared: no language nests deeper in practice


class WrittenName(NamedTuple):
    """A name as somebody wrote it, taken apart."""

    scopes: tuple[str, ...]
    name: str

    @classmethod
    def parse(cls, text: str) -> "WrittenName":
        parts = [part for part in _SEPARATORS.split(text[:_LONGEST].strip("()")) if part]
        return cls(tuple(parts[-_MOST_PARTS:-1]), parts[-1]) if parts else cls((), "")


def definitions_named(corpus: Corpus, written: WrittenName) -> Sequence[tuple[int, int]]:
    return corpus.files_defining(written.name) if written.name else ()


def in_scope(
    definitions: Sequence[tuple[int, int]],
    written: WrittenName,
    *,
    candidates: Candidates,
    paths: PathTable,
) -> Sequence[tuple[int, int]]:
    """Return those definitions that stand in what the name says: definitions around them, else modules."""
    known = [(file, place) for file, place in definitions if file in candidates]
    if not written.scopes:
        return known
    for begin in range(len(written.scopes)):  # ``package.Class.name``: packages are no definitions
        path = (*written.scopes[begin:], written.name)
        inside = [
            (file, place)
            for file, place in known
            if tuple(candidates[file].definitions[place].path[-len(path) :]) == path
        ]
        if inside:
            return inside
    return [
        (file, place) for file, place in known if file in paths.by_stem.get(written.scopes[-1], ())
    ]


def surest_names(names: Mapping[str, float], most: int) -> Sequence[tuple[str, float]]:
    return sorted(names.items(), key=lambda item: -item[1])[:most]


# Names of a task that are looked up; a task with more is a log, and its first and surest ones decide.
_MOST_NAMES = 100
_MOST_NAMESAKES = 40  # definitions of one name: where more share it, the name tells nothing
# What a name says about definitions that stand in something else than it says: its first part is a variable then.
_NO_SCOPE = 0.5
_MODULE = 0.7
_WRITTEN_PATH = re.compile(r"[\w.@+\-/\\]{2,300}")
# Words of a task that are compared with files' names: as many as a long ticket has.
_MOST_WORDS = 5_000


def named_files(inquiry: Inquiry) -> tuple[Evidence, Evidence, Evidence]:
    text = inquiry.question.task.text
    subject = text.lstrip().partition("\n")[0]
    in_subject: dict[int, float] = {}
    by_path: dict[int, float] = {}
    by_name: dict[int, float] = {}
    for word in _words(subject):
        _note_names(inquiry, word, in_subject)
    for word in _words(text):
        _note_names(inquiry, word, by_name)
        if "/" in word:
            match = inquiry.paths.meant_by(word)
            lift(by_path, match.files, match.share / sqrt(max(1, len(match.files))))
    return (
        _of_names("file named in the first line", inquiry, in_subject),
        _of_names("path named in the task", inquiry, by_path),
        _of_names("file named in the task", inquiry, by_name),
    )


def _words(text: str) -> Sequence[str]:
    words: dict[str, None] = {}
    for match in _WRITTEN_PATH.finditer(text):
        word = match[0].replace("\\", "/").strip("./-@+") or match[0]
        words[word] = None
        if len(words) == _MOST_WORDS:
            break
    return list(words)


def _note_names(inquiry: Inquiry, word: str, values: dict[int, float]) -> None:
    # By their whole names, or ``pkg.module`` for ``pkg/module.py``.
    name = word.rpartition("/")[2]
    files = inquiry.paths.by_name.get(name, ())
    value = 1.0
    if not files and "." in name:
        files, value = _modules(inquiry, name), _MODULE
    lift(values, files, value / sqrt(max(1, len(files))))


def _modules(inquiry: Inquiry, dotted: str) -> Sequence[int]:
    parts = [part for part in dotted.split(".") if part]
    for end in range(len(parts), 1, -1):
        folder, stem = parts[end - 2], parts[end - 1]
        files = [
            file
            for file in inquiry.paths.by_stem.get(stem, ())
            if inquiry.files[file].path.split("/")[-2:-1] == [folder]
        ]
        if files:
            return files
    return ()


def _of_names(kind: str, inquiry: Inquiry, values: Mapping[int, float]) -> Evidence:
    # Unscaled, since a doubtful name is no better for being the only one.
    matched = {file: inquiry.files[file].path.rpartition("/")[2] for file in values}
    return Evidence(kind, files=values, matched=matched)


def files_with_named_definitions(inquiry: Inquiry) -> Mapping[int, float]:
    """Return the files that define what the task names, with how surely; before their analyses are loaded."""
    values: dict[int, float] = {}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        definitions = definitions_named(inquiry.corpus, WrittenName.parse(text))
        if len(definitions) > _MOST_NAMESAKES:
            continue
        files = [file for file, _ in definitions]
        lift(values, files, certainty / sqrt(max(1, len(files))))
    return values


def named_definitions(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces of the definitions that the task names; namesakes share what it says."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        written = WrittenName.parse(text)
        definitions = definitions_named(inquiry.corpus, written)
        if not definitions or len(definitions) > _MOST_NAMESAKES:
            continue
        scoped = in_scope(definitions, written, candidates=candidates, paths=inquiry.paths)
        value = certainty if scoped else certainty * _NO_SCOPE
        meant = scoped or definitions
        for file, place in meant:
            if file not in candidates:
                continue
            matched.setdefault(file, text)
            lift(values, keys(file, pieces_of(candidates[file], place)), value / sqrt(len(meant)))
    return Evidence("named in the task", pieces=values, matched=matched)


def used_identifiers(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces that use an identifier which the task names, by the rarest that they use."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    rarities = {query.term: query.piece_rarity for query in inquiry.terms}
    files_of = {query.term: query.files for query in inquiry.terms}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        # The term of a whole identifier is the longest of its terms.
        terms = terms_in(WrittenName.parse(text).name)
        term = max(terms, key=lambda term: (len(term), term), default="")
        if certainty < 1 or term not in rarities:
            continue
        for file in candidates:
            if file not in files_of[term]:
                continue
            matched.setdefault(file, text)
            places = [place for place, _ in candidates[file].pieces_with(term)]
            lift(values, keys(file, places), rarities[term])
    return scaled_evidence("identifier used", pieces=values, matched=matched)


def joined_words(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces that use an identifier which the task writes as several words."""
    known = {query.term for query in inquiry.terms}
    total = sum(facts.pieces for facts in inquiry.files)
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for term in inquiry.question.task.joined:
        if term in known:
            continue
        files = inquiry.corpus.files_with(term)
        worth = rarity(total, sum(held.pieces for held in files.values()))
        for file in files:
            if file not in candidates:
                continue
            matched.setdefault(file, term)
            for place, _ in candidates[file].pieces_with(term):
                values[(file, place)] = values.get((file, place), 0.0) + worth
    return scaled_evidence("joined words", pieces=values, matched=matched)
