"""What of a Vue or Svelte component HTML's grammar must not see."""

import re
from collections.abc import Iterator

_BRACE_OR_TAG = re.compile(rb"[{}]|</?(?:script|style|template)\b")


def hidden_in_components(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield the expressions in braces, the outermost ones: their ``<`` and ``>`` are no markup.

    The braces of an attribute's value stay, so that it has one.
    """
    for start, end in _braced(source):
        is_value = source[start - 1 : start] == b"="
        yield start + is_value, end - is_value


def _braced(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield where pairs of braces stand that hold no tag of a part of the component, but for pairs within others."""
    within: list[tuple[int, int]] = []  # pairs that count if what is open around them never closes
    openings: list[int] = []
    for match in _BRACE_OR_TAG.finditer(source):
        if match[0] == b"{":
            openings.append(match.start())
        elif match[0] != b"}":
            openings.clear()
            yield from within
            within.clear()
        elif openings:
            start = openings.pop()
            while within and within[-1][0] > start:
                within.pop()
            if openings:
                within.append((start, match.end()))
            else:
                yield start, match.end()
    yield from within
