"""Outlines of definitions, and skeletons without function bodies."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aggregate.base.files import Span, View, ViewRequest
from aggregate.code.syntax import parsing
from aggregate.code.syntax.definitions import Definition
from aggregate.code.syntax.languages import Language, LanguageKind, language_of
from aggregate.code.syntax.preprocessor import parts_condition
from aggregate.code.syntax.symbols import EmbeddedCaptures, read_blocks, read_module
from aggregate.code.views.custom import full
from aggregate.code.views.records import more_row, records_view
from aggregate.code.views.summary import document_row, outermost, summary

_WANTED = frozenset(
    {
        *("body", "body.first", "body.until", "statement"),
        *("doc", "lead", "keep", "hollow", "embedded"),
    }
)
_SPANS = frozenset({"statement", "keep", "doc", "lead"})
_BETWEEN_STATEMENTS = b" \t\r\n;"
_BLANKS = b" \t\r\x0b\x0c"


@dataclass(frozen=True, slots=True)
class Elision:
    """A range of bytes to omit, with a placeholder."""

    start: int
    end: int
    placeholder: bytes = b""


@dataclass(slots=True)
class _BodyCaptures:
    bodies: set[tuple[int, int]] = field(default_factory=set)
    # Statements, docstrings, comments before bodies, and exempt bodies, by the capture's name.
    spans: defaultdict[str, set[tuple[int, int]]] = field(default_factory=lambda: defaultdict(set))
    embedded: EmbeddedCaptures = field(default_factory=EmbeddedCaptures)


def without_bodies(text: str, language: Language) -> tuple[str, tuple[Span, ...]]:
    """Return a text without function bodies.

    The spans map lines of the result to lines of the file.
    """
    source = text.encode(errors="surrogatepass")
    parsing.query_of(language, _WANTED)  # compile it before the deadline starts
    captured = _capture(source, language, parsing.Deadline(len(source)))
    elisions = _elisions(source, language, captured)
    cut = {elision.start for elision in elisions}
    blocks = [block for block in captured.embedded.blocks() if block.start not in cut]
    for block, inner in read_blocks(
        source,
        blocks,
        lambda part, tongue, deadline: _elisions(part, tongue, _capture(part, tongue, deadline)),
        wanted=_WANTED,
    ):
        elisions += (
            Elision(elision.start + block.start, elision.end + block.start, elision.placeholder)
            for elision in inner
        )
    if blocks:
        elisions.sort(key=lambda elision: elision.start)
    pieces, spans = _apply(source, elisions)
    return b"".join(pieces).decode(errors="surrogatepass"), tuple(spans)


def _elisions(source: bytes, language: Language, captured: _BodyCaptures) -> list[Elision]:
    spans = captured.spans
    docs, leads = dict(spans["doc"]), {end: start for start, end in spans["lead"]}
    bodies = captured.bodies.union(_runs(source, spans["statement"], spans["lead"]))
    elisions: list[Elision] = []
    done = 0
    for start, end in sorted(bodies - spans["keep"]):
        if start < done or (language.hidden and parts_condition(source[start:end])):
            continue  # nested in an omitted body, or two heads share it
        first = _first_lead(source, start, leads)
        if start in docs:
            elisions += _cut_behind(source, first, start, docs[start], end, language)
        else:
            elisions += _replace(source, first, end, start, language)
        done = end
    return elisions


def _capture(source: bytes, language: Language, deadline: parsing.Deadline) -> _BodyCaptures:
    captured = _BodyCaptures()
    tree = parsing.parse_source(source, language, deadline=deadline)
    is_damaged = tree.root_node.has_error
    for match in parsing.query_matches(tree, language, _WANTED, deadline):
        captured.embedded.add(match)
        captured.bodies.update(parsing.body_spans(source, match, is_damaged=is_damaged))
        for node in match.get("hollow", ()):
            captured.bodies.add((node.children[0].end_byte, node.children[-1].start_byte))
        for name in _SPANS & match.keys():
            for node in match[name]:
                start = node.start_byte
                end = parsing.trimmed_end(source, start, node.end_byte)
                captured.spans[name].add((start, end))
    return captured


def _runs(
    source: bytes, statements: set[tuple[int, int]], comments: set[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    # Grammars have no node around these: neighbours form one body, with comments between and behind them.
    first = last = -1
    for start, end in sorted(statements | comments) if statements else ():
        if first >= 0 and not source[last:start].strip(_BETWEEN_STATEMENTS):
            last = max(last, end)
            continue
        if first >= 0:
            yield first, last
        first, last = (-1, -1) if (start, end) in comments else (start, end)
    if first >= 0:
        yield first, last


def _first_lead(source: bytes, start: int, leads: Mapping[int, int]) -> int:
    """Return where comments before a body's first statement start."""
    while leads and (lead := leads.get(_end_before(source, start))) is not None:
        if source[_line_start(source, lead) : lead].strip():
            break
        start = lead
    return start


