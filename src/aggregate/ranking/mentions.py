"""What a task names outright: definitions, identifiers, files, and places of tracebacks."""

import re
from collections.abc import Mapping, Sequence
from math import sqrt

from aggregate.ranking.bm25 import rarity
from aggregate.ranking.definition_lookup import (
    WrittenName,
    definitions_named,
    in_scope,
    surest_names,
)
from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.file_analysis import FileAnalysis
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of, pieces_over
from aggregate.ranking.path_kinds import PathKind
from aggregate.ranking.path_table import PathMatch
from aggregate.ranking.question import NamedPlace
from aggregate.ranking.scaling import scaled_evidence
from aggregate.ranking.terms import terms_in

_MOST_NAMES = 100
"""Names of a task that are looked up; a task with more is a log, and its first and surest ones decide."""
_MOST_NAMESAKES = 40
"""Definitions of one name: where more share it, the name tells nothing."""
_MOST_PLACES = 40
"""Places of a traceback that are looked at, the most telling first."""
_NEXT_PLACE = 0.6
"""What the next frame of a traceback counts of the one before: the innermost is the nearest to the fault."""
_REST_OF_FILE = 0.25
"""What a place says about the rest of its file."""
_NO_SCOPE = 0.5
"""What a name says about definitions that stand in something else than it says: its first part is a variable then."""
_MODULE = 0.7
"""What ``pkg.module`` counts of a file's whole name."""
_WRITTEN_PATH = re.compile(r"[\w.@+\-/\\]{2,300}")
_MOST_WORDS = 5_000
"""Words of a task that are compared with files' names: as many as a long ticket has."""


def named_files(inquiry: Inquiry) -> tuple[Evidence, Evidence, Evidence]:
    """Return which files the task names: in its first line, by path, and by name."""
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
            _note_all(inquiry.paths.meant_by(word), by_path)
    return (
        _of_names("file named in the first line", inquiry, in_subject),
        _of_names("path named in the task", inquiry, by_path),
        _of_names("file named in the task", inquiry, by_name),
    )


def _words(text: str) -> Sequence[str]:
    """Return the words of a text that may be paths, each once."""
    words: dict[str, None] = {}
    for match in _WRITTEN_PATH.finditer(text):
        word = match[0].replace("\\", "/").strip("./-@+") or match[0]
        words[word] = None
        if len(words) == _MOST_WORDS:
            break
    return list(words)


def _note_names(inquiry: Inquiry, word: str, values: dict[int, float]) -> None:
    """Note the files that a word names: by their whole names, or ``pkg.module`` for ``pkg/module.py``."""
    name = word.rpartition("/")[2]
    files = inquiry.paths.by_name.get(name, ())
    value = 1.0
    if not files and "." in name:
        files, value = _modules(inquiry, name), _MODULE
    share = value / sqrt(max(1, len(files)))
    for file in files:
        values[file] = max(values.get(file, 0.0), share)


def _modules(inquiry: Inquiry, dotted: str) -> Sequence[int]:
    """Return the files that a dotted name means, ``pkg.module`` or ``pkg.module.name``."""
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


def _note_all(match: PathMatch, values: dict[int, float]) -> None:
    share = match.share / sqrt(max(1, len(match.files)))
    for file in match.files:
        values[file] = max(values.get(file, 0.0), share)


def _of_names(kind: str, inquiry: Inquiry, values: Mapping[int, float]) -> Evidence:
    """Return the evidence of named files; unscaled, since a doubtful name is no better for being the only one."""
    matched = {file: inquiry.files[file].path.rpartition("/")[2] for file in values}
    return Evidence(kind, files=values, matched=matched)


