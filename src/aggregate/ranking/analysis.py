"""Analysing one file: from its name and its text to definitions, pieces, terms and references."""

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from aggregate.errors import DeadlineError
from aggregate.models.row_maker import row_maker
from aggregate.ranking.columns import column, deflated, inflated, numbers
from aggregate.ranking.corpus import FileFacts
from aggregate.ranking.file_analysis import DefinedName, Piece, Reference
from aggregate.ranking.leading_lines import first_line_of
from aggregate.ranking.pieces import Run, cut, owned_runs
from aggregate.ranking.terms import hashed_terms, term_hash
from aggregate.syntax.definitions import Definition, Module
from aggregate.syntax.languages import (
    Language,
    LanguageKind,
    fence_tag,
    language_of,
    uninstalled_language_of,
)
from aggregate.syntax.references import SyntaxReference, read_references
from aggregate.syntax.shared_parse import shared_parse
from aggregate.syntax.symbols import read_definitions
from aggregate.text.generated import generated_reason

_MOST_CHARACTERS: Final = 2_000_000
"""Of a text that is parsed: a larger one holds data, and no prompt has room for it."""
_MOST_GENERATED: Final = 200_000
"""Of one that a program has written: tables and parsers, of which nobody reads more."""
_LONG_LINE: Final = 5_000
"""Characters of a line that no person writes; where it makes up the text, that is no program to be parsed."""
_SAMPLE: Final = 100_000
"""Characters that count of a text that is not parsed; what is behind them is one piece without terms."""
_MOST_DEFINITIONS: Final = 5_000
"""Of a file; the rest, of tables in most cases, belongs to what stands around it."""
_DEEPEST: Final = 30
"""Levels of definitions in one another; data are nested deeper, programs are not."""
_MOST_REFERENCES: Final = 20_000
"""Of a file: a hundred times what a long one has."""
_NOT_CODE: Final = frozenset(
    {"csv", "diff", "gitattributes", "gitignore", "ini", "rst", "text", "tsv", "xml"}
)
"""Tags of plain files that are no programs."""
_UNDERLINE: Final = re.compile(rb"(?:=+|-+)[ \t]*\r?(?:\n|\Z)")
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
"""``json.dumps`` makes an encoder for each call that asks for this form."""
_DEFINED_NAME: Final = row_maker(DefinedName)
_PIECE: Final = row_maker(Piece)
_REFERENCE: Final = row_maker(Reference)
_PIECE_COLUMNS: Final = 4
"""Last lines, definitions, terms and characters; first lines follow from the last ones."""
_MOST_COUNT: Final = 255
"""One byte; a term that is so frequent in a piece is saturated in any formula long before."""


class FileTraits(NamedTuple):
    """What is told of a file beside its contents' terms.

    Attributes:
        language: The language's name, ``""`` for none.
        is_code: Whether that is a programming language.
        characters: Of the text.
        terms: How many it has.
        pieces: How many it has.
        is_generated: Whether a program has written it.
    """

    language: str
    is_code: bool
    characters: int
    terms: int
    pieces: int
    is_generated: bool

    def at(self, path: str) -> FileFacts:
        """Return the facts of a file with these traits at ``path``."""
        return FileFacts(path, *self)


