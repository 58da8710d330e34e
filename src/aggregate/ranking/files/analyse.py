"""Analysing one file: from its name and its text to definitions, pieces, terms and references."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, chain, count, repeat, takewhile
from operator import sub
from typing import Final

from aggregate.base.errors import DeadlineError
from aggregate.base.text import shorten_long_lines
from aggregate.code.syntax import (
    Language,
    LanguageKind,
    Module,
    cells_in_place,
    guess_statements,
    language_of,
    read_definitions,
    read_references,
    read_statements,
    shared_parse,
)
from aggregate.ranking.files.analysis import Analysis, DefinedName, Piece, Reference
from aggregate.ranking.files.packing import column, deflated
from aggregate.ranking.files.pieces import LineKind, Run, cut, line_kinds, owned_runs
from aggregate.ranking.files.rough import SAMPLE, text_traits
from aggregate.ranking.files.term_tables import MOST_MEMBERS, pack_terms
from aggregate.ranking.terms import words_in

_MOST_LINES: Final = 120  # looked at above a definition: a longer comment documents more than that
_MARKS: Final = ("//", "/*", "* ", "*/", "--", ";;", "%%", "(*", "<!--", '"""', "@", "#[")
_HASH_IS_NO_COMMENT: Final = frozenset(
    {"c", "cpp", "csharp", "objectivec", "markdown", "css", "html"}
)  # languages where ``#`` begins a directive, a heading or a selector
_BLOCKS: Final = (("*/", "/*"), ("*)", "(*"), ("-}", "{-"), ("-->", "<!--"), ("]]", "--[["))


def first_line_of(lines: Sequence[str], first: int, *, above: int, language: str) -> int:
    """Return the line with which the comments and attributes directly above a definition begin, else ``first``."""
    marks = _MARKS if language in _HASH_IS_NO_COMMENT else (*_MARKS, "#")
    lowest = max(above, first - 1 - _MOST_LINES)
    line = first - 1
    while line > lowest:
        text = lines[line - 1].strip()
        begin = 0  # of a comment of many lines that ends here and has its first line for itself
        if text.endswith(_ENDS):
            opening = next(begin for end, begin in _BLOCKS if text.endswith(end))
            holding = (each for each in range(line, lowest, -1) if opening in lines[each - 1])
            begin = next(holding, 0)
            if begin and lines[begin - 1].partition(opening)[0].strip():
                begin = 0
        if begin:
            line = begin - 1
        elif text.startswith(marks) or text == "*":
            line -= 1
        else:
            break
    start = line + 1
    # A shebang or a coding line belongs to the file.
    return start + 1 if start == 1 < first and lines[0].startswith("#!") else start


_ENDS: Final = tuple(end for end, _ in _BLOCKS)
# Of a file; the rest, of tables in most cases, belongs to what stands around it.
_MOST_DEFINITIONS: Final = 5_000
# Levels of definitions in one another; data are nested deeper, programs are not.
_DEEPEST: Final = 30
_MOST_REFERENCES: Final = 20_000  # of a file: a hundred times what a long one has
_UNDERLINE: Final = re.compile(rb"(?:=+|-+)[ \t]*\r?(?:\n|\Z)")
# ``json.dumps`` makes an encoder for each call that asks for this form.
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
# One byte; a term that is so frequent in a piece is saturated in any formula long before.


def analyse(
    path: str, text: str, *, problem: str = "", known: bytes = b"", with_references: bool = True
) -> Analysis:
    """Return what the file at ``path`` tells that holds ``text``; in time linear in its length, whatever it holds.

    Where its grammar has had a ``problem`` with it, that is not asked: it is to be asked in child processes only.
    Finding references takes a fifth of the time, and few questions ask for any: they are added to what is ``known``, an
    analysis as it is packed.
    """
    path, text = cells_in_place(path, text)
    with shared_parse():
        analysis = Analysis.unpack(known) if known else _analysed(path, text, problem)
        if analysis.has_references or not with_references:
            return analysis
        references: Sequence[Reference] = ()
        if language := language_of(path, text):
            with suppress(DeadlineError):
                references = _references(text, language, analysis.definitions)
        return analysis.with_references(deflated(_ENCODE(references).encode()))


