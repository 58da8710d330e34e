"""Shapes of texts that no parser is given: a grammar would hang or crash over them in one step, behind any deadline."""

import re
from functools import cache
from typing import Final, NamedTuple

from aggregate.errors import DeadlineError


class _Refusal(NamedTuple):
    """A shape, for one or more grammars.

    Attributes:
        languages: Their names.
        shape: What such a text holds, in words.
        mark: What begins each piece of the shape; one byte is looked for ten times as quickly as a choice.
        rest: What follows in each piece.
        times: How often: as many take the parser some hundredths of a second, and no program has them.
        start: What must stand before the first.
    """

    languages: tuple[str, ...]
    shape: str
    mark: bytes
    rest: bytes
    times: int
    start: bytes = b""


_REFUSALS: Final = (
    # The square of their number, in time and memory.
    _Refusal(
        ("python",),
        "openings of C's comments in a row",
        rb"/",
        rb"\s*+\*\s*+[\w\x80-\xff]++\s*+",
        100,
    ),
    _Refusal(
        ("python",), "lines that go on in an empty one in a row", rb"\\", rb"\r?\n[ \t]*+", 100
    ),
    # More than the square of their number: seconds and gigabytes for 40 KB.
    _Refusal(
        ("csharp", "java", "typescript", "tsx"),
        "openings of type arguments in a row",
        rb"<",
        rb"(?>(?:[\w\x80-\xff.,?@&\[\]\s]|//[^\n]*+\n|/\*[^*]*+(?:\*++[^*/][^*]*+)*+\*++/){1,60})",
        50,
    ),
    # The square of their number in memory: gigabytes for 8 KB.
    _Refusal(
        ("c", "objectivec"),
        "assignments of nothing in a row",
        rb"=",
        rb"\s*+(?:[<>%^|?]|/(?![*/]))[\w\s]*+",
        300,
    ),
    # The square of their number or more: three seconds for 3 KB.
    _Refusal(("nix",), "operators without a value in a row", rb"[-!<{]", rb"\s*+", 500),
    # The square of their number: each is searched for its end, eight seconds for 8 KB.
    _Refusal(("perl",), "openings of file handles in a row", rb"<", rb"[^<>]{0,40}+", 300),
    # The square of their number: minutes for 100 KB.
    _Refusal(("ruby",), "backslashes before blanks in a row", rb"\\", rb"\s++", 1_000),
    # The scanner keeps 4 bytes for each in a buffer of 1024 and does not look where that ends: the process crashes.
    _Refusal(
        ("yaml",),
        "levels or blanks at the beginning of a line",
        rb"[ \t?:-]",
        b"",
        200,
        rb"(?<![^\r\n])",
    ),
)


def check_shape(source: bytes, language: str) -> None:
    """Raise ``DeadlineError`` where ``source`` has a shape that the parser of ``language`` hangs or crashes over."""
    for refusal in _REFUSALS:
        if language in refusal.languages and any(
            match[1] is not None for match in _runs(refusal).finditer(source)
        ):
            raise DeadlineError(f"{refusal.times:,} {refusal.shape}")


@cache
def _runs(refusal: _Refusal) -> re.Pattern[bytes]:
    """Return the pattern of runs, whose group holds one that is too long; linear, as shorter ones are passed over."""
    piece = refusal.mark + refusal.rest
    runs = rb"(%b(?:%b){%d})|%b(?>(?:%b)*)" % (
        refusal.rest,
        piece,
        refusal.times - 1,
        refusal.rest,
        piece,
    )
    return re.compile(rb"%b%b(?:%b)" % (refusal.start, refusal.mark, runs))
