"""Lines, and text that is not ours made harmless: for a terminal, for a heading, and in fences that it cannot close.

CommonMark 0.31, section 4.5: a fence is closed by the first line that holds only a run of its own character at least as
long as the opening one. So a fence that is one backtick longer than any run at a line's start in its content cannot be
closed from inside, whatever the content's own indentation.
"""

import re
from bisect import bisect_left
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
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def common_prefix(earlier: Sequence[str], later: Sequence[str]) -> int:
    pairs = enumerate(zip(earlier, later, strict=False))
    shortest = min(len(earlier), len(later))
    return next((number for number, (left, right) in pairs if left != right), shortest)


def longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of ``pairs``, sorted by their first numbers, in which the second ones rise too."""
    # Patience sorting: the smallest end of a rising run of each length, and which pair stood before each.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


# What steers a terminal or hides text: C0 and C1 controls, marks of direction, characters without width, line and
# paragraph separators, the tags of plane 14, and halves of surrogate pairs, which no output can hold.
_UNSAFE = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
_IN_LINE = f"[{_UNSAFE}]"  # compiled when first used, as below: few texts hold any of these
# In a body of text, line breaks and tabs stay, and so do the joiners that emoji and several scripts are written with.
_IN_BODY = f"(?![\t\n\u200c\u200d]|\r\n)[{_UNSAFE}]"


def printable(text: str, *, body: bool = False) -> str:
    r"""Return ``text`` with all that a terminal would obey or hide made visible: ``\xNN``, ``\uNNNN``, ``\UNNNNNNNN``.

    Each character is treated alone, so that pieces of a stream may be made printable one by one: an escape sequence
    that is split over two of them has no first character left.
    The line breaks and tabs of a ``body`` stay; other texts, such as file names and errors, have to fit into one line.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_IN_BODY if body else _IN_LINE, escape_character, text)


def escape_character(match: re.Match[str]) -> str:
    r"""Return the character that was matched as ``\xNN``, ``\uNNNN`` or ``\UNNNNNNNN``, the shortest that holds it."""
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_RUN_AT_LINE_START = re.compile(r"^[ \t>]*(`{3,})", re.MULTILINE)
# str.splitlines() and editors break lines at more than \n; a renderer that does so must not find a fence there either.
RARE_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def fence(content: str, language: str = "", *, before: str = "") -> str:
    """Return ``content`` in a fenced block that it cannot close; the content's bytes stay as they are.

    A final newline is added before the closing fence where the content lacks one. ``language`` becomes the info string.
    ``before`` is put before the block: large contents are then copied once.
    """
    ticks = "```"
    if "`" in content and ticks in content:  # one character is found ten times as fast as three
        runs = _RUN_AT_LINE_START.findall(RARE_BREAKS.sub("\n", content))
        ticks = max((run + "`" for run in runs), default=ticks, key=len)
    newline = "" if not content or content.endswith("\n") else "\n"
    return f"{before}{ticks}{language}\n{content}{newline}{ticks}"


def heading_text(text: str) -> str:
    r"""Return ``text`` fit for one heading line: invisible characters and line breaks become ``\xNN`` or ``\uNNNN``."""
    return printable(text)
