"""The sheet of a second look: the likeliest files with signatures of their likeliest definitions, and what is picked.

Whoever asks a model, or is one, gets the sheet and names some of it; nothing here knows whom (rule T-10).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from aggregate.base.files import ViewMode
from aggregate.base.request import Pick
from aggregate.base.text import printable
from aggregate.prompt.fit.steps import signature_run
from aggregate.prompt.ranked_files import RankedFiles
from aggregate.ranking.files import FileAnalysis

SHEET_TOKENS: Final = 6_000  # at most, however long the signatures are
_FILES: Final = 20  # what a task touches is behind them for one in ten (measured on commits)
_DEFINITIONS: Final = 10  # of each file
_SIGNATURE: Final = 100  # characters; what is longer is cut
# Files and definitions that a second look names; of more the first are taken.
_PICKED, _NAMED = 5, 8
_WHY: Final = 200  # characters of a reason that are kept
# Views that tell signatures; others say less of a file, or what the user chose.
_TELLING: Final = frozenset({ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE})


class _Row(NamedTuple):
    path: str
    content_hash: bytes
    definitions: Sequence[tuple[int, str, str]]  # line, name, what is shown; the likeliest first


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is shown for a second look; ``names`` are the definitions of each file that stand in it, by its path."""

    text: str
    names: Mapping[str, tuple[str, ...]]
    hashes: tuple[tuple[str, str], ...]  # of the files' contents, in the order of their paths


def make_sheet(
    ranked: RankedFiles, count: Callable[[str], int], *, most: int = SHEET_TOKENS
) -> Sheet:
    """Return the sheet with as many definitions of each file as have at most ``most`` tokens; then with fewer files."""
    rows = list(islice(_rows(ranked), _FILES))
    sizes = [(len(rows), number) for number in range(_DEFINITIONS, -1, -1)]
    sizes += [(files, 0) for files in range(len(rows) - 1, -1, -1)]
    for files, definitions in sizes:
        shown = [row._replace(definitions=row.definitions[:definitions]) for row in rows[:files]]
        lines = (line for number, row in enumerate(shown, 1) for line in _lines(number, row))
        if count(text := "".join(lines)) <= most:
            break
    names = {row.path: tuple(name for _, name, _ in row.definitions) for row in shown}
    return Sheet(text, names, tuple(sorted((row.path, row.content_hash.hex()) for row in shown)))


def _lines(number: int, row: _Row) -> Iterator[str]:
    yield f"{number}. {printable(row.path)}\n"
    yield from (f"   {said}\n" for _, _, said in sorted(row.definitions))


def _rows(ranked: RankedFiles) -> Iterator[_Row]:
    corpus = ranked.files.corpus
    for number, _, chances, _ in ranked.ranking.files:
        file, definitions = corpus.shown[number], []
        if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
            continue
        lines = corpus.text(number).split("\n")
        analysis = corpus.analyses([number])[0]
        for place in _likeliest(analysis, chances) if file.entry.view_mode in _TELLING else ():
            definition = analysis.definitions[place]
            first, last = signature_run(definition)
            said = _signature(lines[first - 1 : last], definition.path[-1])
            outer = "".join(f"{'.'.join(definition.path[:-1])}: " for _ in definition.path[1:2])
            said = printable(f"{outer}{said}"[:_SIGNATURE])
            definitions.append((first, ".".join(definition.path), said))
        yield _Row(file.path, corpus.content_hash(number), definitions)


def _signature(lines: Sequence[str], name: str) -> str:
    """Return a signature in one line, without decorators and attributes before the name: the sheet is read by names."""
    naming = (number for number, line in enumerate(lines) if name in line)
    plain = (number for number in naming if not lines[number].lstrip().startswith(("@", "#[")))
    return " ".join(" ".join(lines[next(plain, 0) :]).split())


def _likeliest(analysis: FileAnalysis, chances: Sequence[float]) -> list[int]:
    masses = [0.0] * len(analysis.definitions)
    # None where it was not looked at closely.
    for piece, chance in zip(analysis.pieces, chances, strict=False):
        if piece.definition >= 0:
            masses[piece.definition] += chance
    named = [place for place, each in enumerate(analysis.definitions) if each.path]
    return sorted(named, key=lambda place: -masses[place])[:_DEFINITIONS]


def read_picks(sheet: Sheet, answer: str) -> tuple[Pick, ...]:
    """Return what an answer in JSON picks of a sheet, nothing where it has another form.

    ``files`` are objects with ``file``, a number of the sheet, ``confidence`` and ``why``; ``definitions`` texts such
    as ``3 Class.name``. What names nothing in the sheet is passed over.
    """
    try:
        given = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
        files = [
            (str(each["file"]), float(each["confidence"]), str(each.get("why", "")))
            for each in given["files"]
        ]
        names = [str(name) for name in given.get("definitions", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()
    paths = {str(number): path for number, path in enumerate(sheet.names, 1)}
    picked = {
        paths[number]: Pick(
            paths[number], "", min(1.0, max(0.0, sure)), " ".join(why.split())[:_WHY]
        )
        for number, sure, why in files
        if number in paths
    }
    named: dict[tuple[str, str], Pick] = {}
    for number, _, name in (each.strip().partition(" ") for each in names):
        path = paths.get(number, "")
        for own in sheet.names.get(path, ()):
            if name and (own == name or own.endswith(f".{name}")):
                named.setdefault((path, own), Pick(path, own))
                break
    return (*islice(picked.values(), _PICKED), *islice(named.values(), _NAMED))
