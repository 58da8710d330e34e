"""What a task names outright: files, definitions, identifiers and places; and the seeds that stand beside it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from aggregate.base.request import Missing
from aggregate.ranking.covered_names import name_of
from aggregate.ranking.evidence import Evidence, PieceKey, lift, scaled_evidence
from aggregate.ranking.files.analysis import Analysis, Corpus
from aggregate.ranking.inquiry import (
    Candidates,
    Inquiry,
    NamedPlace,
    QueryTerm,
    keys,
    pieces_of,
    pieces_over,
)
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import term_list, terms_in

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


_Definition = tuple[int, int]  # a file, and its place among the file's


def _definitions(
    inquiry: Inquiry, candidates: Candidates, text: str
) -> tuple[Sequence[_Definition], Sequence[_Definition]]:
    """Return the definitions of a name in the candidates' programs, and those of them that stand in what it says.

    That are definitions around them, else modules; where it says nothing, all do.
    """
    scopes, name = WrittenName.parse(text)
    named = [
        (file, place)
        for file, analysis in candidates.items()
        if inquiry.files[file].is_code
        for place in analysis.named.get(name, ())
    ]
    for begin in range(len(scopes)):  # ``package.Class.name``: packages are no definitions
        path = (*scopes[begin:], name)
        inside = [
            (file, place)
            for file, place in named
            if tuple(candidates[file].definitions[place].path[-len(path) :]) == path
        ]
        if inside:
            return named, inside
    modules = inquiry.paths.by_stem.get(scopes[-1], ()) if scopes else range(len(inquiry.files))
    return named, [each for each in named if each[0] in modules]


def surest_names(names: Mapping[str, float], most: int) -> Sequence[tuple[str, float]]:
    return sorted(names.items(), key=lambda item: -item[1])[:most]


# Names of a task that are looked up; a task with more is a log, and its first and surest ones decide.
_MOST_NAMES = 100
_MOST_NAMESAKES = 40  # definitions of one name: where more share it, the name tells nothing
# What a name says about definitions that stand in something else than it says: its first part is a variable then.
_NO_SCOPE = 0.5
_MODULE = 0.7
_WRITTEN_PATH = re.compile(r"[\w.@+\-/\\]{2,300}")


def named_files(inquiry: Inquiry) -> Evidence:
    """Return the files that the task's first line names, or as ``pkg.module``; what the rest names are places."""
    values: dict[int, float] = {}
    subject = inquiry.question.task.text.lstrip().partition("\n")[0][:_LONGEST]
    for match in _WRITTEN_PATH.finditer(subject):
        word = match[0].replace("\\", "/").strip("./-@+") or match[0]
        name = word.rpartition("/")[2]
        if name == word and name.islower() and name.isalpha():
            continue  # a word of prose, as which a script may be called
        files = inquiry.paths.by_name.get(name, ())
        value = 1.0
        if not files and "." in name:
            files, value = _modules(inquiry, name), _MODULE
        lift(values, files, value / sqrt(max(1, len(files))))
    # Unscaled, since a doubtful name is no better for being the only one.
    matched = {file: inquiry.files[file].path.rpartition("/")[2] for file in values}
    return Evidence("file named in the first line", files=values, matched=matched)


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


def files_with_named_definitions(inquiry: Inquiry) -> Mapping[int, float]:
    """Return the files that define what the task names, with how surely; before their analyses are loaded."""
    values: dict[int, float] = {}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        written = WrittenName.parse(text)
        files = inquiry.corpus.files_defining(written.name) if written.name else ()
        if len(files) > _MOST_NAMESAKES:
            continue
        lift(values, files, certainty / sqrt(max(1, len(files))))
    return values


