"""Lines as every part of the program counts them: ended by LF, CR LF or the end of the text."""

from collections.abc import Sequence


def split_lines(text: str) -> list[str]:
    r"""Return the lines of ``text`` with their ends; only ``\n`` ends a line, so ``\r\n`` stays whole.

    Unlike ``str.splitlines`` a form feed or U+2028 inside a line does not break it, so numbers agree with editors,
    with git and with tree-sitter.
    """
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def line_count(text: str) -> int:
    """Return how many lines ``text`` has; a last line without an end counts."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def common_prefix(earlier: Sequence[str], later: Sequence[str]) -> int:
    """Return how many elements both sequences begin with."""
    shared = 0
    for left, right in zip(earlier, later, strict=False):
        if left != right:
            break
        shared += 1
    return shared