def _cut_behind(
    source: bytes, first: int, start: int, doc_end: int, end: int, language: Language
) -> list[Elision]:
    """Return the parts of a body to omit.

    Omitted are the comments before the docstring, and everything after the docstring.
    """
    elisions: list[Elision] = []
    if first < start:
        elisions.append(Elision(_line_start(source, first), _line_start(source, start)))
    rest = doc_end + _leading(source[doc_end:end], b" \t")
    if source[rest : rest + 1] not in (b"", b"\r", b"\n", b";"):  # a remark behind it
        doc_end = min(end, _line_end(source, rest))
        doc_end -= source[doc_end - 1 : doc_end] == b"\r"
    rest = doc_end + _leading(source[doc_end:end], _BETWEEN_STATEMENTS)
    if rest == end:
        return elisions
    replaced = _replace(source, rest, end, start, language)
    line_end = source.rfind(b"\n", doc_end, rest)
    if replaced and line_end > doc_end:
        line_end -= source[line_end - 1 : line_end] == b"\r"
        # Omit blank lines between the docstring and the placeholder.
        elisions.append(Elision(doc_end, line_end))
    return elisions + replaced


def _indentation(source: bytes, position: int) -> bytes | None:
    # Stop behind the blanks: a file may be one line with thousands of bodies.
    start = position
    while start and source[start - 1] in _BLANKS:
        start -= 1
    at_line_start = start == 0 or source[start - 1 : start] == b"\n"
    return source[start:position] if at_line_start else None


def _end_before(source: bytes, position: int) -> int:
    while position and source[position - 1] in b" \t\r\n\f":
        position -= 1
    return position


def _leading(text: bytes, characters: bytes) -> int:
    return len(text) - len(text.lstrip(characters))


def _replace(source: bytes, start: int, end: int, body: int, language: Language) -> list[Elision]:
    # Skip if the placeholder would be longer or comment out the rest of the line.
    placeholder = language.placeholder.encode()
    # Longer texts are longer in any encoding: characters have up to four bytes.
    if end - start < 4 * len(placeholder):
        removed = source[start:end].decode(errors="replace")
        if len(removed) < len(placeholder) or removed == language.placeholder:
            return []
    if language.own_line and source[end : _line_end(source, end)].strip():
        return []
    # Comments in a body may be indented less than the body.
    before_cut, before_body = _indentation(source, start), _indentation(source, body)
    if before_cut is None or before_body is None or before_cut == before_body:
        return [Elision(start, end, placeholder)]
    return [Elision(start - len(before_cut), end, before_body + placeholder)]


def _line_start(source: bytes, position: int) -> int:
    return source.rfind(b"\n", 0, position) + 1


def _line_end(source: bytes, position: int) -> int:
    line_end = source.find(b"\n", position)
    return len(source) if line_end < 0 else line_end


def _apply(source: bytes, elisions: list[Elision]) -> tuple[list[bytes], list[Span]]:
    # Lines with placeholders map to all omitted lines, the lines between one to one.
    pieces: list[bytes] = []
    spans: list[Span] = []
    position, line, source_line = 0, 1, 1
    run, source_run = 1, 1  # start of lines mapped one to one
    for elision in elisions:
        lines_before = source.count(b"\n", position, elision.start)
        line += lines_before
        source_line += lines_before
        pieces += (source[position : elision.start], elision.placeholder)
        position = elision.end
        lines_cut = source.count(b"\n", elision.start, elision.end)
        if not lines_cut:
            continue
        first = source_line
        if line >= run:
            if line > run:
                spans.append(Span(run, line - 1, source_run, source_line - 1))
        else:
            first = spans.pop().source_start  # a second elision on this line
        source_line += lines_cut
        spans.append(Span(line, line, first, source_line))
        run, source_run = line + 1, source_line + 1
    pieces.append(source[position:])
    last = line + source.count(b"\n", position) - (not source or source.endswith(b"\n"))
    if last >= run:
        spans.append(Span(run, last, source_run, source_run + last - run))
    return pieces, spans


# Lock files and data sets have many thousands; the outer ones show their structure.
_MOST_DOCUMENT_ROWS = 500
# Deepest indentation, against hostile nesting.
_DEEPEST = 50


def outline(request: ViewRequest) -> View:
    """Return a line for each definition, with line numbers and signature (rule M-34)."""
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    if records := records_view(request):
        return records
    module = read_module(request.text, language)
    if not module.definitions:
        return summary(request, module)
    if language.kind is LanguageKind.CODE:
        rows = [
            indentation(definition) + module.signature(definition)
            for definition in module.definitions
        ]
        return numbered(module.definitions, rows)
    definitions, left_out = outermost(module.definitions, _MOST_DOCUMENT_ROWS)
    rows = [document_row(definition, module) for definition in definitions]
    return numbered(definitions, rows, left_out)


def indentation(definition: Definition) -> str:
    return "  " * min(definition.depth, _DEEPEST)


def numbered(definitions: Sequence[Definition], rows: Sequence[str], left_out: int = 0) -> View:
    width = len(f"{definitions[-1].last_line}") * 2 + 1
    lines: list[str] = []
    spans: list[Span] = []
    for number, (definition, row) in enumerate(zip(definitions, rows, strict=True), start=1):
        numbers = f"{definition.first_line}-{definition.last_line}"
        lines.append(f"{numbers:<{width}}  {row}")
        spans.append(Span(number, number, definition.first_line, definition.last_line))
    if left_out:
        lines.append(more_row(left_out))
    return View("\n".join(lines) + "\n", tuple(spans), "text")


def skeleton(request: ViewRequest) -> View:
    """Return imports, constants, decorators, signatures and docstrings without bodies (rule M-33)."""
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    if language.kind is LanguageKind.DATA:
        view = outline(request)
        return view if len(view.text) < len(request.text) else full(request)
    text, spans = without_bodies(request.text, language)
    return View(text, spans, language.fence)
