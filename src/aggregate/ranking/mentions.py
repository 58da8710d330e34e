"""Evidence from files, names and code locations that the task, the user or a pick mentions."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from aggregate.base.task_budget import Missing
from aggregate.ranking.covered_names import MODULE, name_of
from aggregate.ranking.evidence import PICKED, Evidence, PieceKey, best_keys, lift, scaled
from aggregate.ranking.files.analysis import Analysis, Corpus
from aggregate.ranking.inquiry import (
    Candidates,
    Inquiry,
    Location,
    QueryTerm,
    keys,
    pieces_of,
    pieces_over,
)
from aggregate.ranking.named_identifiers import name_parts
from aggregate.ranking.paths import PathKind
from aggregate.ranking.terms import term_list, terms_in

_Definition = tuple[int, int]  # file, index among its definitions


class MentionedFiles(NamedTuple):
    """Files that the task or the user mentions.

    Attributes:
        seeds: Files named by the user, directly or by symbols.
        exempt: Seeds, and files of certain code locations in the task.
        certainties: By file, how certainly it defines a name in the task.
        candidates: Files to analyse regardless of other evidence.
        needs_references: Whether the question needs the names used in files.
    """

    seeds: frozenset[int]
    exempt: frozenset[int]
    certainties: Mapping[int, float]
    candidates: Sequence[int]
    needs_references: bool


# Certainty at which the file of a named definition becomes a candidate regardless of other evidence.
_CERTAIN = 0.3


def of_files(inquiry: Inquiry) -> MentionedFiles:
    """Return the mentioned files, found without parsing except for symbols."""
    question = inquiry.question
    seeds = _seed_files(inquiry)
    traced = traced_files(inquiry)
    explicit = [files for location, files, _ in traced if _is_explicit(inquiry, location)]
    certainties = _files_with_named_definitions(inquiry)
    candidates = [file for _, files, _ in traced for file in files]
    candidates += sorted(seeds)
    candidates += [inquiry.paths.numbers[pick.path] for pick in question.picks]
    candidates += [file for file in best_keys(certainties) if certainties[file] >= _CERTAIN]
    has_seed = question.focus or question.symbols or question.changes or question.task.locations
    is_word = any(is_word for *_, is_word in _sure_identifiers(inquiry))
    return MentionedFiles(
        seeds, seeds.union(*explicit), certainties, candidates, bool(has_seed) or is_word
    )


def of_pieces(
    inquiry: Inquiry, candidates: Candidates
) -> tuple[Sequence[Evidence], Evidence, Sequence[Evidence], Sequence[Evidence]]:
    """Return evidence from names, from places, from the user's seeds, and from a model's picks."""
    question = inquiry.question
    return (
        (
            _named_definitions(inquiry, candidates),
            sole_definitions(inquiry, candidates),
            *_used_identifiers(inquiry, candidates),
        ),
        traced_pieces(inquiry, candidates),
        (
            _line_seeds(inquiry, candidates, kind="focus", ranges=question.focus),
            _symbols(inquiry, candidates),
            _line_seeds(inquiry, candidates, kind="changed since", ranges=question.changes),
        ),
        _picked(inquiry, candidates),
    )


def _definitions(
    inquiry: Inquiry, candidates: Candidates, text: str
) -> tuple[Sequence[_Definition], Sequence[_Definition]]:
    """Return definitions with a name, and those in its scope.

    The scope is a class or a module.
    """
    *scopes, name = name_parts(text)
    namesakes = [
        (file, definition)
        for file, analysis in candidates.items()
        if inquiry.files[file].is_code
        for definition in analysis.named.get(name, ())
    ]
    for begin in range(len(scopes)):  # packages in ``package.Class.name`` are not definitions
        path = (*scopes[begin:], name)
        in_scope = [
            (file, definition)
            for file, definition in namesakes
            if tuple(candidates[file].definitions[definition].path[-len(path) :]) == path
        ]
        if in_scope:
            return namesakes, in_scope
    modules = inquiry.paths.by_stem.get(scopes[-1], ()) if scopes else range(len(inquiry.files))
    return namesakes, [(file, definition) for file, definition in namesakes if file in modules]


# Names looked up; a task with more is a log, and its first and surest names decide.
_MOST_NAMES = 100
_MOST_NAMESAKES = 40  # definitions of one name; a more common name is no evidence
# Value of definitions outside the name's scope: the scope may be a variable.
_NO_SCOPE = 0.5


def _surest_names(inquiry: Inquiry) -> Sequence[tuple[str, float]]:
    names = inquiry.question.task.names.items()
    return sorted(names, key=lambda item: -item[1])[:_MOST_NAMES]


def _files_with_named_definitions(inquiry: Inquiry) -> Mapping[int, float]:
    """Return the files that probably define a name in the task, found without parsing."""
    values: dict[int, float] = {}
    for text, certainty in _surest_names(inquiry):
        name = name_parts(text)[-1]
        files = inquiry.corpus.files_defining(name) if name else ()
        if len(files) > _MOST_NAMESAKES:
            continue
        lift(values, files, certainty / sqrt(max(1, len(files))))
    return values


def _named_definitions(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return evidence for definitions named in the task."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for text, certainty in _surest_names(inquiry):
        namesakes, in_scope = _definitions(inquiry, candidates, text)
        if len(namesakes) > _MOST_NAMESAKES:
            continue
        targets = in_scope or namesakes
        value = certainty if in_scope else certainty * _NO_SCOPE
        for file, definition in targets:
            matched.setdefault(file, text)
            pieces = pieces_of(candidates[file], definition)
            lift(values, keys(file, pieces), value / sqrt(len(targets)))
    return Evidence("named in the task", pieces=values, matched=matched)


_NESTED = 0.5  # value of a nested definition; 1 for a top-level one
_NAMESPACES = frozenset({"heading", "module", "namespace", "package"})


def sole_definitions(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return as evidence the definitions and modules whose name is the whole task, preferably in sources."""
    name = inquiry.question.task.sole
    if not name:
        return Evidence("all of the task")
    targets: Sequence[_Definition] = ()
    for spelling in (name, name.lstrip("$")):  # ``$`` may be part of the name or not
        namesakes, in_scope = _definitions(inquiry, candidates, spelling)
        targets = targets or in_scope or namesakes
    sources = [file for file in candidates if inquiry.kinds[file] is PathKind.SOURCE]
    values: dict[PieceKey, float] = {}
    for file, definition in [target for target in targets if target[0] in sources] or targets:
        definitions = candidates[file].definitions
        outer = definitions[definition].outer
        is_nested = outer >= 0 and definitions[outer].kind not in _NAMESPACES
        pieces = pieces_of(candidates[file], definition)
        lift(values, keys(file, pieces), _NESTED if is_nested else 1.0)
    for file in sources:
        if name_of(inquiry.files[file].path) == name:
            lift(values, keys(file, range(len(candidates[file].pieces))), MODULE)
    matched = {file: name for file, _ in values}
    return Evidence("all of the task", pieces=scaled(values), matched=matched)


