"""Analyse a file: its definitions, pieces, terms and references."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, chain, count, islice, repeat, takewhile
from operator import sub
from typing import Final

from aggregate.base.errors import DeadlineError
from aggregate.base.text import shorten_long_lines
from aggregate.code.syntax import (
    Definition,
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
    with_headings,
)
from aggregate.ranking.files.analysis import Analysis, DefinedName, Piece, Reference
from aggregate.ranking.files.pieces import LineKind, cut, line_kinds, owned_runs
from aggregate.ranking.files.rough import (
    MOST_MEMBERS,
    SAMPLE,
    column,
    deflated,
    pack_terms,
    text_traits,
)
from aggregate.ranking.terms import words_in

_MOST_LINES: Final = 120  # of a comment above a definition; a longer one documents more than that
_MARKS: Final = ("//", "/*", "* ", "*/", "--", ";;", "%%", "(*", "<!--", '"""', "@", "#[")
# Languages where ``#`` begins a directive, a heading or a selector, not a comment.
_OTHER_HASH: Final = frozenset({"c", "cpp", "csharp", "objectivec", "markdown", "css", "html"})
_BLOCKS: Final = (("*/", "/*"), ("*)", "(*"), ("-}", "{-"), ("-->", "<!--"), ("]]", "--[["))


def first_line_of(lines: Sequence[str], first: int, *, above: int, language: str) -> int:
    """Return the line where a definition begins, including the comments and attributes above it."""
    marks = _MARKS if language in _OTHER_HASH else (*_MARKS, "#")
    lowest = max(above, first - 1 - _MOST_LINES)
    line = first - 1
    while line > lowest:
        text = lines[line - 1].strip()
        begin = _block_begin(lines, line, lowest) if text.endswith(_ENDS) else 0
        if begin:
            line = begin - 1
        elif text.startswith(marks) or text == "*":
            line -= 1
        else:
            break
    start = line + 1
    # A shebang belongs to the file.
    return start + 1 if start == 1 < first and lines[0].startswith("#!") else start


def _block_begin(lines: Sequence[str], last: int, lowest: int) -> int:
    """Return the line where a block comment begins that ends at ``last``, 0 if code precedes it."""
    text = lines[last - 1].strip()
    opening = next(begin for end, begin in _BLOCKS if text.endswith(end))
    for line in range(last, lowest, -1):
        if opening in lines[line - 1]:
            return 0 if lines[line - 1].partition(opening)[0].strip() else line
    return 0


_ENDS: Final = tuple(end for end, _ in _BLOCKS)
# Per file; the others, mostly tables, belong to their enclosing definition.
_MOST_DEFINITIONS: Final = 5_000
_DEEPEST: Final = 30  # nesting of definitions; only data are nested deeper
_MOST_REFERENCES: Final = 20_000  # per file: a hundred times those of a long one
_UNDERLINE: Final = re.compile(rb"(?:=+|-+)[ \t]*\r?(?:\n|\Z)")
# ``json.dumps`` creates an encoder per call for this format.
_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode


def analyse(
    path: str, text: str, *, problem: str = "", packed: bytes = b"", with_references: bool = True
) -> Analysis:
    """Analyse a file, in time proportional to its length.

    Without a ``problem`` the text is parsed, and a grammar may crash: then call this only in a child process.

    Args:
        path: Decides the language.
        text: The file's content.
        problem: Why the file must not be parsed, if its grammar failed before.
        packed: An earlier analysis to add references to.
        with_references: They take a fifth of the time, and few questions need them.
    """
    path, text, headings = cells_in_place(path, text)
    with shared_parse():
        analysis = (
            Analysis.unpack(packed) if packed else _analyse_text(path, text, problem, headings)
        )
        if analysis.has_references or not with_references:
            return analysis
        references: Sequence[Reference] = ()
        if language := language_of(path, text):
            with suppress(DeadlineError):
                references = _references(text, language, analysis.definitions)
        return analysis.with_references(deflated(_ENCODE(references).encode()))


def _analyse_text(path: str, text: str, problem: str, headings: Sequence[Definition]) -> Analysis:
    language, name, is_code, is_parsed, has_data = text_traits(path, text)
    most = len(text) if is_parsed else SAMPLE
    whole_lines = text.split("\n")
    if has_data:  # the prompt shows it with shortened lines too
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
        definitions, statements, has_more = _read(text, lines, language, headings)
    if is_code and is_parsed and not statements:
        statements = guess_statements(lines, name)
    owned = owned_runs(definitions, len(lines), is_code=is_code)
    kinds = line_kinds(lines, name) if is_code and is_parsed else ()
    runs = list(cut(owned, lines, kinds=kinds, statements=statements)) if lines else []
    if not is_parsed:
        sizes = (sum(map(len, lines[run.first - 1 : run.last])) for run in runs)
        starts = accumulate(sizes, initial=0)
        sampled = sum(
            1 for _ in takewhile(lambda start: start <= SAMPLE, islice(starts, len(runs)))
        )
        if sampled < len(runs):
            rest = Piece(runs[sampled].first, runs[-1].last, -1)
            runs = [*runs[:sampled], rest]
    pieces, words = _pack_pieces(lines, runs, most, kinds=kinds, whole_lines=whole_lines)
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
    text: str, lines: Sequence[str], language: Language, headings: Sequence[Definition]
) -> tuple[Sequence[DefinedName], Sequence[int], bool]:
    """Parse a text; return its definitions and statements, and whether parsing ended within the deadline."""
    definitions: Sequence[DefinedName] = ()
    try:
        module = read_definitions(text, language)
        module = with_headings(module, headings) if headings else module
        definitions = _defined_names(module, lines, language)
        return definitions, read_statements(text, language)[: len(lines)], True
    except DeadlineError:
        return definitions, (), False