class Analysis:
    """What ``analyse`` found in a file, decoded as far as it is asked for; a ``FileAnalysis``."""

    def __init__(self, sections: Sequence[bytes]) -> None:
        self._sections = sections

    @cached_property
    def traits(self) -> FileTraits:
        """What is told of the file in short."""
        return FileTraits(*json.loads(inflated(self._sections[0])))

    @cached_property
    def definitions(self) -> Sequence[DefinedName]:
        """In order of their lines, outer before inner."""
        definitions: list[DefinedName] = []
        for kind, shared, names, *lines, outer in json.loads(inflated(self._sections[1])):
            path = (*definitions[outer].path[:shared], *names) if shared else tuple(names)
            definitions.append(_DEFINED_NAME((kind, path, *lines, outer)))
        return definitions

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        """In order of their lines; together they are all lines of the file."""
        values = numbers("i", inflated(self._sections[2])).tolist()
        count = len(values) // _PIECE_COLUMNS
        columns = [values[column * count :][:count] for column in range(_PIECE_COLUMNS)]
        firsts = [1, *(last + 1 for last in columns[0][:-1])][:count]
        return list(map(_PIECE, zip(firsts, *columns, strict=True)))

    @cached_property
    def references(self) -> Sequence[Reference]:
        """In order of their lines, each name once for each definition that uses it."""
        return list(map(_REFERENCE, json.loads(inflated(self._sections[3]))))

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``; ``255`` where it is more."""
        hashes, places, counts = self._postings
        wanted = term_hash(term)
        start = bisect_left(hashes, wanted)
        end = bisect_right(hashes, wanted, start)
        return list(zip(places[start:end], counts[start:end], strict=True))

    @property
    def term_totals(self) -> tuple[Counter[int], Counter[int]]:
        """By a term's hash, how often it occurs in the file, and in how many pieces, in the same order."""
        hashes, _, counts = self._postings
        pieces = Counter(hashes)
        occurrences = pieces.copy()
        for hashed, count in zip(hashes, counts, strict=True):
            if count > 1:
                occurrences[hashed] += count - 1
        return occurrences, pieces

    def own_names(self) -> list[str]:
        """Return the own name of each definition, ``""`` where it has none; quicker than asking for all of them."""
        rows = json.loads(inflated(self._sections[1]))
        return [row[2][-1] if row[2] else "" for row in rows]

    def used_names(self) -> set[str]:
        """Return the names that the file uses; quicker than asking for all references."""
        return {row[0] for row in json.loads(inflated(self._sections[3]))}

    @cached_property
    def _postings(self) -> tuple[memoryview, memoryview, bytes]:
        """The hash of a term, a piece that holds it and how often, in three columns, sorted."""
        data = inflated(self._sections[4])
        count = len(data) // 9
        return (
            numbers("I", data[: 4 * count]),
            numbers("I", data[4 * count : 8 * count]),
            data[8 * count :],
        )

    def pack(self) -> bytes:
        """Return it as bytes, for this machine."""
        ends = accumulate(map(len, self._sections))
        return column("I", [len(self._sections), *ends]) + b"".join(self._sections)

    @classmethod
    def unpack(cls, data: bytes) -> "Analysis":
        """Return what ``pack`` made bytes."""
        (count,) = numbers("I", data[:4])
        start = 4 + 4 * count
        bounds = [0, *numbers("I", data[4:start])]
        return cls([data[start + begin : start + end] for begin, end in pairwise(bounds)])


def analyse(path: str, text: str) -> Analysis:
    """Return what the file at ``path`` tells that holds ``text``; in time linear in its length, whatever it holds.

    Lines end with a line feed. A text that is very long, minified or written by a program is not parsed, and one that
    the parser takes too long for has no definitions.
    """
    is_generated = bool(generated_reason(path, text))
    language = language_of(path, text)
    name, is_code = _language_facts(path, text, language)
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if not text:
        lines = []
    is_parsed = _is_parsed(text, lines, is_generated=is_generated)
    definitions: Sequence[DefinedName] = ()
    references: Sequence[Reference] = ()
    if language and is_parsed:
        definitions, references = _read(text, lines, language)
    owned = owned_runs(definitions, len(lines), is_code=is_code)
    runs = list(cut(owned, lines, is_code=is_code)) if lines else []
    if not is_parsed:
        runs = _sampled(runs, lines)
    pieces, postings = _counted(lines, runs, _SAMPLE if not is_parsed else len(text))
    traits = FileTraits(
        name, is_code, len(text), sum(piece.terms for piece in pieces), len(pieces), is_generated
    )
    return Analysis(
        [
            deflated(_ENCODE(traits).encode()),
            deflated(_ENCODE(_definition_rows(definitions)).encode()),
            deflated(_piece_columns(pieces)),
            deflated(_ENCODE(references).encode()),
            deflated(postings),
        ]
    )


def _language_facts(path: str, text: str, language: Language | None) -> tuple[str, bool]:
    """Return the language's name, which need not be installed, and whether it is one of programs."""
    known = language or uninstalled_language_of(path, text)
    if known:
        return known.name, known.kind is not LanguageKind.DATA
    tag = fence_tag(path, text)
    return "" if tag == "text" else tag, tag not in _NOT_CODE


def _is_parsed(text: str, lines: Sequence[str], *, is_generated: bool) -> bool:
    if len(text) > (_MOST_GENERATED if is_generated else _MOST_CHARACTERS):
        return False
    if len(text) < _LONG_LINE:
        return True
    long = sum(len(line) for line in lines if len(line) > _LONG_LINE)
    return long * 2 < len(text)


def _read(
    text: str, lines: Sequence[str], language: Language
) -> tuple[Sequence[DefinedName], Sequence[Reference]]:
    """Return what a text defines and uses, as far as the parser gets in its time."""
    definitions: Sequence[DefinedName] = ()
    try:
        with shared_parse():
            definitions = _defined_names(read_definitions(text, language), lines, language)
            return definitions, _references(read_references(text, language), definitions)
    except DeadlineError:
        return definitions, ()


