"""What of a Vue or Svelte component HTML's grammar must not see."""

import re
from collections.abc import Iterator

_TAG = rb"<(?!/?(?:script|style|template)\b)"
_DEEPEST_BRACES = rb"\{(?:[^{}<]++|" + _TAG + rb")*+\}"
_BRACES = re.compile(
    rb"\{(?:[^{}<]++|"
    + _TAG
    + rb"|\{(?:[^{}<]++|"
    + _TAG
    + rb"|"
    + _DEEPEST_BRACES
    + rb")*+\})*+\}"
)


def hidden_in_components(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield the expressions in braces, up to three levels of them: their ``<`` and ``>`` are no markup.

    The braces of an attribute's value stay, so that it has one.
    """
    for match in _BRACES.finditer(source):
        start, end = match.span()
        is_value = source[start - 1 : start] == b"="
        yield start + is_value, end - is_value
