"""From a source text to the names that it uses and may define elsewhere, by its language's query."""

from collections.abc import Iterator
from typing import Final

from aggregate.base.errors import DeadlineError
from aggregate.code.syntax.compiled_queries import query_of
from aggregate.code.syntax.deadline import Deadline
from aggregate.code.syntax.embedded import Block
from aggregate.code.syntax.languages import Language
from aggregate.code.syntax.parsing import macros_by_end, parse_source, query_matches, without_macros
from aggregate.code.syntax.reference_captures import ReferenceCaptures, SyntaxReference

__all__ = ["SyntaxReference", "read_references"]

_WANTED: Final = frozenset({"reference", "embedded"})
_TIMES_AS_LONG = 3
"""A text may take so many times as long as for its definitions: the densest need 3 seconds for a megabyte."""


def read_references(text: str, language: Language) -> tuple[SyntaxReference, ...]:
    """Return what ``text`` refers to, in order; of a name that several patterns match the most telling.

    Names are as written and resolved nowhere, so built-in ones and those of local variables are among them. In
    ``shared_parse`` the text is parsed once for its definitions and references. A syntax error costs only what stands
    in it; a language without such patterns has no references.

    Raises:
        DeadlineError: It takes far longer than any program of this size does.
    """
    if not _has_patterns(language):
        return ()
    source = text.encode(errors="surrogatepass")
    references, blocks = _read_own(source, language, _deadline(len(source)))
    if blocks:
        references += _embedded(source, blocks)
        references.sort(key=_start)
    return tuple(references)


def _embedded(source: bytes, blocks: list[Block]) -> Iterator[SyntaxReference]:
    """Yield the references of parts in other languages; one that takes too long to be read has none."""
    blocks = [block for block in blocks if _has_patterns(block.language)]
    # All of them together have as long as one text of their size.
    deadline = _deadline(sum(block.end - block.start for block in blocks))
    lines, counted = 0, 0
    for block in blocks:
        lines += source.count(b"\n", counted, block.start)
        counted = block.start
        try:
            inner, _ = _read_own(source[block.start : block.end], block.language, deadline)
        except DeadlineError:
            continue
        for reference in inner:
            yield reference._replace(
                start=reference.start + block.start, line=reference.line + lines
            )


def _read_own(
    source: bytes, language: Language, deadline: Deadline
) -> tuple[list[SyntaxReference], list[Block]]:
    """Return what a text refers to, and its parts in other languages, which are not read yet."""
    parsed = without_macros(source, macros_by_end(source, language))
    tree = parse_source(parsed, language, {})
    captured = ReferenceCaptures(parsed)
    for match in query_matches(tree, language, _WANTED, deadline):
        captured.add(match)
    return captured.references(), captured.embedded.blocks()


def _has_patterns(language: Language) -> bool:
    """Tell whether a language has references, and compile its query, which is not to take a text's time."""
    query, _, _ = query_of(language, _WANTED)
    return query.pattern_count > 0


def _deadline(size: int) -> Deadline:
    return Deadline(_TIMES_AS_LONG * size)


def _start(reference: SyntaxReference) -> int:
    return reference.start