def named_definitions(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces of the definitions that the task names; namesakes share what it says."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        named, scoped = _definitions(inquiry, candidates, text)
        if len(named) > _MOST_NAMESAKES:
            continue
        value = certainty if scoped else certainty * _NO_SCOPE
        meant = scoped or named
        for file, place in meant:
            matched.setdefault(file, text)
            lift(values, keys(file, pieces_of(candidates[file], place)), value / sqrt(len(meant)))
    return Evidence("named in the task", pieces=values, matched=matched)


_WITHIN = 0.5  # what a definition within another one counts of one that stands by itself
_NAMESPACES = frozenset({"module", "namespace", "package"})


def sole_definitions(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces of definitions and modules called like all of the task, in the source if there are any."""
    name = inquiry.question.task.sole
    meant: Sequence[_Definition] = ()
    for each in dict.fromkeys((name, name.lstrip("$"))) if name else ():  # which may be none of it
        named, scoped = _definitions(inquiry, candidates, each)
        meant = meant or scoped or named
    source = [file for file in candidates if name and inquiry.kinds[file] is PathKind.SOURCE]
    values: dict[PieceKey, float] = {}
    for file, place in [each for each in meant if each[0] in source] or meant:
        definitions = candidates[file].definitions
        outer = definitions[place].outer
        is_within = outer >= 0 and definitions[outer].kind not in _NAMESPACES
        pieces = pieces_of(candidates[file], place)
        lift(values, keys(file, pieces), _WITHIN if is_within else 1.0)
    for file in (each for each in source if name_of(inquiry.files[each].path) == name):
        lift(values, keys(file, range(len(candidates[file].pieces))), _MODULE)
    matched = {file: name for file, _ in values}
    return scaled_evidence("all of the task", pieces=values, matched=matched)


def used_identifiers(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return the pieces that use an identifier which the task names, by the rarest, and where its case and marks tell.

    ``_exit`` has the term of a plain word, which stands in far more places than what is written so.
    """
    values: dict[PieceKey, float] = {}
    written: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for text, name, query, is_word in _sure_identifiers(inquiry):
        holding = [file for file in candidates if file in query.files]
        for file in holding:
            matched.setdefault(file, text)
            places = [*candidates[file].pieces_with(query.term)]
            lift(values, keys(file, places), query.piece_rarity)
        exact = [
            (file, place)
            for file in (holding if is_word else ())
            for reference in candidates[file].references
            if reference.name == name
            for place in pieces_over(candidates[file], reference.line, reference.line)
        ]
        lift(written, exact, 1 / sqrt(max(1, len(exact))))
    return (
        scaled_evidence("identifier used", pieces=values, matched=matched),
        Evidence("used as written", pieces=written, matched=matched),
    )


def _sure_identifiers(inquiry: Inquiry) -> Iterator[tuple[str, str, QueryTerm, bool]]:
    """Yield what the task surely names, the name in it, its term and whether that may stand for a plain word too."""
    known = {query.term: query for query in inquiry.terms}
    for text, certainty in surest_names(inquiry.question.task.names, _MOST_NAMES):
        name = WrittenName.parse(text).name
        # The term of a whole identifier is the longest of its terms.
        terms = terms_in(name)
        query = known.get(max(terms, key=lambda term: (len(term), term), default=""))
        if certainty >= 1 and query is not None:
            yield text, name, query, len(terms) == 1


def asks_for_uses(inquiry: Inquiry) -> bool:
    """Tell whether an evidence asks what the candidates refer to: around what is pointed at, and uses as written."""
    question = inquiry.question
    pointed = question.focus or question.symbols or question.changes or question.task.places
    return bool(pointed) or any(is_word for *_, is_word in _sure_identifiers(inquiry))


_REST_OF_FILE = 0.3
# What a symbol says about the definitions within it: a class's methods come behind the class itself.
_INNER = 0.6


def seed_files(inquiry: Inquiry) -> frozenset[int]:
    """Return the files that the user points at; before their analyses are loaded."""
    paths = [path for path, _, _ in (*inquiry.question.focus, *inquiry.question.changes)]
    files = {file for path in paths for file in _files_at(inquiry, path)}
    for symbol in inquiry.question.symbols:
        loaded = inquiry.load(_files_that_may_define(inquiry.corpus, symbol), with_references=True)
        files.update(file for file, _ in _definitions(inquiry, loaded, symbol)[0])
    return frozenset(files)


# Files that hold a name of which those are found that define it, where a pass over their words has found none.
_MOST_HOLDING = 100


def _files_that_may_define(corpus: Corpus, text: str) -> Sequence[int]:
    """Return the files that seem to define a name, or where none does that hold it, unless they are too many."""
    name = WrittenName.parse(text).name
    defining = corpus.files_defining(name) if name else ()
    terms = () if defining else term_list(name)
    holding = sorted(corpus.files_with(terms[0])) if terms else ()
    return defining or (holding if len(holding) <= _MOST_HOLDING else ())


def _files_at(inquiry: Inquiry, path: str) -> Sequence[int]:
    number = inquiry.paths.numbers.get(path)
    return inquiry.paths.meant_by(path).files if number is None else (number,)


def seeded_pieces(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, ...]:
    question = inquiry.question
    return (
        _places(inquiry, candidates, kind="focus", places=question.focus),
        _symbols(inquiry, candidates),
        _places(inquiry, candidates, kind="changed since", places=question.changes),
    )


def _places(
    inquiry: Inquiry, candidates: Candidates, *, kind: str, places: Sequence[tuple[str, int, int]]
) -> Evidence:
    # Whole files for no lines.
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for path, begin, end in places:
        for file in _files_at(inquiry, path):
            lines = "" if not begin else f":{begin}" if begin == end else f":{begin}-{end}"
            matched.setdefault(file, f"{inquiry.files[file].path}{lines}")
            files[file] = max(files.get(file, 0.0), _REST_OF_FILE if begin else 1.0)
            if begin and file in candidates:
                over = pieces_over(candidates[file], begin, max(begin, end))
                pieces.update(dict.fromkeys(keys(file, over), 1 - _REST_OF_FILE))
    whole = {file for file, value in files.items() if value == 1}
    only = {key: value for key, value in pieces.items() if key[0] not in whole}
    missing = None
    if places and not files:
        missing = Missing(kind, f"{places[0][0]} is none of the project's files")
    return Evidence(kind, files=files, pieces=only, matched=matched, missing=missing)


def _symbols(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    # Namesakes share.
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    unknown: list[str] = []
    for symbol in inquiry.question.symbols:
        _, meant = _definitions(inquiry, candidates, symbol)
        if not meant:
            unknown.append(symbol)
        for file, place in meant:
            matched.setdefault(file, symbol)
            share = 1 / sqrt(len(meant))
            inner = keys(file, pieces_of(candidates[file], place, inner=True))
            own = keys(file, pieces_of(candidates[file], place))
            lift(values, inner, share * _INNER)
            lift(values, own, share)
    missing = no_definitions(unknown) if unknown else None
    evidence = scaled_evidence("symbol", pieces=values, matched=matched)
    return Evidence("symbol", pieces=evidence.pieces, matched=matched, missing=missing)


def no_definitions(symbols: Sequence[str]) -> Missing:
    """Return that no definition is called as any of these."""
    return Missing("symbol", f"no definition is called {' or '.join(symbols)}")


_MOST_PLACES = 40  # places of a traceback that are looked at, the most telling first
# What the next frame of a traceback counts of the one before: the innermost is the nearest to the fault.
_NEXT_PLACE = 0.6
_REST_OF_TRACED = 0.25


def traced_files(inquiry: Inquiry) -> Sequence[tuple[NamedPlace, Sequence[int], float]]:
    """Return for each place that the task names the files that it means and how much that says of each."""
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
    # Messages end with the changelog and the tests that were touched as well.
    if place.line or place.symbol:
        return True
    return place.path in inquiry.question.task.text.lstrip().partition("\n")[0]


def traced_places(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for place, numbers, strength in traced_files(inquiry):
        is_pointed_at = _is_pointed_at(inquiry, place)
        for file in numbers:
            if not is_pointed_at and inquiry.kinds[file] is not PathKind.SOURCE:
                continue
            files[file] = max(files.get(file, 0.0), strength * _REST_OF_TRACED)
            if file not in candidates:
                continue
            matched.setdefault(
                file, f"{inquiry.files[file].path}:{place.line}" if place.line else place.path
            )
            lift(pieces, keys(file, _pieces_at(candidates[file], place)), strength)
    return Evidence("place in the task", files=files, pieces=pieces, matched=matched)


def _pieces_at(analysis: Analysis, place: NamedPlace) -> Sequence[int]:
    # Where the line is not in that function, the file has changed since, and the function is the better guess.
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
