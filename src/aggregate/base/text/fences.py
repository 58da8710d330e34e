"""Fences and headings that no content can break or forge.

CommonMark 0.31, section 4.5: a fence is closed by the first line that holds only a run of its own character at least as
long as the opening one. So a fence that is one backtick longer than any run at a line's start in its content cannot be
closed from inside, whatever the content's own indentation.
"""

import re

from aggregate.base.text.terminal import escape_character

_RUN_AT_LINE_START = re.compile(r"^[ \t>]*(`{3,})", re.MULTILINE)
# str.splitlines() and editors break lines at more than \n; a renderer that does so must not find a fence there either.
RARE_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Lone surrogates stand for bytes of a file name that are not UTF-8; no text file can hold them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def fence(content: str, language: str = "", *, before: str = "") -> str:
    """Return ``content`` in a fenced block that it cannot close; the content's bytes stay as they are.

    A final newline is added before the closing fence where the content lacks one. ``language`` becomes the info string.
    ``before`` is put before the block: large contents are then copied once.
    """
    ticks = "`" * _fence_length(content)
    newline = "" if not content or content.endswith("\n") else "\n"
    return f"{before}{ticks}{language}\n{content}{newline}{ticks}"


def _fence_length(content: str) -> int:
    """Return the number of backticks that a fence around ``content`` needs, at least three."""
    if (
        "`" not in content or "```" not in content
    ):  # one character is found ten times as fast as three
        return 3
    lines = RARE_BREAKS.sub("\n", content)
    return max((len(run) + 1 for run in _RUN_AT_LINE_START.findall(lines)), default=3)


def heading_text(text: str) -> str:
    r"""Return ``text`` fit for one heading line: control characters and line breaks become ``\xNN`` or ``\uNNNN``."""
    return _CONTROL.sub(escape_character, text)