def _references(
    references: Sequence[SyntaxReference], definitions: Sequence[DefinedName]
) -> list[Reference]:
    """Return each name and kind once for each innermost definition that uses it, where it first does."""
    known: dict[tuple[str, str, int], Reference] = {}
    around: list[int] = []
    upcoming = 0
    for name, kind, _, line, scope in references:
        while upcoming < len(definitions) and definitions[upcoming].first <= line:
            around.append(upcoming)
            upcoming += 1
        while around and definitions[around[-1]].last < line:
            around.pop()
        owner = around[-1] if around else -1
        key = name, kind, owner
        if key not in known:
            known[key] = Reference(name, kind, line, owner, scope)
            if len(known) >= _MOST_REFERENCES:
                break
    return list(known.values())


def _defined_names(module: Module, lines: Sequence[str], language: Language) -> list[DefinedName]:
    """Return a text's definitions, each with what belongs to it above."""
    names: list[DefinedName] = []
    around: list[
        tuple[int, int, int]
    ] = []  # place, end and depth of the definitions that the present one stands in
    taken = 0  # the last line that is surely another one's
    has_leading = language.kind is not LanguageKind.DATA
    for definition in module.definitions[:_MOST_DEFINITIONS]:
        if definition.depth >= _DEEPEST or definition.first_line > len(lines):
            continue
        while around and around[-1][1] <= definition.start:
            taken = max(taken, names[around[-1][0]].last)
            around.pop()
        outer = around[-1][0] if around else -1
        if outer >= 0:
            taken = max(taken, names[outer].signature)
        first = definition.first_line
        if has_leading and first > taken + 1:
            first = first_line_of(lines, first, above=taken, language=language.name)
        last = min(max(definition.last_line, definition.first_line), len(lines))
        if outer >= 0:
            last = min(last, names[outer].last)
        body = _body_line(module, definition, last)
        names.append(
            DefinedName(
                definition.kind,
                definition.path,
                min(first, last),
                min(definition.first_line, last),
                body,
                last,
                outer,
            )
        )
        around.append((len(names) - 1, definition.end, definition.depth))
    return names


def _body_line(module: Module, definition: Definition, last: int) -> int:
    """Return the first line that holds nothing of a definition's signature, ``last + 1`` for none."""
    if definition.header_end >= definition.end:
        return last + 1
    header = module.source[definition.start : definition.header_end].rstrip()
    if _UNDERLINE.match(module.source, definition.header_end):
        header += b"\n"  # of a heading; without its line it is none
    return min(definition.first_line + header.count(b"\n") + 1, last + 1)


def _sampled(runs: Sequence[Run], lines: Sequence[str]) -> list[Run]:
    """Return the runs that begin in the part of a text that counts, and one for all that is behind it."""
    kept: list[Run] = []
    size = 0
    for run in runs:
        if size > _SAMPLE:
            kept.append(Run(run.first, runs[-1].last, -1))
            break
        kept.append(run)
        size += sum(map(len, lines[run.first - 1 : run.last]))
    return kept


def _counted(lines: Sequence[str], runs: Sequence[Run], most: int) -> tuple[list[Piece], bytes]:
    """Return the pieces, and their terms as columns: hashes, places of pieces, how often.

    Args:
        lines: The text's.
        runs: Of the pieces.
        most: Characters that count.
    """
    pieces: list[Piece] = []
    keys: list[int] = []
    left = most
    for place, run in enumerate(runs):
        text = "\n".join(lines[run.first - 1 : run.last])
        counts = Counter(hashed_terms(text if len(text) <= left else text[: max(left, 0)]))
        left -= len(text)
        pieces.append(Piece(run.first, run.last, run.owner, counts.total(), len(text) + 1))
        # One number for each posting sorts faster than a tuple.
        low = place << 8
        keys += [
            hashed << 40 | low | (count if count < _MOST_COUNT else _MOST_COUNT)
            for hashed, count in counts.items()
        ]
    keys.sort()
    hashes = column("I", [key >> 40 for key in keys])
    places = column("I", [key >> 8 & 0xFFFFFFFF for key in keys])
    return pieces, hashes + places + bytes([key & 0xFF for key in keys])


def _piece_columns(pieces: Sequence[Piece]) -> bytes:
    values = [piece.last for piece in pieces]
    values += [piece.definition for piece in pieces]
    values += [piece.terms for piece in pieces]
    values += [piece.characters for piece in pieces]
    return column("i", values)


def _definition_rows(definitions: Sequence[DefinedName]) -> list[tuple[object, ...]]:
    """Return the definitions with their paths shortened by what they share with the one around."""
    rows: list[tuple[object, ...]] = []
    for definition in definitions:
        around = definitions[definition.outer].path if definition.outer >= 0 else ()
        inside = definition.path[: len(around)] == around and len(definition.path) > len(around)
        shared = len(around) if inside else 0
        rows.append((definition.kind, shared, definition.path[shared:], *definition[2:]))
    return rows
