"""The places that a task, a traceback or the user points at, and what its functions had called."""

from collections.abc import Sequence
from math import sqrt
from typing import Final, NamedTuple

from aggregate.base.request import Missing
from aggregate.ranking.evidence import Evidence, PieceKey, lift, scaled_evidence
from aggregate.ranking.files.analysis import FileAnalysis
from aggregate.ranking.inquiry import Candidates, Inquiry, NamedPlace, keys, pieces_of, pieces_over
from aggregate.ranking.mentions import WrittenName, definitions_named, in_scope
from aggregate.ranking.paths import PathKind
from aggregate.ranking.references import Resolver

_REST_OF_FILE = 0.3
# What a symbol says about the definitions within it: a class's methods come behind the class itself.
_INNER = 0.6


def seed_files(inquiry: Inquiry) -> frozenset[int]:
    """Return the files that the user points at; before their analyses are loaded."""
    files = {file for path, _, _ in inquiry.question.focus for file in _files_at(inquiry, path)}
    files.update(
        file for change in inquiry.question.changes for file in _files_at(inquiry, change.path)
    )
    for symbol in inquiry.question.symbols:
        written = WrittenName.parse(symbol)
        files.update(file for file, _ in definitions_named(inquiry.corpus, written))
    return frozenset(files)


def _files_at(inquiry: Inquiry, path: str) -> Sequence[int]:
    number = inquiry.paths.numbers.get(path)
    return inquiry.paths.meant_by(path).files if number is None else (number,)


def seeds(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, ...]:
    changes = [(change.path, change.first, change.last) for change in inquiry.question.changes]
    return (
        _places(inquiry, candidates, kind="focus", places=inquiry.question.focus),
        _symbols(inquiry, candidates),
        _places(inquiry, candidates, kind="changed since", places=changes),
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
        written = WrittenName.parse(symbol)
        definitions = definitions_named(inquiry.corpus, written)
        meant = in_scope(definitions, written, candidates=candidates, paths=inquiry.paths)
        if not meant:
            unknown.append(symbol)
        for file, place in meant:
            matched.setdefault(file, symbol)
            share = 1 / sqrt(len(meant))
            inner = keys(file, pieces_of(candidates[file], place, inner=True))
            own = keys(file, pieces_of(candidates[file], place))
            lift(values, inner, share * _INNER)
            lift(values, own, share)
    reason = f"no definition is called {unknown[0]}" if unknown else ""
    missing = Missing("symbol", reason) if unknown else None
    evidence = scaled_evidence("symbol", pieces=values, matched=matched)
    return Evidence("symbol", pieces=evidence.pieces, matched=matched, missing=missing)


_MOST_PLACES = 40  # places of a traceback that are looked at, the most telling first
# What the next frame of a traceback counts of the one before: the innermost is the nearest to the fault.
_NEXT_PLACE = 0.6
_REST_OF_TRACED = 0.25
# What the calls of the next frame count of those of the one before: what an outer function made is used within.
_NEXT_FRAME: Final = 0.9
# What a call above the frame's line in the same function counts of one on it.
_EARLIER_LINE: Final = 0.5
# Calls that are followed, the innermost frame's first: those of a few dozen frames in the project.
_MOST_CALLS: Final = 40


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


def _pieces_at(analysis: FileAnalysis, place: NamedPlace) -> Sequence[int]:
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


class TracedCall(NamedTuple):
    """A definition that a frame of a traceback had called."""

    file: int
    definition: int
    value: float  # how much that says, 1 for a call on the line of the innermost frame
    caller: str  # the place of the call, in words for the audit


def traced_calls(inquiry: Inquiry, resolver: Resolver) -> tuple[TracedCall, ...]:
    """Return what the calls on and above the frames' lines mean, where it is clear."""
    calls: list[TracedCall] = []
    value = 1.0
    for place, files, _ in traced_files(inquiry):
        if not place.line or len(files) > 1:
            continue
        file = files[0]
        # Calls on the line, then those above it in the same definition, the nearest first.
        analysis, line = resolver.analysis(file), place.line
        made = [reference for reference in analysis.references if reference.kind == "call"]
        holding = enumerate(analysis.definitions)
        around = max((n for n, each in holding if each.first <= line <= each.last), default=None)
        above = [each for each in made if each.definition == around and each.line < line]
        for reference in [*(each for each in made if each.line == line), *reversed(above)]:
            if len(calls) >= _MOST_CALLS:
                return tuple(calls)
            targets = resolver.resolve(file, reference)
            share = 1.0 if reference.line == place.line else _EARLIER_LINE
            caller = f"called at {inquiry.files[file].path}:{reference.line}"
            calls += [
                TracedCall(*target, value * share / len(targets), caller) for target in targets
            ]
        value *= _NEXT_FRAME
    return tuple(calls)


def called_before(candidates: Candidates, calls: tuple[TracedCall, ...]) -> Evidence:
    pieces: dict[PieceKey, float] = {}
    matched: dict[int, str] = {}
    for call in calls:
        if call.file not in candidates:
            continue
        matched.setdefault(call.file, call.caller)
        lift(pieces, keys(call.file, pieces_of(candidates[call.file], call.definition)), call.value)
    return Evidence("called before", pieces=pieces, matched=matched)