def files_with_named_definitions(inquiry: Inquiry) -> Mapping[int, float]:
    """Return the files that define what the task names, with how surely; before their analyses are loaded."""
    values: dict[int, float] = {}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        definitions = definitions_named(inquiry.corpus, WrittenName.parse(text))
        if len(definitions) > _MOST_NAMESAKES:
            continue
        for file, _ in definitions:
            share = certainty / sqrt(len(definitions))
            values[file] = max(values.get(file, 0.0), share)
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
            for key in keys(file, pieces_of(candidates[file], place)):
                values[key] = max(values.get(key, 0.0), value / sqrt(len(meant)))
    return Evidence("named in the task", pieces=values, matched=matched)


def used_identifiers(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces that use an identifier which the task names, by the rarest that they use."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    rarities = {query.term: query.piece_rarity for query in inquiry.terms}
    files_of = {query.term: query.files for query in inquiry.terms}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        term = _whole_term(WrittenName.parse(text).name)
        if certainty < 1 or term not in rarities:
            continue
        for file in candidates:
            if file not in files_of[term]:
                continue
            matched.setdefault(file, text)
            for place, _ in candidates[file].pieces_with(term):
                key = (file, place)
                values[key] = max(values.get(key, 0.0), rarities[term])
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


def _whole_term(name: str) -> str:
    """Return the term of a whole identifier, which is the longest of its terms."""
    return max(terms_in(name), key=lambda term: (len(term), term), default="")


def traced_files(inquiry: Inquiry) -> Sequence[tuple[NamedPlace, Sequence[int], float]]:
    """Return for each place that the task names the files that it means and how much that says of each.

    Files outside of the project are passed over, so that the innermost frame within it says most.
    """
    traced: list[tuple[NamedPlace, Sequence[int], float]] = []
    strength = 1.0
    for place in inquiry.question.task.places[:_MOST_PLACES]:
        match = inquiry.paths.meant_by(place.path)
        if not match.files:
            continue
        traced.append((place, match.files, strength * match.share / sqrt(len(match.files))))
        strength *= _NEXT_PLACE
    return traced


def pointed_files(inquiry: Inquiry) -> frozenset[int]:
    """Return the files that the task's places point at, whatever these are for."""
    return frozenset(
        file
        for place, files, _ in traced_files(inquiry)
        if _is_pointed_at(inquiry, place)
        for file in files
    )


def _is_pointed_at(inquiry: Inquiry, place: NamedPlace) -> bool:
    """Tell whether a place is more than a file that is spoken of behind the first line.

    Messages end with the changelog and the tests that were touched as well.
    """
    if place.line or place.symbol:
        return True
    return place.path in inquiry.question.task.text.lstrip().partition("\n")[0]


def traced_places(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces that tracebacks and messages of compilers point at."""
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for place, numbers, strength in traced_files(inquiry):
        is_pointed_at = _is_pointed_at(inquiry, place)
        for file in numbers:
            if not is_pointed_at and inquiry.kinds[file] is not PathKind.SOURCE:
                continue
            files[file] = max(files.get(file, 0.0), strength * _REST_OF_FILE)
            if file not in candidates:
                continue
            matched.setdefault(
                file, f"{inquiry.files[file].path}:{place.line}" if place.line else place.path
            )
            for key in keys(file, _pieces_at(candidates[file], place)):
                pieces[key] = max(pieces.get(key, 0.0), strength)
    return Evidence("place in the task", files=files, pieces=pieces, matched=matched)


def _pieces_at(analysis: FileAnalysis, place: NamedPlace) -> Sequence[int]:
    """Return the pieces of a place: those of its line, else of the function that is named with it.

    Where the line is not in that function, the file has changed since, and the function is the better guess.
    """
    at_line = pieces_over(analysis, place.line, place.line) if place.line else ()
    if not place.symbol:
        return at_line
    name = WrittenName.parse(place.symbol).name
    in_function = [
        piece
        for number, definition in enumerate(analysis.definitions)
        if definition.path and definition.path[-1] == name
        for piece in pieces_of(analysis, number, inner=True)
    ]
    if not in_function or set(at_line) & set(in_function):
        return at_line
    return in_function
