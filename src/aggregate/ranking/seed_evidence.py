"""What the user points at beside the text: places, symbols, and what changed since a revision."""

from collections.abc import Mapping, Sequence
from math import sqrt

from aggregate.base.values import Missing
from aggregate.ranking.definition_lookup import WrittenName, definitions_named, in_scope
from aggregate.ranking.evidence import Evidence, PieceKey
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of, pieces_over
from aggregate.ranking.scaling import scaled_evidence

_REST_OF_FILE = 0.3
"""What a place within a file says about the rest of the file."""
_INNER = 0.6
"""What a symbol says about the definitions within it: a class's methods come behind the class itself."""


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
    """Return the file of a path; where there is none, the files whose paths end so."""
    number = inquiry.paths.numbers.get(path)
    return inquiry.paths.meant_by(path).files if number is None else (number,)


def seeds(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, ...]:
    """Return what the user points at: the focus, the symbols, and the changes."""
    changes = [(change.path, change.first, change.last) for change in inquiry.question.changes]
    return (
        _places(inquiry, candidates, kind="focus", places=inquiry.question.focus),
        _symbols(inquiry, candidates),
        _places(inquiry, candidates, kind="changed since", places=changes),
    )


def _places(
    inquiry: Inquiry,
    candidates: Candidates,
    *,
    kind: str,
    places: Sequence[tuple[str, int, int]],
) -> Evidence:
    """Return the pieces over some lines of files, and a little of the rest of these files; whole files for no lines."""
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
    return Evidence(
        kind, files=files, pieces=only, matched=matched, missing=_unmatched(kind, places, files)
    )


def _unmatched(
    kind: str, places: Sequence[tuple[str, int, int]], files: Mapping[int, float]
) -> Missing | None:
    if not places or files:
        return None
    return Missing(kind, f"{places[0][0]} is none of the project's files")


def _symbols(inquiry: Inquiry, candidates: Candidates) -> Evidence:
    """Return the pieces of the definitions that the user names; namesakes share."""
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
            for part, value in ((inner, share * _INNER), (own, share)):
                for key in part:
                    values[key] = max(values.get(key, 0.0), value)
    reason = f"no definition is called {unknown[0]}" if unknown else ""
    missing = Missing("symbol", reason) if unknown else None
    evidence = scaled_evidence("symbol", pieces=values, matched=matched)
    return Evidence("symbol", pieces=evidence.pieces, matched=matched, missing=missing)