def _analysed(path: str, text: str, problem: str) -> Analysis:
    language, name, is_code, is_parsed, has_data = text_traits(path, text)
    most = len(text) if is_parsed else SAMPLE
    words_of = text.split("\n")
    if has_data:  # it is shown with shortened lines too
        text, is_parsed = shorten_long_lines(text), True
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if not text:
        lines = []
    definitions: Sequence[DefinedName] = ()
    statements: Sequence[int] = ()
    has_more = False
    if language and is_parsed and not problem:
        definitions, statements, has_more = _read(text, lines, language)
    if is_code and is_parsed and not statements:
        statements = guess_statements(lines, name)
    owned = owned_runs(definitions, len(lines), is_code=is_code)
    kinds = line_kinds(lines, name) if is_code and is_parsed else ()
    runs = list(cut(owned, lines, kinds=kinds, statements=statements)) if lines else []
    if not is_parsed:
        sizes = (sum(map(len, lines[run.first - 1 : run.last])) for run in runs)
        before = accumulate(sizes, initial=0)
        kept = list(takewhile(lambda pair: pair[0] <= SAMPLE, zip(before, runs, strict=False)))
        if len(kept) < len(runs):
            rest = Run(runs[len(kept)].first, runs[-1].last, -1)
            runs = [*(run for _, run in kept), rest]
    pieces, words = _counted(lines, runs, most, kinds=kinds, words_of=words_of)
    return Analysis(
        [
            problem.encode(),
            deflated(_ENCODE(_definition_rows(definitions)).encode()),
            deflated(column("i", chain.from_iterable([*zip(*pieces, strict=True)][1:]))),
            b"" if has_more else deflated(b"[]"),
            deflated(column("i", map(sub, count(1), statements))),
            *map(deflated, words),
        ]
    )


def _read(
    text: str, lines: Sequence[str], language: Language
) -> tuple[Sequence[DefinedName], Sequence[int], bool]:
    """Return what a text defines and its statements, as far as there is time, and whether there is time for more."""
    definitions: Sequence[DefinedName] = ()
    try:
        definitions = _defined_names(read_definitions(text, language), lines, language)
        return definitions, read_statements(text, language)[: len(lines)], True
    except DeadlineError:
        return definitions, (), False


def _references(
    text: str, language: Language, definitions: Sequence[DefinedName]
) -> list[Reference]:
    # Once for each innermost definition that uses a name, where it first does.
    known: dict[tuple[str, str, int], Reference] = {}
    around: list[int] = []
    upcoming = 0
    for name, kind, _, line, scope in read_references(text, language):
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
    names: list[DefinedName] = []
    # Place, end and depth of the definitions that the present one stands in.
    around: list[tuple[int, int, int]] = []
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
        body = last + 1
        if definition.header_end < definition.end:
            header = module.source[definition.start : definition.header_end].rstrip()
            # Comments in front of what a body does are its own.
            for start, end in reversed(definition.remarks):
                if end - definition.start == len(header):
                    header = header[: start - definition.start].rstrip()
            # The underline of a heading; without its line it is none.
            breaks = header.count(b"\n") + bool(
                _UNDERLINE.match(module.source, definition.header_end)
            )
            body = min(definition.first_line + breaks + 1, body)
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


def _counted(
    lines: Sequence[str],
    runs: Sequence[Run],
    most: int,
    *,
    kinds: Sequence[LineKind],
    words_of: Sequence[str],
) -> tuple[list[Piece], list[bytes]]:
    """Return the pieces, and the tables of the terms of ``MOST_MEMBERS`` each.

    ``lines`` may be shortened, ``words_of`` are whole, and their first ``most`` characters count.
    """
    pieces: list[Piece] = []
    words: list[Mapping[bytes, int]] = []
    left = most
    comments = _before(lines, kinds, LineKind.COMMENT)
    preamble = _before(lines, kinds, LineKind.IMPORT)
    for run in runs:
        text = "\n".join(words_of[run.first - 1 : run.last])
        words.append(words_in(text if len(text) <= left else text[: max(left, 0)]))
        left -= len(text)
        size = sum(map(len, lines[run.first - 1 : run.last])) + run.last - run.first + 1
        pieces.append(
            Piece(
                run.first,
                run.last,
                run.owner,
                size,
                comments=comments[run.last] - comments[run.first - 1],
                preamble=preamble[run.last] - preamble[run.first - 1],
            )
        )
    starts = range(0, len(words), MOST_MEMBERS)
    return pieces, [pack_terms(words[start : start + MOST_MEMBERS]) for start in starts]


def _before(lines: Sequence[str], kinds: Sequence[LineKind], wanted: LineKind) -> Sequence[int]:
    """Return how many characters of a kind and of licences stand before each line and before the end."""
    licence, known = LineKind.LICENCE, zip(lines, kinds or repeat(LineKind.CODE), strict=False)
    sizes = (len(line) + 1 if kind is wanted or kind is licence else 0 for line, kind in known)
    return [*accumulate(sizes, initial=0)]


def _definition_rows(definitions: Sequence[DefinedName]) -> list[tuple[object, ...]]:
    # Paths are shortened by what they share with the one around.
    rows: list[tuple[object, ...]] = []
    for definition in definitions:
        around = definitions[definition.outer].path if definition.outer >= 0 else ()
        inside = definition.path[: len(around)] == around and len(definition.path) > len(around)
        shared = len(around) if inside else 0
        rows.append((definition.kind, shared, definition.path[shared:], *definition[2:]))
    return rows