def _used_identifiers(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return evidence from uses of names in the task.

    One kind compares terms, the other exact spelling. ``_exit`` has the same term as the word "exit", which is far more
    common.
    """
    values: dict[PieceKey, float] = {}
    exact_values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for text, name, query, is_word in _sure_identifiers(inquiry):
        users = [file for file in candidates if file in query.files]
        for file in users:
            matched.setdefault(file, text)
            pieces = [*candidates[file].pieces_with(query.term)]
            lift(values, keys(file, pieces), query.piece_rarity)
        if is_word:
            exact = [
                (file, piece)
                for file in users
                for reference in candidates[file].references
                if reference.name == name
                for piece in pieces_over(candidates[file], reference.line, reference.line)
            ]
            lift(exact_values, exact, 1 / sqrt(max(1, len(exact))))
    return (
        Evidence("identifier used", pieces=scaled(values), matched=matched),
        Evidence("used as written", pieces=exact_values, matched=matched),
    )


def _sure_identifiers(inquiry: Inquiry) -> Iterator[tuple[str, str, QueryTerm, bool]]:
    """Yield the words of the task that are certainly names.

    For each: text, last part, term, and whether it is a single word.
    """
    query_by_term = {query.term: query for query in inquiry.terms}
    for text, certainty in _surest_names(inquiry):
        name = name_parts(text)[-1]
        # The term of a whole identifier is the longest of its terms.
        terms = terms_in(name)
        query = query_by_term.get(max(terms, key=lambda term: (len(term), term), default=""))
        if certainty >= 1 and query is not None:
            yield text, name, query, len(terms) == 1


_REST_OF_FILE = 0.3
_INNER = 0.6  # value of definitions inside a symbol: methods come after their class


def _seed_files(inquiry: Inquiry) -> frozenset[int]:
    """Return the files that the user named, directly or by symbols."""
    paths = [path for path, _, _ in (*inquiry.question.focus, *inquiry.question.changes)]
    files = {file for path in paths for file in _files_at(inquiry, path)}
    for symbol in inquiry.question.symbols:
        loaded = inquiry.load(_files_that_may_define(inquiry.corpus, symbol), with_references=True)
        files.update(file for file, _ in _definitions(inquiry, loaded, symbol)[0])
    return frozenset(files)


_MOST_MENTIONS = 100  # files containing a name, parsed if no file seems to define it


def _files_that_may_define(corpus: Corpus, text: str) -> Sequence[int]:
    """Return the files that probably define a qualified name, or else its last part."""
    name = name_parts(text)[-1]
    defining = corpus.files_defining(name) if name else ()
    terms = term_list(name)
    if defining or not terms:
        return defining
    mentions = sorted(corpus.files_with(terms[0]))
    return mentions if len(mentions) <= _MOST_MENTIONS else ()


def _files_at(inquiry: Inquiry, path: str) -> Sequence[int]:
    number = inquiry.paths.numbers.get(path)
    return inquiry.paths.match(path)[0] if number is None else (number,)


def _line_seeds(
    inquiry: Inquiry, candidates: Candidates, *, kind: str, ranges: Sequence[tuple[str, int, int]]
) -> Evidence:
    """Return evidence for pieces in ranges of lines.

    A range beginning with line 0 is the whole file.
    """
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for path, begin, end in ranges:
        lines = ""
        if begin:
            lines = f":{begin}" if begin == end else f":{begin}-{end}"
        for file in _files_at(inquiry, path):
            matched.setdefault(file, f"{inquiry.files[file].path}{lines}")
            files[file] = max(files.get(file, 0.0), _REST_OF_FILE if begin else 1.0)
            if begin and file in candidates:
                overlapping = pieces_over(candidates[file], begin, max(begin, end))
                pieces.update(dict.fromkeys(keys(file, overlapping), 1 - _REST_OF_FILE))
    whole_files = {file for file, value in files.items() if value == 1}
    pieces = {key: value for key, value in pieces.items() if key[0] not in whole_files}
    missing = None
    if ranges and not files:
        missing = Missing(kind, f"{ranges[0][0]} is not a file of the project")
    return Evidence(kind, files=files, pieces=pieces, matched=matched, missing=missing)


def _symbols(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return evidence for definitions chosen by the user as symbols."""
    values: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    unknown: list[str] = []
    for symbol in inquiry.question.symbols:
        _, targets = _definitions(inquiry, candidates, symbol)
        if not targets:
            unknown.append(symbol)
        for file, definition in targets:
            matched.setdefault(file, symbol)
            share = 1 / sqrt(len(targets))
            inner = keys(file, pieces_of(candidates[file], definition, inner=True))
            lift(values, inner, share * _INNER)
            lift(values, keys(file, pieces_of(candidates[file], definition)), share)
    missing = no_definitions(unknown) if unknown else None
    return Evidence("symbol", pieces=scaled(values), matched=matched, missing=missing)


def no_definitions(symbols: Sequence[str]) -> Missing:
    """Return that there is no evidence for some symbols, since no definition has their names."""
    return Missing("symbol", f"no definition is called {' or '.join(symbols)}")


def _picked(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return evidence for files and definitions picked by a model.

    The values are the model's confidence.
    """
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    reasons: dict[int, str] = {}
    names: dict[int, str] = {}
    for path, name, confidence, reason in inquiry.question.picks:
        file = inquiry.paths.numbers[path]
        if not name:
            lift(files, [file], confidence)
            reasons.setdefault(file, reason)
        elif file in candidates:  # a file without pieces is not a candidate
            analysis = candidates[file]
            for index, definition in enumerate(analysis.definitions):
                if ".".join(definition.path) == name:
                    lift(pieces, keys(file, pieces_of(analysis, index, inner=True)), confidence)
                    names[file] = ", ".join(filter(None, (names.get(file), name)))
    return (
        Evidence(PICKED[0], files=files, matched=reasons),
        Evidence(PICKED[1], pieces=pieces, matched=names),
    )


_MOST_LOCATIONS = 40  # of a traceback, the most specific first
# Value of a frame relative to the one before: the innermost is the nearest to the fault.
_NEXT_FRAME = 0.6
_REST_OF_TRACED = 0.25
_QUOTED = 0.5  # value of quoted code, which may have been written for the task
_FEWEST_QUOTED = 4  # terms of a quoted line
_MOST_QUOTING = 2  # pieces with all terms of a line; a more common line is no evidence


def traced_files(inquiry: Inquiry) -> Sequence[tuple[Location, Sequence[int], float]]:
    """Return the task's code locations with their files.

    Each location has its possible files, and a value.
    """
    traced: list[tuple[Location, Sequence[int], float]] = []
    strength = 1.0
    for location in inquiry.question.task.locations[:_MOST_LOCATIONS]:
        files, share = inquiry.paths.match(location.path)
        if files:
            traced.append((location, files, strength * share / sqrt(len(files))))
            strength *= _NEXT_FRAME
    return traced


def _is_explicit(inquiry: Inquiry, location: Location) -> bool:
    # A bare path below the first line may only list the tests and the changelog of a commit.
    if location.line or location.symbol:
        return True
    return location.path in inquiry.question.task.text.lstrip().partition("\n")[0]


def traced_pieces(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for location, location_files, strength in traced_files(inquiry):
        is_explicit = _is_explicit(inquiry, location)
        for file in location_files:
            if not is_explicit and inquiry.kinds[file] is not PathKind.SOURCE:
                continue
            files[file] = max(files.get(file, 0.0), strength * _REST_OF_TRACED)
            if file not in candidates:
                continue
            text = location.path
            if location.line:
                text = f"{inquiry.files[file].path}:{location.line}"
            matched.setdefault(file, text)
            lift(pieces, keys(file, _pieces_at(candidates[file], location)), strength)
    quoting = [*_quoted_pieces(inquiry, candidates)]
    quoted_files = dict.fromkeys((file for file, _ in quoting), "quoted code")
    lift(pieces, quoting, _QUOTED / sqrt(max(1, len(quoted_files))))
    matched = {**quoted_files, **matched}
    return Evidence("place in the task", files=files, pieces=pieces, matched=matched)


def _quoted_pieces(inquiry: Inquiry, candidates: Candidates) -> Iterator[PieceKey]:
    """Yield the pieces that contain all terms of a line of code that the task quotes."""
    queries = {query.term: query for query in inquiry.terms}
    for quote in inquiry.question.task.quotes:
        terms = [queries[term] for term in quote if term in queries]
        if len(terms) < max(_FEWEST_QUOTED, len(quote)):
            continue
        files = set(candidates).intersection(*(term.files for term in terms))
        found: list[PieceKey] = []
        for file in sorted(files):
            if inquiry.kinds[file] is PathKind.SOURCE:
                pieces = [set(candidates[file].pieces_with(term.term)) for term in terms]
                found += ((file, piece) for piece in sorted(set.intersection(*pieces)))
        if len(found) <= _MOST_QUOTING:
            yield from found


def _pieces_at(analysis: Analysis, location: Location) -> Sequence[int]:
    at_line = pieces_over(analysis, location.line, location.line) if location.line else ()
    if not location.symbol:
        return at_line
    name = name_parts(location.symbol)[-1]
    in_function = [
        piece
        for number, definition in enumerate(analysis.definitions)
        if definition.path and definition.path[-1] == name
        for piece in pieces_of(analysis, number, inner=True)
    ]
    if not in_function or set(at_line) & set(in_function):
        return at_line
    return in_function  # the file changed since: the function is the better guess