def _references(
    text: str, language: Language, definitions: Sequence[DefinedName]
) -> list[Reference]:
    """Return the names that each definition uses; of several uses of a name only the first."""
    references: dict[tuple[str, str, int], Reference] = {}
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
        if key not in references:
            references[key] = Reference(name, kind, line, owner, scope)
            if len(references) >= _MOST_REFERENCES:
                break
    return list(references.values())


def _defined_names(module: Module, lines: Sequence[str], language: Language) -> list[DefinedName]:
    names: list[DefinedName] = []
    # Index, end and depth of the enclosing definitions.
    around: list[tuple[int, int, int]] = []
    previous_end = 0  # the last line of an earlier definition or an enclosing signature
    has_leading = language.kind is not LanguageKind.DATA
    for definition in module.definitions[:_MOST_DEFINITIONS]:
        if definition.depth >= _DEEPEST or definition.first_line > len(lines):
            continue
        if definition.kind == "export":
            continue  # of names that another place defines
        while around and around[-1][1] <= definition.start:
            previous_end = max(previous_end, names[around[-1][0]].last)
            around.pop()
        outer = around[-1][0] if around else -1
        if outer >= 0:
            previous_end = max(previous_end, names[outer].signature)
        first = definition.first_line
        is_section = definition.level and language.kind is LanguageKind.CODE  # of a notebook
        if has_leading and first > previous_end + 1 and not is_section:
            first = first_line_of(lines, first, above=previous_end, language=language.name)
        last = min(max(definition.last_line, definition.first_line), len(lines))
        if outer >= 0:
            last = min(last, names[outer].last)
        body = last + 1
        if definition.header_end < definition.end:
            header = module.source[definition.start : definition.header_end].rstrip()
            # Comments before the body's first statement belong to the body.
            for start, end in reversed(definition.remarks):
                if end - definition.start == len(header):
                    header = header[: start - definition.start].rstrip()
            has_underline = _UNDERLINE.match(module.source, definition.header_end) is not None
            breaks = header.count(b"\n") + has_underline  # of a heading
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


def _pack_pieces(
    lines: Sequence[str],
    runs: Sequence[Piece],
    most: int,
    *,
    kinds: Sequence[LineKind],
    whole_lines: Sequence[str],
) -> tuple[list[Piece], list[bytes]]:
    """Return a text's pieces, and packed tables of their terms.

    A table has at most ``MOST_MEMBERS`` pieces. Only the first ``most`` characters count.
    """
    pieces: list[Piece] = []
    words: list[Mapping[bytes, int]] = []
    room = most
    comments = _sizes_before(lines, kinds, LineKind.COMMENT)
    preamble = _sizes_before(lines, kinds, LineKind.IMPORT)
    for run in runs:
        text = "\n".join(whole_lines[run.first - 1 : run.last])
        words.append(words_in(text if len(text) <= room else text[: max(room, 0)]))
        room -= len(text)
        size = sum(map(len, lines[run.first - 1 : run.last])) + run.last - run.first + 1
        pieces.append(
            run._replace(
                characters=size,
                comments=comments[run.last] - comments[run.first - 1],
                preamble=preamble[run.last] - preamble[run.first - 1],
            )
        )
    starts = range(0, len(words), MOST_MEMBERS)
    return pieces, [pack_terms(words[start : start + MOST_MEMBERS]) for start in starts]


def _sizes_before(
    lines: Sequence[str], kinds: Sequence[LineKind], wanted: LineKind
) -> Sequence[int]:
    """Return for each line how many characters of a kind, or of licences, precede it."""
    counted = (wanted, LineKind.LICENCE)
    pairs = zip(lines, kinds or repeat(LineKind.CODE), strict=False)
    sizes = (len(line) + 1 if kind in counted else 0 for line, kind in pairs)
    return list(accumulate(sizes, initial=0))


def _definition_rows(definitions: Sequence[DefinedName]) -> list[tuple[object, ...]]:
    """Return the definitions as rows for JSON, with paths relative to the outer definition."""
    rows: list[tuple[object, ...]] = []
    for definition in definitions:
        outer = definitions[definition.outer].path if definition.outer >= 0 else ()
        is_inside = definition.path[: len(outer)] == outer and len(definition.path) > len(outer)
        shared = len(outer) if is_inside else 0
        rows.append((definition.kind, shared, definition.path[shared:], *definition[2:]))
    return rows
